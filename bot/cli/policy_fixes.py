"""`aksbot policy explain CLUSTER --remedy NAME`: who may approve a fix, why, and when."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

from bot import settings
from bot.checks.remedies import remedies, remedy_names
from bot.cli.policy import person
from bot.fixes.may import NotAllowed, Open, may_approve, may_be_offered, may_break_glass
from bot.policy import file as policy_file
from bot.policy.fixes import Fixes, FixRule, Freeze
from bot.policy.look import Asker
from bot.render.line import Line
from bot.render.terminal import show_lines
from handlers.problem import Exit, Problem
from handlers.remedy.plan import Risk


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A fix of the lowest risk: the output shows up to which risk the rule goes."""

    cluster: str
    remedy: str
    risk: Risk = Risk.LOW


def explain_fix(
    cluster: str, remedy: str, user: str | None, groups: list[str], guest: bool, stranger: bool, *, as_json: bool
) -> int:
    """Without a user: whether anybody may. 0 for yes, 1 for no."""
    _must_be_known(remedy)
    chosen, now = settings.load(), datetime.now(UTC)
    fixes, wanted = policy_file.load(chosen.policy, remedies=remedy_names()).fixes, _Wanted(cluster, remedy)
    if user is None:
        decision = may_be_offered(fixes, wanted, now)
    else:
        team, who = person(user)
        asker = Asker(team, who, guest=guest, stranger=stranger, groups=frozenset(groups))
        decision = may_approve(fixes, wanted, asker, now)
        if isinstance(decision, NotAllowed) and isinstance(may_break_glass(fixes, wanted, asker, now), Open):
            decision = may_break_glass(fixes, wanted, asker, now)
    found = fixes.rule_for(cluster, remedy)
    if as_json:
        sys.stdout.write(json.dumps(_as_dict(decision, fixes, found, now)) + "\n")
    else:
        show_lines(_lines(decision, fixes, found, chosen.policy, now))
    return Exit.CLEAR if isinstance(decision, Open) else Exit.FOUND


def _must_be_known(remedy: str) -> None:
    known = [remedy.name for remedy in remedies().all]
    if remedy in known:
        return
    near = get_close_matches(remedy, known, n=3, cutoff=0.4)
    do = f"perhaps you mean {' or '.join(near)}" if near else f"known are {', '.join(known)}"
    what, why = "cannot explain the policy", f"no remedy is called {remedy[:80]!r}"
    raise Problem(what, why, do, code=Exit.USAGE)


def _lines(
    decision: Open | NotAllowed, fixes: Fixes, found: tuple[int, FixRule] | None, file: Path | None, now: datetime
) -> list[Line]:
    if isinstance(decision, Open):
        lines = [Line.of(("allowed", "title"), (f": rule {decision.number}", ""))]
    else:
        lines = [Line.of(("refused", "title"), (f": {decision.barrier.value}", ""))]
    if found:
        number, rule = found
        lines += [Line.of((text, "")) for text in _rule(number, rule)]
        lines += [Line.of((_freeze(freeze, now), "")) for freeze in fixes.freezes if freeze.name in rule.frozen]
        lines.append(Line.of((f"an offer can be taken up for {fixes.expires_minutes} min", "")))
    return [*lines, Line.of((str(file) if file else "no AKSBOT_POLICY is set: nobody may", "dim"))]


def _rule(number: int, rule: FixRule) -> list[str]:
    own = "counts" if rule.requester_counts else "does not count"
    text = [
        f"rule {number}: clusters {', '.join(rule.clusters)}; remedies {', '.join(rule.remedies)}",
        f"approvals needed: {rule.approvals}; the word of whoever asks {own}"
        + ("; a reason is needed" if rule.reason else ""),
        f"who may approve: {', '.join(rule.approvers) or 'nobody'}",
        f"up to {rule.highest_risk.value} risk",
    ]
    text += [f"after {step.after_minutes} min without approval: calls {', '.join(step.ping)}" for step in rule.escalate]
    return text + ([f"who may break the glass: {', '.join(rule.break_glass)}"] if rule.break_glass else [])


def _freeze(freeze: Freeze, now: datetime) -> str:
    days = ", ".join(day.value for day in freeze.days)
    dates = f", {freeze.first or '…'} to {freeze.last or '…'}" if freeze.first or freeze.last else ""
    state = "ON NOW" if freeze.holds(now) else "off now"
    return f"freeze {freeze.name}: {days}, {freeze.hours} {freeze.timezone}{dates} ({state})"


def _as_dict(
    decision: Open | NotAllowed, fixes: Fixes, found: tuple[int, FixRule] | None, now: datetime
) -> dict[str, object]:
    allowed = isinstance(decision, Open)
    made: dict[str, object] = {"allowed": allowed, "rule": found[0] if found else None}
    if isinstance(decision, NotAllowed):
        made["why"] = decision.barrier.value
    if found:
        freeze = fixes.freeze_on(found[1], now)
        made |= {
            "approvals": found[1].approvals,
            "approvers": list(found[1].approvers),
            "break_glass": list(found[1].break_glass),
            "frozen": freeze.name if freeze else None,
        }
    return made
