"""Which part of a message a person wrote, and which a machine. Patterns judge both; resemblance judges people's words.

An error that no pattern knows is some other problem, however many of its words a runbook shares.
"""

from __future__ import annotations

from dataclasses import dataclass

from runbooks.linear import Match, compile_linear

_FENCED = compile_linear(r"(?s)```.*?(?:```|\z)")
_QUOTED = compile_linear(r"`[^`\n]{12,1000}`")
_LOG = compile_linear(
    r"^\s*(?:[IWEF]\d{4} \d\d:|\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\$ |PS [A-Z]:|at [\w.$]+\(|[\w.-]+@[\w.-]+:|>\s"
    r"|[*\s]*(?:Warning|Normal)\s{2,})"
)
_SAYS = compile_linear(
    r"(?i)\b(?:error|errors|err|message|msg|code|detail|details|reason|status|event|exception)\"?'?\s{0,3}[:=]"
    r"|rpc error|\bfailed to \w+ .{0,80}:|\bcode = |\bdial tcp\b|\bhttps?://|Error:|Unable to connect to the server"
)
_MARKS = str.maketrans("", "", '{}[]="<>/\\|;_')
_DENSE = 0.07
_COLUMNS = compile_linear(r"\S(?: {2,}|\t)\S+(?: {2,}|\t)\S")


@dataclass(frozen=True, slots=True)
class Voices:
    """What people say, and what they paste."""

    people: str
    machines: str


def voices(text: str) -> Voices:
    """Each line, and each stretch in backticks, belongs to one of the two."""
    machines: list[str] = []

    def taken(hit: Match) -> str:
        machines.append(hit[0].strip("`"))
        return "\n"

    rest = _QUOTED.sub(taken, _FENCED.sub(taken, text))
    people: list[str] = []
    for line in rest.splitlines():
        (machines if _is_pasted(line) else people).append(line)
    return Voices("\n".join(people), "\n".join(machines))


def _is_pasted(line: str) -> bool:
    if _LOG.match(line) or _COLUMNS.search(line) or _SAYS.search(line):
        return True
    return len(line) >= 30 and len(line) - len(line.translate(_MARKS)) > _DENSE * len(line)
