"""A fix in a drill: the button, the plan, two people's decisions, the outcome, and the writes that were sent."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from bot.drill.steps import WHO_ASKS, Scene, StepFailed
from bot.fixes.proposal import End
from bot.playground.asking import buttons, text_of
from bot.render.clean import one_line
from bot.slack.fixes import text as fixes_text
from bot.slack.fixes.buttons import APPROVE, FIX_PATTERN, REASON, SHOW, STOP
from bot.slack.kit import escaping, limits
from handlers.remedy.offers import distinct
from handlers.remedy.plan import Plan
from sandbox.arm.server import ArmServer
from sandbox.slack.message import Message

WHO_APPROVES = "approver"
WITHIN_S = 120.0
WRITER = "writer"

Write = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Offered:
    """These fixes have a button, and no others."""

    cluster: str
    remedies: tuple[str, ...]

    async def take(self, scene: Scene) -> None:
        there = sorted(plan.remedy for plan in _plans(scene, self.cluster))
        if there != sorted(self.remedies):
            wanted = ", ".join(sorted(self.remedies)) or "nothing"
            raise StepFailed(f"offered is {', '.join(there) or 'nothing'}, and the scenario says {wanted}")


@dataclass(frozen=True, slots=True)
class Repaired:
    """One fix, from its button to its end."""

    cluster: str
    remedy: str
    ends: End

    async def take(self, scene: Scene) -> None:
        plan = next(plan for plan in _plans(scene, self.cluster) if plan.remedy == self.remedy)
        # One person cannot have two modals open.
        async with scene.one_at_a_time:
            before = len(writes(scene.around.arm))
            proposal = await self._asked(scene, plan)
            if early := writes(scene.around.arm)[before:]:
                raise StepFailed(f"something was written before anybody approved it: {early}")
            await scene.around.slack.control.press(WHO_APPROVES, proposal, APPROVE)
            await self._ended(scene)
            if amiss := differing(plan, writes(scene.around.arm)[before:]):
                raise StepFailed(amiss)

    async def _asked(self, scene: Scene, plan: Plan) -> Message:
        control, answer = scene.around.slack.control, scene.answers[self.cluster]
        message, action = self._button(answer.thread, plan)
        await control.press(WHO_ASKS, message, action)
        await self._until(scene, lambda: self._has_plan(scene, plan), "the window with the plan did not come")
        await control.submit_view(WHO_ASKS, {REASON: "a drill"})
        await self._until(scene, lambda: bool(self._proposals(scene, APPROVE)), "nobody was asked to approve it")
        return self._proposals(scene, APPROVE)[-1]

    def _button(self, thread: tuple[Message, ...], plan: Plan) -> tuple[Message, str]:
        label = escaping.cut(one_line(fixes_text.fix_button(plan)), limits.BUTTON_TEXT)
        for message in thread:
            for block in message.blocks:
                for element in block.get("elements", []):
                    if FIX_PATTERN.fullmatch(str(element.get("action_id"))) and element["text"]["text"] == label:
                        return message, str(element["action_id"])
        raise StepFailed(f"there is no button {label!r}")

    def _has_plan(self, scene: Scene, plan: Plan) -> bool:
        view = scene.around.slack.control.modal(WHO_ASKS)
        return view is not None and view.body.get("submit") is not None and plan.title in str(view.blocks)

    def _proposals(self, scene: Scene, action: str) -> list[Message]:
        text = scene.around.slack.control.messages(self.cluster)
        return [message for message in text if action in buttons(message)]

    async def _ended(self, scene: Scene) -> None:
        """The final message, reached when the fix can no longer be stopped."""

        def over() -> bool:
            shown = self._proposals(scene, SHOW)
            return bool(shown) and not {STOP, APPROVE} & set(buttons(shown[-1]))

        await self._until(scene, over, "it did not end")
        text = text_of(self._proposals(scene, SHOW)[-1])
        if f"*{fixes_text.END_WORDS[self.ends]}*" not in text:
            raise StepFailed(f"it should be {self.ends.value}: {text[:600]}")

    async def _until(self, scene: Scene, done: object, otherwise: str) -> None:
        control = scene.around.slack.control
        try:
            await control.until(done, WITHIN_S)  # type: ignore[arg-type]
        except TimeoutError as late:
            shown = self._proposals(scene, SHOW)
            told = [text_of(ephemeral) for who in (WHO_ASKS, WHO_APPROVES) for ephemeral in control.ephemerals(who)]
            state = text_of(shown[-1]) if shown else "no proposal stands there"
            raise StepFailed(f"{otherwise} within {WITHIN_S:g} s: {state[:400]} {' '.join(told)[:400]}") from late


def _plans(scene: Scene, cluster: str) -> list[Plan]:
    report = scene.answers[cluster].report
    return [offer.plan for offer in distinct(report.offers if report else ()) if offer.plan]


def writes(arm: ArmServer) -> list[Write]:
    """Every write to Azure and to its clusters, whoever sent it."""
    azure = [
        (request.started, request.method, request.path) for request in arm.log if request.is_write and request.principal
    ]
    inside = [
        (request.started, request.method, request.path)
        for server in arm.kube.values()
        for request in server.log
        if request.is_write
    ]
    return [(method, path) for _, method, path in sorted(azure + inside)]


def differing(plan: Plan, sent: list[Write]) -> str:
    """Whether exactly the planned calls were sent, once each; otherwise, as sentences, what differs."""
    planned = Counter(pattern for step in plan.steps for pattern in _patterns(step.request))
    found: Counter[str] = Counter()
    for method, path in sent:
        pattern = next((call for call in planned if re.fullmatch(call, f"{method} {path}", re.I)), None)
        if pattern is None:
            return f"{method} {path} was sent, and was not planned"
        found[pattern] += 1
    wrong = [call for call in planned if found[call] != planned[call]]
    return f"not sent as often as planned: {', '.join(wrong)}" if wrong else ""


def _patterns(request: str) -> list[str]:
    """`PUT /x/y, the body as read` is one call; a probe also deletes what it creates."""
    method, path = request.split(" ", 2)[:2]
    path = re.escape(path.rstrip(",").partition("?")[0])
    made = [f"{method} {path}"]
    return [*made, f"DELETE {path}/[^/]+"] if "DELETE it" in request else made
