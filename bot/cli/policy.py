"""`aksbot policy lint | explain`: what the policy file says, to be checked before somebody is refused at night."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from bot import settings
from bot.checks.remedies import remedy_names
from bot.policy import file as policy_file
from bot.policy.look import Allowed, Asker, Decision, may_look
from bot.policy.model import DIRECT, Look
from bot.render.clean import one_line
from bot.render.line import Line
from bot.render.terminal import show_lines
from bot.render.verdict import count
from handlers.problem import Exit, Problem

_PERSON = re.compile(r"(T[A-Z0-9]{2,}):([UW][A-Z0-9]{2,})")
_CHANNEL = re.compile(rf"{DIRECT}|[CG][A-Z0-9]{{2,}}")


def lint(file: Path | None) -> int:
    """Report everything that is wrong with the file, by line."""
    chosen = file or settings.load().policy
    if chosen is None:
        raise Problem(
            "cannot check the policy",
            "no file was named, and AKSBOT_POLICY is not set",
            "name one: `aksbot policy lint FILE`. Without a policy everybody but guests may look at every cluster",
            code=Exit.USAGE,
        )
    policy, complaints = policy_file.read(chosen, remedies=remedy_names())
    if policy is None:
        for complaint in complaints:
            sys.stderr.write(f"{one_line(f'{chosen}:{complaint.line}: {complaint.what}; {complaint.do}')}\n")
        wrong = f"{count(len(complaints), 'thing')} wrong in it"
        raise Problem(f"cannot use the policy in {chosen}", wrong, "correct the lines named above", code=Exit.USAGE)
    show_lines([Line.of(("the policy is right: ", ""), (str(chosen), "dim"))])
    for number, rule in enumerate(policy.fixes.rules, 1):
        if rule.needs_everybody:
            what = f"asks for {count(rule.approvals, 'approval')} of {count(rule.approvals, 'approver')}"
            why = "whoever asks does not count: where an approver asks, nobody else can complete it"
            text = f"but `fixes.rules.{number}` {what}, and {why}; name more approvers, or ask for fewer"
            show_lines([Line.of((text, ""))])
    return Exit.CLEAR


def explain(
    cluster: str, *, user: str | None, channel: str, groups: list[str], guest: bool, stranger: bool, as_json: bool
) -> int:
    """Show whether a user may view a cluster, and which rule decides. 0 for yes, 1 for no."""
    chosen = settings.load()
    look = policy_file.load(chosen.policy, remedies=remedy_names()).look
    team, who = person(user)
    asker = Asker(team, who, guest=guest, stranger=stranger, groups=frozenset(groups))
    if not _CHANNEL.fullmatch(channel):
        what, why = "cannot explain the policy", f"{channel[:80]!r} is no channel"
        raise Problem(what, why, f"give a channel's id (C0123ABCD), or {DIRECT}", code=Exit.USAGE)
    decision = may_look(look, asker, channel, cluster)
    if as_json:
        sys.stdout.write(json.dumps(_as_dict(decision)) + "\n")
    else:
        show_lines(_lines(decision, look, chosen.policy))
    return Exit.CLEAR if isinstance(decision, Allowed) else Exit.FOUND


def person(user: str | None) -> tuple[str, str]:
    if user is None:
        return "", ""
    named = _PERSON.fullmatch(user)
    if named is None:
        what, why = "cannot explain the policy", f"{user[:80]!r} is nobody's id"
        raise Problem(what, why, "give a team's and a person's id: T0123ABCD:U0123ABCD", code=Exit.USAGE)
    return named[1], named[2]


def _lines(decision: Decision, look: Look, file: Path | None) -> list[Line]:
    where = str(file) if file else "no AKSBOT_POLICY is set: this is the default"
    if isinstance(decision, Allowed):
        rule = look.rules[decision.rule - 1]
        text = f": rule {decision.rule} (clusters {', '.join(rule.clusters)})"
        return [Line.of(("allowed", "title"), (text, "")), Line.of((where, "dim"))]
    lines = [Line.of(("refused", "title"), (f": {decision.why.value}", ""))]
    if decision.channels:
        lines.append(Line.of((f"it would be possible in {', '.join(decision.channels)}", "")))
    return [*lines, Line.of((f"whom to ask: {one_line(look.ask)}", "")), Line.of((where, "dim"))]


def _as_dict(decision: Decision) -> dict[str, object]:
    if isinstance(decision, Allowed):
        return {"allowed": True, "rule": decision.rule}
    return {"allowed": False, "why": decision.why.value, "channels": list(decision.channels)}
