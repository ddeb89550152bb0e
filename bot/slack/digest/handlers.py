"""Worker side of the digest: on request for who asks, and each day for a channel that the policy names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.checks.fleet.checked import MOST, checked_fleet
from bot.checks.fleet.digest import Digest, news_of
from bot.checks.fleet.keeping import Seen
from bot.checks.runner import Runner
from bot.incidents.history import Histories
from bot.policy.digests import DigestRule
from bot.policy.look import is_shown_in
from bot.policy.model import Policy
from bot.slack.digest import text as said
from bot.slack.digest import view as digest_view
from bot.slack.fleet.handlers import FleetHandlers
from bot.slack.inbound import replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.replier import Replier
from bot.slack.kit.message import AnswerMessages, Message
from handlers.changes.expiring import expiring
from handlers.clients.arm.reader import ArmReader
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem
from runbooks.library import Library

BACK = timedelta(hours=24)
DIGEST = "digest"
_SOON = timedelta(hours=24)


@dataclass(frozen=True)
class DigestHandlers:
    """Each tells what may be seen there, and no more. Raises CannotTell, Problem and StoreAway."""

    about_fleet: FleetHandlers
    replier: Replier
    run: Runner
    seen: Seen
    histories: Histories
    policy: Policy
    library: Library
    arm: ArmReader

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {What.DIGEST: self._digest}

    async def _digest(self, ask: Ask) -> None:
        """`pressed` names the rule of one that nobody asked for."""
        if ask.pressed:
            await self._of_the_day(ask)
            return
        members = await self.about_fleet.seen(ask)
        if isinstance(members, Message):
            await self.replier.privately(ask, AnswerMessages(members, ()))
        elif not members:
            await self.replier.reply(ask, replies.only(said.NOTHING_TO_CHECK))
        else:
            await self.replier.in_channel(ask, await self._answer(ask, members), DIGEST)

    async def _of_the_day(self, ask: Ask) -> None:
        rule = next((rule for rule in self.policy.digests if rule_name(rule) == ask.pressed), None)
        if rule is None:
            return  # the policy has changed since it was put into the queue
        everything = await self.about_fleet.fleet()
        shown = [member for member in everything if self._is_shown(rule, member.name)]
        if shown:
            await self.replier.openly(ask, await self._answer(ask, shown), DIGEST)

    def _is_shown(self, rule: DigestRule, cluster: str) -> bool:
        return rule.is_about(cluster) and is_shown_in(self.policy.look, rule.channel, cluster)

    async def _answer(self, ask: Ask, members: Sequence[FleetMember]) -> AnswerMessages:
        return AnswerMessages(digest_view.digest(await self._made(ask, members[:MOST]), self.library), ())

    async def _made(self, ask: Ask, members: Sequence[FleetMember]) -> Digest:
        at = datetime.now(UTC)
        since = at - BACK
        before = await self.histories.verdicts.latest([member.id for member in members], before=since)
        news = []
        async with aclosing(checked_fleet(members, self.run, ask.id)) as checks:
            async for checked in checks:
                news.append(news_of(checked, before.get(checked.member.id.lower())))
                if not isinstance(checked.outcome, Problem):
                    await self.seen(ask.place.team, checked.outcome)
        names = {member.name.lower() for member in members}
        ordered = tuple(sorted(news, key=lambda item: item.cluster.lower()))
        certificates = await expiring(members, self.arm, at)
        ending = await self._ending(ask.place.team, names, at)
        ending += [said.certificate_ends(item.cluster, item.until, at) for item in certificates if item.until]
        unread = tuple(said.certificate_unread(item.cluster) for item in certificates if item.until is None)
        return Digest(since, at, ordered, tuple(ending), tuple(await self._fixes(members, since)), unread)

    async def _ending(self, team: str, names: set[str], now: datetime) -> list[str]:
        now_ms, soon_ms = (int(moment.timestamp() * 1000) for moment in (now, now + _SOON))
        mutes = await self.histories.incidents.mutes(team, now_ms)
        return [
            said.mute_ends(mute.code, mute.cluster, f"{datetime.fromtimestamp(mute.until_ms / 1000, UTC):%H:%M} UTC")
            for mute in mutes
            if mute.until_ms <= soon_ms and mute.cluster.lower() in names
        ]

    async def _fixes(self, members: Sequence[FleetMember], since: datetime) -> list[str]:
        ended = await self.histories.fixes_since(since)
        known = {member.id.lower(): member.name for member in members}
        return [said.fix_ended(known[cluster], fix.said) for cluster, fix in ended if cluster in known]


def rule_name(rule: DigestRule) -> str:
    """The same in every process, for as long as the policy stays as it is."""
    return f"{rule.channel} {rule.at} {rule.time_zone} {' '.join(rule.clusters)}"
