"""A random conversation about incidents with the whole bot, and what must hold of all that it has said."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

from bot.render.headline import for_cluster, headline, plain
from bot.slack.incidents.view import title_of
from handlers.model import Finding
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import Trouble
from tests.checking import LIBRARY, check
from tests.slack_app.hearing import hold, part_of, said_by_bot
from tests.slack_app.reading import is_answer, seen

CLUSTERS = ("prod-weu", "prod-eus2", "staging-neu")
WORLDS = ("quota-blocks-upgrade", "subnet-full", "healthy-fleet")
CHANNELS = ("incidents", "platform-on-call")
PEOPLE = ("requester", "approver", "visitor")
MONITOR = "Datadog"
WORDS = {
    "quota-exceeded": "the upgrade stopped with ErrCode_InsufficientVCPUQuota, we are out of vCPU quota",
    "subnet-full": "SubnetIsFull, no more IPs in its subnet",
    "node-not-ready": "a node is not ready, NodeNotReady, kubelet stopped posting status",
}
CHATTER = ("lunch?", "release 4.2 rolled out successfully, thanks all", "who has the slides of last week?")
PATIENCE_S = 20.0
CLICKS = 5
ROUNDS = 6
"""How often a cluster is checked again until nothing is wrong: Slack takes only so many edits a minute."""


@dataclass
class Conversation:
    """What is said, and what is true meanwhile."""

    control: Control
    arm: ArmServer
    chance: random.Random
    reports: list[tuple[str, Message, str]] = field(default_factory=list)
    """Who reported what, and about which cluster."""
    answers: dict[str, Message] = field(default_factory=dict)
    """One answer about each cluster, under which somebody checks again."""
    true: dict[str, set[str]] = field(default_factory=dict)
    """What is true of each cluster now: the title and the first line of all that a check finds."""
    proved: dict[str, set[str]] = field(default_factory=dict)
    """What was true of each cluster at some time."""

    async def begin(self) -> None:
        """Somebody asks about each cluster."""
        for name in CLUSTERS:
            before = len(self._answers())
            await self.control.slash("visitor", "platform-on-call", "/aks", f"check {name}")
            await self.control.until(lambda before=before: len(self._answers()) > before, 60)  # type: ignore[misc]
            self.answers[name] = next(one for one in self._answers() if cluster_of(one) == name)

    def _answers(self) -> list[Message]:
        return [one for one in said_by_bot(self.control, "platform-on-call") if is_answer(one)]

    async def becomes(self, world: str) -> None:
        """Azure holds another world. What a check finds in it is true from now on."""
        hold(self.arm, world)
        for name in CLUSTERS:
            diagnosis = await check(self.arm, name)
            self.true[name] = {said for one in diagnosis.findings for said in _said_of(one.finding, name)}
            self.proved.setdefault(name, set()).update(self.true[name])

    # -- what is said -----------------------------------------------------------------------------------------

    def happens(self) -> None:
        """Somebody says something, or several do."""
        what = self.chance.choices(
            (self._report, self._breath, self._reply, self._edit, self._storm, self._chat), (5, 2, 3, 2, 1, 2)
        )[0]
        what()

    def _report(self, thread_ts: str | None = None, channel: str | None = None, cluster: str | None = None) -> Message:
        who, cluster = self.chance.choice(PEOPLE), cluster or self.chance.choice(CLUSTERS)
        channel = channel or self.chance.choice(CHANNELS)
        text = f"{cluster}: {self.chance.choice(list(WORDS.values()))}"
        said = self.control.say(who, channel, text, thread_ts=thread_ts)
        self.reports.append((who, said, cluster))
        return said

    def _breath(self) -> None:
        """One person says two things at once, of one cluster or of two."""
        who, channel = self.chance.choice(PEOPLE), self.chance.choice(CHANNELS)
        for cluster in self.chance.choices(CLUSTERS, k=2):
            said = self.control.say(who, channel, f"{cluster}: {self.chance.choice(list(WORDS.values()))}")
            self.reports.append((who, said, cluster))

    def _reply(self) -> None:
        """In somebody's thread, about the same cluster or another."""
        if self.reports:
            _, said, _ = self.chance.choice(self.reports)
            name = next(name for name in CHANNELS if self.control.team.channel(name).id == said.channel)
            self._report(said.thread_ts or said.ts, name)

    def _edit(self) -> None:
        """Somebody says it in other words, about the same cluster."""
        if self.reports:
            who, said, cluster = self.chance.choice(self.reports)
            self.control.edit(who, said, f"{cluster}: {self.chance.choice(list(WORDS.values()))}, again")

    def _storm(self) -> None:
        cluster, channel = self.chance.choice(CLUSTERS), self.chance.choice(CHANNELS)
        for number in range(5):
            title = f"{cluster}: {self.chance.choice(list(WORDS.values()))} ({number})"
            self.control.say_as_app(MONITOR, channel, "", attachments=[{"title": title}])

    def _chat(self) -> None:
        self.control.say(self.chance.choice(PEOPLE), self.chance.choice(CHANNELS), self.chance.choice(CHATTER))

    # -- what must hold ---------------------------------------------------------------------------------------

    async def settled(self) -> list[str]:
        """What is wrong once each cluster was checked anew: nothing, if all is well."""
        wrong: list[str] = []
        for _ in range(ROUNDS):
            for answer in self.answers.values():
                before = len(self._answers())
                await self._pressed(answer)
                await self.control.until(lambda before=before: len(self._answers()) > before, 60)  # type: ignore[misc]
            try:
                await self.control.until(lambda: not self.wrong(), PATIENCE_S)
            except TimeoutError:
                wrong = self.wrong()
            else:
                return []
        return wrong

    async def _pressed(self, answer: Message) -> None:
        """A click that went to a connection which has just ended is lost, and made once more."""
        for _ in range(CLICKS):
            with suppress(Trouble):
                await self.control.press("visitor", answer, "check_again")
                return

    def wrong(self) -> list[str]:
        return [*self._two_clusters(), *self._unanswered(), *self._titles(), *self._red(), *self._running()]

    def _two_clusters(self) -> Iterator[str]:
        for thread, messages in self._threads().items():
            about = {cluster_of(one) for one in messages if part_of(one) in ("card", "head")} - {""}
            if len(about) > 1:
                yield f"thread {thread} is about {sorted(about)}"

    def _unanswered(self) -> Iterator[str]:
        threads = self._threads()
        joined = [one for messages in threads.values() for one in messages if part_of(one).startswith("joined")]
        for who, cluster in dict.fromkeys((who, cluster) for who, _, cluster in self.reports):
            mine = [said for by, said, about in self.reports if (by, about) == (who, cluster)]
            heard = [one for said in mine for one in threads.get(said.thread_ts or said.ts, ())]
            named = any(self.control.team.person(who).id in str(one.blocks) for one in joined)
            if not named and not any(cluster in seen(one) or part_of(one).startswith("there-") for one in heard):
                yield f"{who} reported {cluster} and has neither an answer nor a link"

    def _titles(self) -> Iterator[str]:
        """What is called confirmed or found is so now; what is over was so once."""
        for card in self._cards():
            line, cluster = seen(card).partition("\n")[0].replace("`", ""), cluster_of(card)
            true = self.true[cluster] if re.search("Confirmed:|Found:", line) else self.proved[cluster]
            if re.search("Confirmed:|Found:|Over:", line) and not any(title in line for title in true):
                yield f"the card of {cluster} says {line[:120]!r}, and true is {sorted(true)}"

    def _red(self) -> Iterator[str]:
        for name in CHANNELS:
            for one in said_by_bot(self.control, name):
                cluster = cluster_of(one)
                if part_of(one) in ("card", "head") and cluster and not self.true[cluster] and _is_red(one):
                    yield f"{cluster} was proved clear, and this is red: {seen(one)[:120]!r}"

    def _running(self) -> Iterator[str]:
        """Nobody waits for a check that has ended."""
        for card in self._cards():
            if "Checking now" in seen(card):
                yield f"a card still says that it checks: {seen(card)[:120]!r}"
        for name in CHANNELS:
            for one in self.control.messages(name):
                if "eyes" in one.reactions:
                    yield f"a sign is left under {one.text[:80]!r}"

    def _cards(self) -> list[Message]:
        said = [one for name in CHANNELS for one in said_by_bot(self.control, name) if part_of(one) == "card"]
        # Of one that goes on in the thread of another, the other says how it is.
        return [one for one in said if ":link:" not in seen(one)]

    def _threads(self) -> dict[str, list[Message]]:
        found: dict[str, list[Message]] = {}
        for name in CHANNELS:
            for one in said_by_bot(self.control, name):
                found.setdefault(one.thread_ts or one.ts, []).append(one)
        return found


def _said_of(finding: Finding, cluster: str) -> set[str]:
    first = for_cluster(headline(finding, LIBRARY, cluster).effect, cluster)
    return {title_of(LIBRARY, finding.code), plain(first)}


def cluster_of(message: Message) -> str:
    """The cluster that a card or an answer is about: the first that it names."""
    text = f"{message.text} {seen(message)}"
    places = {text.find(name): name for name in CLUSTERS if name in text}
    return places[min(places)] if places else ""


def _is_red(message: Message) -> bool:
    return any(light in seen(message) for light in (":red_circle:", ":large_orange_circle:"))


def worlds(chance: random.Random) -> list[str]:
    """What becomes of the fleet, one after the other; at last it is healthy."""
    walk = [WORLDS[0], *chance.choices(WORLDS, k=2), "healthy-fleet"]
    return [walk[0], *(after for before, after in pairwise(walk) if after != before)]
