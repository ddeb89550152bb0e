"""One message of an alert bot may hold several alerts: resolved ones say nothing about those still firing."""

from __future__ import annotations

from runbooks.linear import Match, compile_linear

_OPEN = compile_linear(
    r"(?im)\[(?:firing(?:[^:\w]|:(?:[^ 0]| [^0]))|open\]|triggered\])|^\W{0,3}\[alert(?:ing)?\]"
    r"|(?P<count>\bfiring:? ?[1-9]\d*\b|\bopen:? [1-9]\d?\b)"
    r"|^\W{0,6}(?:firing|fired|triggered)\b\W{0,4}?(?:$|: ?(?P<what>\w{1,80}))"
)
"""`[FIRING:1]` (Alertmanager), `**Firing**` over a block (Grafana), `[Alerting]` (its older
ones, and first in the line: nginx logs `[alert]`, too), `[Triggered]` (Datadog), `open 1` (digests)."""
_SPAN = compile_linear(r"(?i) ?(?:s|m|h|d|min|sec|hour|day|week)\w*")
"""How long it fired or was open is no count."""
_OVER = r"\b(?:resolved|closed|recovered)\b"
_HEADED_OVER = compile_linear(rf"(?i)\W{{0,6}}{_OVER}\W{{0,2}}(?:[\]:*]|$|\d|[→–])")
_TOLD_OVER = compile_linear(rf"(?i)\[?{_OVER}(?P<count> ?[:x×]? ?\d+(?:[.:]\d+)?)?\]?[→ ,·|]{{0,3}}")
_IS_TOLD = compile_linear(rf"(?i){_OVER}")
_LONGEST_COUNT = 4


def still_open(text: str) -> str:
    """The text without its resolved alerts, if others are still open: their headings, what stands below them, and their
    count in a line that has both counts.
    """
    if not _IS_TOLD.search(text) or not _is_open(text):
        return text
    kept, over = list[str](), False
    for line in text.splitlines():
        if _is_open(line):
            over = False
            kept.append(_TOLD_OVER.sub(_unless_a_time, line))
            continue
        over = over or bool(_HEADED_OVER.match(line))
        if not over:
            kept.append(line)
    return "\n".join(kept)


def _is_open(text: str) -> bool:
    return any(map(_counts, _OPEN.finditer(text)))


def _counts(found: Match) -> bool:
    """`Firing: none` and `open 2 hours` count nothing that is open."""
    groups = found.groupdict()
    if groups["count"]:
        return not _SPAN.match(found.string[found.end() : found.end() + 20])
    what = (groups["what"] or "x").lower()
    return not (what in ("none", "no") or what[0].isdigit())


def _unless_a_time(found: Match) -> str:
    """`resolved 3` is a count; `resolved 12:30` is a time and stays."""
    count = (found["count"] or "").lstrip(" :x×")
    is_count = count.isdigit() and len(count) <= _LONGEST_COUNT
    return "" if is_count else (found["count"] or "").lstrip(" ")
