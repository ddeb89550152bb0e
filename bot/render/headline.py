"""The two lines with which an answer begins: what does not work and why, and what to do next.

Their templates are `effect` and `do` in the head of the finding's runbook. Names in them stand between backticks, as in
the page; whoever shows a line marks them as its medium does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import shorten

from bot.render.clean import one_line
from bot.render.subject import short
from handlers.model import Diagnosis, Finding
from runbooks.head import BadRunbook
from runbooks.library import DO, EFFECT, Library
from runbooks.linear import compile_linear

LONGEST = 300
"""What a lock screen shows, and some more."""
_NAME = compile_linear(r"`([^`]+)`")
_QUOTED = compile_linear(r"(`[^`]+`)")


@dataclass(frozen=True, slots=True)
class Headline:
    """`do` is empty where nobody can say it in a line: the steps do."""

    effect: str
    do: str = ""


def first_lines(diagnosis: Diagnosis, library: Library) -> Headline | None:
    """Of the first root cause; nothing where none was found."""
    root = next((ranked.finding for ranked in diagnosis.findings if ranked.root), None)
    if root is None:
        return None
    said = headline(root, library, diagnosis.target.name)
    return Headline(for_cluster(said.effect, diagnosis.target.name), said.do)


def headline(finding: Finding, library: Library, cluster: str) -> Headline:
    """What a finding means for this cluster; of one whose page has no such lines, its title and first proof."""
    runbook = library.get(finding.code)
    facts = facts_of(finding, cluster)
    try:
        effect, do = (runbook.line(EFFECT, facts), runbook.line(DO, facts)) if runbook else ("", "")
    except BadRunbook:
        effect, do = "", ""  # the page shows what is wrong with it
    if not effect:
        effect, do = f"{runbook.title if runbook else finding.code}: {_bare(finding.because[0])}", ""
    return Headline(_fits(effect), _fits(do))


def for_cluster(effect: str, cluster: str) -> str:
    """A line that stands alone names its cluster."""
    return effect if _names(plain(effect).lower(), cluster.lower()) else f"`{cluster}`: {effect}"


def _names(said: str, cluster: str) -> bool:
    """As a whole: `prod` stands neither in `product-api` nor in `prod-weu`."""
    at = said.find(cluster) if cluster else -1
    while at >= 0:
        ends = at + len(cluster)
        around = said[max(at - 1, 0) : at] + said[ends : ends + 1]
        if not any(beside.isalnum() or beside in "-_" for beside in around):
            return True
        at = said.find(cluster, at + 1)
    return False


def beside_name(effect: str, cluster: str) -> str:
    """The line where the cluster's name stands before it."""
    return effect.removeprefix(f"`{cluster}` ")


def plain(line: str) -> str:
    """Without backticks."""
    return _NAME.sub(r"\1", line)


def pieces(line: str) -> Iterator[tuple[str, bool]]:
    """The line in pieces; those between backticks are names."""
    for piece in _QUOTED.split(line):
        name = piece[1:-1] if len(piece) > 2 and piece[0] == piece[-1] == "`" else ""
        if piece:
            yield name or piece, bool(name)


def facts_of(finding: Finding, cluster: str) -> dict[str, object]:
    """What every page may name, besides the finding's own facts."""
    given = {"cluster": cluster, "subject": _subject(finding.subject), "proof": finding.because[0]}
    return {**given, **finding.facts, "severity": finding.severity.value}


def _subject(subject: str) -> str:
    """`shop/checkout`, as people type it; `pool apps`."""
    if subject.startswith("/"):
        return short(subject)
    namespace, _, rest = subject.partition("/")
    return f"{namespace}/{rest.rpartition('/')[2]}" if "/" in rest else rest or namespace


def _bare(text: str) -> str:
    return one_line(text).replace("`", "'")


def _fits(line: str) -> str:
    return line if len(line) <= LONGEST else shorten(line, LONGEST, placeholder=" …")
