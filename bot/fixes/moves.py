"""What can happen to a proposal. Each move looks at the state, the digest and the clock; nothing else decides."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from bot.address import Address
from bot.fixes.proposal import Approval, End, Person, Proposal, Rules, State


class Why(Enum):
    """Why a move was not made. The words for people stand with the surfaces."""

    UNKNOWN = "there is no such offer, or it was forgotten after a month"
    EXPIRED = "the offer has expired"
    OTHER_PLAN = "the plan is another one than the one that was shown"
    ENDED = "it has ended"
    RUNS = "it runs already"
    APPROVED = "it is approved already"
    NOT_APPROVED = "it is not approved"
    TWICE = "this person has approved it already"
    REQUESTER = "whoever asks for it cannot approve it"
    NO_REASON = "a reason is needed"
    NOT_ASKED = "nobody has asked for it yet"
    ASKED_ALREADY = "someone has asked for it already"
    PRESSED_LONG_AGO = "it was pressed too long ago"


@dataclass(frozen=True, slots=True)
class NotMoved:
    """A move that was refused, and the proposal as it is."""

    why: Why
    proposal: Proposal | None = None


Moved = Proposal | NotMoved

WORD_LASTS_MS = 60_000
"""A yes that comes later than this was given to a cluster that may look different by now."""


def in_time(proposal: Proposal, now_ms: int, *, pressed_ms: int) -> NotMoved | None:
    """Why a click that waited for so long counts no more; `pressed_ms` is 0 where nobody knows."""
    late = pressed_ms and now_ms - pressed_ms > WORD_LASTS_MS
    return NotMoved(Why.PRESSED_LONG_AGO, proposal) if late else None


def ask(
    proposal: Proposal, now_ms: int, *, who: Person, digest: str, reason: str = "", today: Rules | None = None
) -> Moved:
    """Ask for approval. Whoever asks first is the requester; the clock starts again for those who are called.

    `today`: what the policy asks for now, should it have become stricter."""
    proposal = proposal.under(today) if today else proposal
    if refused := _open(proposal, now_ms, digest):
        return refused
    if proposal.requester is not None:
        return NotMoved(Why.ASKED_ALREADY, proposal)
    if proposal.rules.reason_needed and not reason.strip():
        return NotMoved(Why.NO_REASON, proposal)
    expires_ms = now_ms + proposal.rules.lasts_ms
    return proposal.moved(requester=who, reason=reason.strip(), asked_ms=now_ms, expires_ms=expires_ms)


def approve(proposal: Proposal, now_ms: int, *, who: Person, digest: str, today: Rules | None = None) -> Moved:
    """One person's word. Who they are and whether they may is decided before."""
    proposal = proposal.under(today) if today else proposal
    if refused := _open(proposal, now_ms, digest):
        return refused
    if proposal.requester is None:
        # Whoever asked afterwards would have their own word counted.
        return NotMoved(Why.NOT_ASKED, proposal)
    if not proposal.rules.requester_counts and who.is_(proposal.requester):
        return NotMoved(Why.REQUESTER, proposal)
    if any(who.is_(approval.person) for approval in proposal.approvals):
        return NotMoved(Why.TWICE, proposal)
    given = proposal.moved(approvals=(*proposal.approvals, Approval(who, now_ms, digest)))
    return given if given.missing else given.moved(state=State.APPROVED)


def break_glass(proposal: Proposal, now_ms: int, *, who: Person, digest: str, reason: str) -> Moved:
    """One person on call, alone, with a reason."""
    if refused := _open(proposal, now_ms, digest):
        return refused
    if not reason.strip():
        return NotMoved(Why.NO_REASON, proposal)
    word = Approval(who, now_ms, digest, reason.strip(), broke_glass=True)
    requester = proposal.requester or who
    return proposal.moved(approvals=(*proposal.approvals, word), state=State.APPROVED, requester=requester)


def decline(proposal: Proposal, now_ms: int, *, who: Person, reason: str = "") -> Moved:
    """Somebody who might approve says no."""
    if proposal.state is State.ENDED:
        return NotMoved(Why.ENDED, proposal)
    if proposal.state is State.RUNNING:
        return NotMoved(Why.RUNS, proposal)
    return proposal.moved(state=State.ENDED, end=End.DENIED, ended_by=who, why=reason.strip())


def start(proposal: Proposal, now_ms: int) -> Moved:
    """A worker takes it up. One that was interrupted takes it up again."""
    if proposal.state is State.ENDED:
        return NotMoved(Why.ENDED, proposal)
    if proposal.state is State.OFFERED:
        return NotMoved(Why.NOT_APPROVED, proposal)
    return proposal.moved(state=State.RUNNING)


def cancel(proposal: Proposal, now_ms: int, *, who: Person) -> Moved:
    """Stop between two steps. Before it runs it ends at once."""
    if proposal.state is State.ENDED:
        return NotMoved(Why.ENDED, proposal)
    if proposal.state is State.RUNNING:
        return proposal if proposal.cancel_by else proposal.moved(cancel_by=who)
    return proposal.moved(state=State.ENDED, end=End.CANCELLED, ended_by=who)


def finish(proposal: Proposal, now_ms: int, *, end: End, why: str = "") -> Moved:
    """How it ended. The first word counts."""
    if proposal.state is State.ENDED:
        return NotMoved(Why.ENDED, proposal)
    return proposal.moved(state=State.ENDED, end=end, why=why)


def expire(proposal: Proposal, now_ms: int) -> Moved:
    """Nobody took it up in time."""
    if proposal.state is not State.OFFERED or now_ms < proposal.expires_ms:
        return NotMoved(Why.ENDED if proposal.state is State.ENDED else Why.APPROVED, proposal)
    return proposal.moved(state=State.ENDED, end=End.EXPIRED)


def escalate(proposal: Proposal, now_ms: int, *, level: int) -> Moved:
    """So many groups of the policy have been called."""
    if proposal.state is not State.OFFERED:
        return NotMoved(Why.ENDED if proposal.state is State.ENDED else Why.APPROVED, proposal)
    return proposal.moved(escalated=max(proposal.escalated, level))


def stand(proposal: Proposal, now_ms: int, *, spot: Address) -> Moved:
    """Where its message is."""
    return proposal.moved(spot=spot)


def _open(proposal: Proposal, now_ms: int, digest: str) -> NotMoved | None:
    """Whether people can still say something to exactly this plan."""
    if proposal.state is not State.OFFERED:
        whys = {State.ENDED: Why.ENDED, State.RUNNING: Why.RUNS, State.APPROVED: Why.APPROVED}
        return NotMoved(whys[proposal.state], proposal)
    if now_ms >= proposal.expires_ms:
        return NotMoved(Why.EXPIRED, proposal)
    return NotMoved(Why.OTHER_PLAN, proposal) if digest != proposal.digest else None
