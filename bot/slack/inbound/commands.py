"""What people type: `/aks …` and `@aksbot …`. Text in, what is asked for out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from difflib import get_close_matches
from html import unescape

from bot.report.events import EVERYTHING, Selection
from bot.slack.kit import sentences
from handlers.problem import Exit, Problem
from runbooks.linear import compile_linear

COMMAND = "/aks"
CHECK, CLUSTERS, DEFAULT = "check", "clusters", "default"
EXPLAIN, RUNBOOK, HELP = "explain", "runbook", "help"
FIXES, AUDIT = "fixes", "audit"
MUTE, UNMUTE = "mute", "unmute"
WATCH = "watch"
NOW = (CHECK, CLUSTERS, DEFAULT, EXPLAIN, FIXES, AUDIT, MUTE, UNMUTE, WATCH, RUNBOOK, HELP)
DETECTORS = "detectors"
"""After the cluster of a check: run Azure's own, too."""
NO_CLUSTER = "none"
"""After `default`: take it away."""
LATER = ("changes", "history", "support")
"""Words of the design whose work does not exist yet."""

_LINK = compile_linear(r"<(https?://[^|>]+)(?:\|[^>]*)?>")
_MENTIONS = compile_linear(r"^(?:\s*<@[A-Z0-9]+(?:\|[^>]*)?>)+[\s,:]*")
"""Ours, and whoever else is called together with us."""


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """The first word and what follows it. Without any word, help is asked for."""

    word: str
    rest: str = ""

    @property
    def near(self) -> list[str]:
        """What may have been meant by a word that is none."""
        return get_close_matches(self.word, (*NOW, *LATER), n=3, cutoff=0.5)


def read_command(text: str) -> ParsedCommand:
    """What stands after `/aks`."""
    word, rest = [*text.split(maxsplit=1), "", ""][:2]  # an error is often pasted onto the next line
    return ParsedCommand(word.lower() or HELP, rest.strip())


def read_mention(text: str) -> ParsedCommand:
    """What somebody says to the bot: Slack has made links of the addresses in it, and entities of some letters."""
    return read_command(unescape(_LINK.sub(r"\1", _MENTIONS.sub("", text))))


def read_check(rest: str, areas: Collection[str]) -> tuple[str | None, Selection]:
    """`[cluster] [area] [detectors]`: the cluster as it was given, or none, and what to ask about it."""
    words = rest.replace("`", "").split()
    given = [word for word in words if word.lower().lstrip("-") != DETECTORS]
    cluster, scope = _cluster_and_area(given, areas)
    return cluster, replace(scope, detectors=len(given) < len(words))


def _cluster_and_area(given: list[str], areas: Collection[str]) -> tuple[str | None, Selection]:
    if len(given) > 1 and given[1].lower() == "from":
        raise Problem(sentences.CANNOT_READ_CHECK, sentences.FROM_COMES_LATER, sentences.CHECK_USAGE, code=Exit.USAGE)
    if len(given) > 2:
        raise Problem(
            sentences.CANNOT_READ_CHECK, sentences.too_many(len(given)), sentences.CHECK_USAGE, code=Exit.USAGE
        )
    if not given:
        return None, EVERYTHING
    if len(given) == 1:
        return (None, Selection(given[0].lower())) if given[0].lower() in areas else (given[0], EVERYTHING)
    area = given[1].lower()
    if area not in areas:
        known = get_close_matches(area, areas, n=3, cutoff=0.5) or sorted(areas)
        raise Problem(sentences.CANNOT_READ_CHECK, sentences.no_area(given[1]), sentences.areas(known), code=Exit.USAGE)
    return given[0], Selection(area)
