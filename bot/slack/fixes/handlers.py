"""What people do with fixes, in a worker: ask, approve, decline, break the glass, stop. Each ends in words for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from bot.audit.record import Entry
from bot.audit.record import What as Recorded
from bot.audit.store import Audit
from bot.fixes import moves, reasons
from bot.fixes.may import Barrier, NotAllowed, Open, may_approve, may_be_offered, may_break_glass, whom_to_call
from bot.fixes.moves import Moved, NotMoved, Why
from bot.fixes.proposal import End, Person, Proposal, State
from bot.fixes.runner import Runs
from bot.fixes.store import audit_records
from bot.fixes.store.executions import Executions
from bot.fixes.store.proposals import MOST_TRIES, Proposals
from bot.fixes.times import Times
from bot.policy.fixes import Fixes, FixRule
from bot.policy.look import Asker
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.messages import SlackMessages
from bot.slack.api.people import People
from bot.slack.api.poster import NO_PLACE
from bot.slack.fixes import plan_view
from bot.slack.fixes import text as fixes_text
from bot.slack.fixes import view as fixes_view
from bot.slack.fixes.board import GLASS, Board
from bot.slack.fixes.buttons import PressedFix
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import AT_THE_DOOR_S, AT_WORK_S, Gate
from bot.slack.inbound.outside import Outside
from bot.slack.inbound.replier import Replier
from bot.slack.kit.message import AnswerMessages, section
from bot.store.away import StoreAway
from handlers.remedy.plan import Forbidden

_MUST_BE_FRESH = frozenset({Recorded.APPROVED, Recorded.BROKE_GLASS})
"""A no, and a stop, count however late they come."""


class _No(Exception):
    """A person is told why, and nothing else happens."""

    def __init__(self, said: str, instead: fixes_text.Said = ()) -> None:
        super().__init__(said)
        self.said, self.instead = said, instead


@dataclass(frozen=True, slots=True)
class _Click:
    """A proposal, and who did something with it."""

    one: Proposal
    pressed: PressedFix
    person: Person
    asker: Asker


@dataclass(frozen=True)
class FixHandlers:
    """The policy decides, the store moves, the audit keeps it, the board shows it."""

    policy: Fixes
    proposals: Proposals
    executions: Executions
    audit: Audit
    people: People
    gate: Gate
    outside: Outside
    board: Board
    runs: Runs
    slack_messages: SlackMessages
    replier: Replier
    times: Times

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {
            What.FIX_PLAN: self._plan,
            What.FIX_SHOW: self._show,
            What.FIX_ASK: partial(self._told, self._ask),
            What.FIX_APPROVE: partial(self._told, self._approve),
            What.FIX_DECLINE: partial(self._told, self._decline),
            What.FIX_GLASS: partial(self._told, self._break_glass),
            What.FIX_STOP: partial(self._told, self._stop),
        }

    async def _told(self, act: Callable[[Ask, _Click], Awaitable[None]], ask: Ask) -> None:
        """Do it; why not is said to nobody but the one who pressed."""
        try:
            await act(ask, await self._click(ask))
        except _No as no:
            await self.replier.privately(ask, AnswerMessages(fixes_view.refused(no.said, no.instead), ()))

    async def _click(self, ask: Ask) -> _Click:
        pressed = PressedFix.load(ask.pressed)
        await self.times.agree(self.proposals.now_ms)
        proposal = await self.proposals.load(pressed.proposal) if pressed.proposal else None
        if proposal is None or proposal.team != ask.place.team:
            raise _No(fixes_text.not_moved(NotMoved(Why.UNKNOWN)))
        # First of all: the gate then knows who this is, and asks nobody.
        asker = await self._asker(ask, proposal)
        patience_s = AT_THE_DOOR_S if _decides(ask, proposal) else AT_WORK_S
        if hidden := await self.gate.refusal(ask.place, fixes_text.name(proposal.plan), patience_s=patience_s):
            raise _No(hidden.text)
        return _Click(proposal, pressed, Person(asker.team, asker.user, await self.people.name(asker.user)), asker)

    async def _asker(self, ask: Ask, proposal: Proposal) -> Asker:
        """Who this is, by what Slack says now. Where it does not say, nothing is moved; for a look, what it said lately
        is enough."""
        found = self.policy.rule_for(fixes_text.name(proposal.plan), proposal.plan.remedy)
        groups = _groups_that_matter(ask, proposal, found[1]) if found else ()
        team, user = ask.place.team, ask.place.user
        try:
            try:
                return await self.people.asker_now(team, user, groups)
            except CallFailed:
                if _decides(ask, proposal):
                    raise
            return await self.people.asker(team, user, groups)
        except CallFailed as mute:
            raise _No(fixes_text.refused(fixes_text.cannot_tell_who(str(mute)))) from mute

    # -- windows ----------------------------------------------------------------------------------------------

    async def _plan(self, ask: Ask) -> None:
        """The window that asks. Whatever stands against it, the steps are shown."""
        try:
            click = await self._click(ask)
            shown = await self._asking(ask, click)
        except _No as no:
            shown = plan_view.told(no.said)
        await self._fill(ask, shown)

    async def _asking(self, ask: Ask, click: _Click) -> dict[str, object]:
        proposal, pressed = click.one, click.pressed
        now, now_ms = self.times.now(), await self.proposals.now_ms()
        probe = moves.ask(proposal, now_ms, who=click.person, digest=pressed.digest, reason="-")
        if isinstance(probe, NotMoved):
            return plan_view.shown(proposal.plan, [section(fixes_text.not_moved(probe))])
        may = may_be_offered(self.policy, proposal.plan, now)
        if isinstance(may, NotAllowed):
            return plan_view.not_possible(proposal.plan, [self._barred(proposal, may)])
        alone = self._is_alone(click, may)
        if against := await self._tried_enough(proposal) or await self._not_here(ask, alone=alone):
            return plan_view.not_possible(proposal.plan, [against])
        proposal = proposal.under(may.rules)
        spot = PressedFix(proposal.id, pressed.digest, pressed.cluster, ask.place.channel, ask.place.thread_ts)
        return plan_view.asking(
            proposal, spot, whom_to_call(self.policy, may, now), alone=alone, reason_needed=proposal.rules.reason_needed
        )

    async def _show(self, ask: Ask) -> None:
        try:
            shown = plan_view.shown((await self._click(ask)).one.plan)
        except _No as no:
            shown = plan_view.told(no.said)
        await self._fill(ask, shown)

    async def _fill(self, ask: Ask, shown: dict[str, object]) -> None:
        try:
            await self.slack_messages.fill_view(ask.view, shown)
        except Refused as refused:
            if refused.error != "not_found":
                raise

    # -- words ------------------------------------------------------------------------------------------------

    async def _ask(self, ask: Ask, click: _Click) -> None:
        proposal = click.one
        may = await self._must_be_possible(proposal)
        alone = self._is_alone(click, may)
        if where := await self._not_here(ask, alone=alone):
            raise _No(fixes_text.refused(where))
        spot = ask.place.thread

        def asked(before: Proposal, now_ms: int) -> Moved:
            digest, today = click.pressed.digest, may.rules
            moved = moves.ask(before, now_ms, who=click.person, digest=digest, reason=ask.text, today=today)
            return moved if isinstance(moved, NotMoved) else moved.moved(spot=spot)

        moved = await self._moved(ask, proposal, asked, Recorded.REQUESTED)
        await self._audit(ask, audit_records.entry(Recorded.REQUESTED, moved, click.person, reason=ask.text))
        await self._post(moved)
        if alone:
            await self._approve(ask, click)

    async def _post(self, proposal: Proposal) -> None:
        """Where it cannot stand, nobody can answer it."""
        try:
            await self.board.post(proposal)
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise
            gone = partial(moves.finish, end=End.CANCELLED, why=reasons.NOT_IN_CHANNEL)
            await self.proposals.move(proposal.id, gone)
            raise _No(fixes_text.refused(fixes_text.NO_PLACE)) from refused

    async def _approve(self, ask: Ask, click: _Click) -> None:
        proposal = click.one
        may = may_approve(self.policy, proposal.plan, click.asker, self.times.now())
        if isinstance(may, NotAllowed):
            await self._refuse(ask, proposal, click.person, may)
        today = (await self._must_be_possible(proposal)).rules
        word = partial(moves.approve, who=click.person, digest=click.pressed.digest, today=today)
        moved = await self._moved(ask, proposal, word, Recorded.APPROVED)
        await self._audit(ask, audit_records.entry(Recorded.APPROVED, moved, click.person))
        await self._begin_if_approved(moved)

    async def _break_glass(self, ask: Ask, click: _Click) -> None:
        proposal, reason = click.one, ask.text.strip()
        may = may_break_glass(self.policy, proposal.plan, click.asker, self.times.now())
        if isinstance(may, NotAllowed):
            await self._refuse(ask, proposal, click.person, may)
        await self._must_be_possible(proposal)
        word = partial(moves.break_glass, who=click.person, digest=click.pressed.digest, reason=reason)
        moved = await self._moved(ask, proposal, word, Recorded.BROKE_GLASS)
        await self._audit(ask, audit_records.entry(Recorded.BROKE_GLASS, moved, click.person, reason=reason))
        await self.board.tell(moved, GLASS, fixes_view.broke_glass(moved, click.person, reason))
        await self._begin_if_approved(moved)

    async def _decline(self, ask: Ask, click: _Click) -> None:
        await self._must_have_a_say(ask, click)
        no = partial(moves.decline, who=click.person, reason=ask.text)
        moved = await self._moved(ask, click.one, no, Recorded.DECLINED)
        await self._audit(ask, audit_records.entry(Recorded.DECLINED, moved, click.person, reason=ask.text))
        await self.runs.last_word.say(moved)

    async def _stop(self, ask: Ask, click: _Click) -> None:
        await self._must_have_a_say(ask, click)
        moved = await self._moved(ask, click.one, partial(moves.cancel, who=click.person), Recorded.CANCELLED)
        await self._audit(ask, audit_records.entry(Recorded.CANCELLED, moved, click.person))
        if moved.state is State.ENDED:
            await self.runs.last_word.say(moved)
        else:
            await self.board.show(moved.id)

    async def _begin_if_approved(self, proposal: Proposal) -> None:
        if proposal.state is State.APPROVED:
            await self.runs.begin(proposal.id)
        await self.board.try_to_show(proposal.id)

    async def _moved(
        self, ask: Ask, proposal: Proposal, change: Callable[[Proposal, int], Moved], what: Recorded
    ) -> Proposal:
        """The proposal after the move, or the reason why it did not move; then its message is brought up to date.

        A click whose worker was killed half way is worked on again, and goes on where it has moved already."""
        click = f"{what.value} {ask.id}"

        def once(before: Proposal, now_ms: int) -> Moved:
            if click in before.clicks:
                return before
            if what in _MUST_BE_FRESH and (late := moves.in_time(before, now_ms, pressed_ms=ask.pressed_ms)):
                return late
            after = change(before, now_ms)
            return after if isinstance(after, NotMoved) else after.moved(clicks=(*before.clicks, click))

        moved = await self.proposals.move(proposal.id, once)
        if isinstance(moved, Proposal):
            return moved
        if moved.proposal is not None:
            await self.board.try_to_show(proposal.id)
        raise _No(fixes_text.not_moved(moved))

    async def _audit(self, ask: Ask, entry: Entry) -> None:
        await self.audit.write_once(entry, f"{entry.what.value} {entry.proposal} {ask.id}")

    # -- who, and whether at all ----------------------------------------------------------------------------------

    async def _must_be_possible(self, proposal: Proposal) -> Open:
        """What stands against it whoever asks: the policy, a broken audit, another fix on this cluster."""
        may = may_be_offered(self.policy, proposal.plan, self.times.now())
        if isinstance(may, NotAllowed):
            raise _No(fixes_text.refused(self._barred(proposal, may)))
        if against := await self._tried_enough(proposal):
            raise _No(fixes_text.refused(against))
        verdict = await self.audit.verify()
        if not verdict.whole:
            raise _No(fixes_text.refused(fixes_text.audit_broken(verdict.why)))
        holder = await self.executions.holder(proposal.plan.cluster)
        if holder and holder != proposal.id:
            raise _No(fixes_text.refused(fixes_text.held_by_another(fixes_text.name(proposal.plan))))
        return may

    async def _tried_enough(self, proposal: Proposal) -> Forbidden | None:
        """An old button knows nothing of what was tried since."""
        tries = await self.proposals.failed_tries(proposal.plan)
        return reasons.escalate(tries, proposal.plan.title) if tries >= MOST_TRIES else None

    async def _must_have_a_say(self, ask: Ask, click: _Click) -> None:
        """Whoever asked for it, and whoever could approve it; a freeze keeps nobody from saying no."""
        if click.person.is_(click.one.requester):
            return
        unfrozen, now = self.policy.model_copy(update={"freezes": ()}), self.times.now()
        mays = [ask(unfrozen, click.one.plan, click.asker, now) for ask in (may_approve, may_break_glass)]
        refused = [may for may in mays if isinstance(may, NotAllowed)]
        if len(refused) == len(mays):
            await self._refuse(ask, click.one, click.person, refused[0])

    async def _refuse(self, ask: Ask, proposal: Proposal, who: Person, barred: NotAllowed) -> None:
        why = reasons.why_barred(barred, fixes_text.name(proposal.plan), proposal.plan.remedy)
        with suppress(StoreAway):
            await self._audit(ask, audit_records.entry(Recorded.REFUSED, proposal, who, reason=why))
        told = barred.barrier in (Barrier.PERSON, Barrier.GUEST, Barrier.FROZEN)
        raise _No(fixes_text.refused(self._barred(proposal, barred)), fixes_text.who_instead(barred) if told else ())

    def _barred(self, proposal: Proposal, barred: NotAllowed) -> Forbidden:
        return fixes_text.barred(barred, fixes_text.name(proposal.plan), proposal.plan.remedy)

    def _is_alone(self, click: _Click, may: Open) -> bool:
        """Whether the word of whoever asks is all that it needs."""
        rules = click.one.under(may.rules).rules
        own = may_approve(self.policy, click.one.plan, click.asker, self.times.now())
        return isinstance(own, Open) and rules.requester_counts and rules.needed == 1

    async def _not_here(self, ask: Ask, *, alone: bool) -> Forbidden | None:
        """Why the request could not be answered where it would stand, or would be read by whoever may not."""
        if not ask.place.channel or not ask.place.thread_ts:
            return fixes_text.NO_PLACE
        if await self.outside.covers(ask.place):
            return fixes_text.READ_OUTSIDE
        direct = ask.place.channel.startswith(("D", "U", "W"))
        return fixes_text.ALONE if direct and not alone else None


def _decides(ask: Ask, proposal: Proposal) -> bool:
    """Whether it must be known who this is now. Looks move nothing, and who takes back their own request always may."""
    own = ask.what in (What.FIX_DECLINE, What.FIX_STOP) and _is_requester(ask, proposal)
    return ask.what not in (What.FIX_PLAN, What.FIX_SHOW) and not own


def _is_requester(ask: Ask, proposal: Proposal) -> bool:
    return Person(ask.place.team, ask.place.user).is_(proposal.requester)


def _groups_that_matter(ask: Ask, proposal: Proposal, rule: FixRule) -> tuple[str, ...]:
    """The groups that this hangs on. Slack answers some twenty questions about groups a minute, for everybody."""
    match ask.what:
        case What.FIX_PLAN | What.FIX_ASK:
            return rule.approving_groups if rule.requester_counts and rule.approvals == 1 else ()
        case What.FIX_APPROVE:
            return rule.approving_groups
        case What.FIX_GLASS:
            return rule.glass_groups
        case What.FIX_DECLINE | What.FIX_STOP if not _is_requester(ask, proposal):
            return rule.approving_groups + rule.glass_groups
    return ()
