"""The ways to get a fix to run: approval in the thread, break-glass, self-approval, and App Home."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.views import View
from tests.slack_app.fixes.steps import Desk
from tests.slack_app.reading import buttons, is_answer, seen

WHO = "approver"
RULES: dict[str, Any] = {
    "approvers": ["@aks-approvers"],
    "break_glass": ["@aks-approvers"],
    "requester_counts": True,
    "look": {"guests": ["*"], "slack_connect": ["*"]},
}
"""The group may do everything in every way; guests and external users may look everywhere."""


class Way:
    """`open` does everything up to the final click, `send` is that click. Both can be repeated."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.control = desk, desk.control
        self.cause: Message | None = None

    async def ready(self) -> None:
        """Up to the last press; by then Slack has said of everybody who they are, and the bot remembers it."""
        self.cause = await self.desk.offered()
        await self.desk.planned(self.cause, WHO)
        await self.control.close_view(WHO)
        await self.open()

    async def open(self) -> None:
        raise NotImplementedError

    async def send(self) -> None:
        raise NotImplementedError

    def said(self, user: str = WHO) -> str:
        """All ephemeral messages to this person."""
        direct = [one for one in self.control.direct(user).messages if one.user == self.control.team.bot.id]
        return " ".join(seen(one) for one in (*self.control.ephemerals(user), *direct))

    async def told(self, *words: str, user: str = WHO) -> None:
        await _until(self.control, lambda: self.said(user), words)

    async def last_word(self, *words: str) -> None:
        """The texts in the request's thread."""
        await _until(self.control, lambda: " ".join(plans(self.control)), words)


class Approve(Way):
    """Approve somebody else's request in the thread."""

    async def open(self) -> None:
        if self.desk.find() is None and self.cause:
            await self.desk.planned(self.cause)
            await self.control.submit_view("requester", {"reason": "the pool cannot scale"})
            await self.desk.proposal()

    async def send(self) -> None:
        await self.control.press(WHO, await self.desk.proposal(), "fix_approve")


class BreakGlass(Approve):
    """Break the glass on the same request, without waiting for an approval."""

    async def open(self) -> None:
        await super().open()
        await self.control.press(WHO, await self.desk.proposal(), "fix_glass")

    async def send(self) -> None:
        await self.control.submit_view(WHO, {"reason": "payments are down"})


class Alone(Way):
    """A request in the thread by someone who may approve their own."""

    async def open(self) -> None:
        assert self.cause
        await self.desk.planned(self.cause, WHO)

    async def send(self) -> None:
        await self.control.submit_view(WHO, {"reason": "the pool cannot scale"})


class FromHome(Alone):
    """The same for a check started from App Home."""

    async def ready(self) -> None:
        self.control.open_home(WHO)
        view = await self.control.until(lambda: home_with(self.control, "Open approvals"), 30)
        await self.control.select(WHO, view, "home_pick", self.desk.cluster)
        self.cause = await self.control.until(lambda: self._cause(), 60)
        await self.open()

    def _cause(self) -> Message | None:
        direct = self.control.direct(WHO)
        heads = [one for one in direct.messages if is_answer(one)]
        threads = [self.control.thread(direct.id, one.ts) for one in heads]
        found = [one for thread in threads for one in thread[1:] if "fix_0_0" in buttons(one)]
        return found[0] if found else None


WAYS: Sequence[type[Way]] = (Approve, BreakGlass, Alone, FromHome)


def home_with(control: Control, part: str, user: str = WHO) -> View | None:
    view = control.home(user)
    return view if view and part in str(view.blocks) else None


def plans(control: Control) -> list[str]:
    """The texts of all requests, in any channel."""
    everywhere = [one for channel in control.team.channels for one in channel.messages]
    return [seen(one) for one in everywhere if "fix_show" in buttons(one)]


async def _until(control: Control, said: Any, words: Sequence[str]) -> None:
    try:
        await control.until(lambda: all(word in said() for word in words), 60)
    except TimeoutError:
        raise AssertionError(f"nobody says {words}: {said()}") from None
