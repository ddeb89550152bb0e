"""What people type: `/aks …` and `@aksbot …`. Text in, what is asked for out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from html import unescape

from bot.checks import words
from bot.report.events import Selection
from runbooks.linear import compile_linear

COMMAND = "/aks"
CHECK, CLUSTERS, DEFAULT = "check", "clusters", "default"
EXPLAIN, RUNBOOK, HELP = "explain", "runbook", "help"
FIXES, AUDIT = "fixes", "audit"
SUPPORT = "support"
MUTE, UNMUTE = "mute", "unmute"
WATCH = "watch"
NOW = (CHECK, CLUSTERS, DEFAULT, EXPLAIN, FIXES, AUDIT, MUTE, UNMUTE, WATCH, SUPPORT, RUNBOOK, HELP)
NO_CLUSTER = "none"
"""After `default`: take it away."""
LATER = ("changes", "history")
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
    """`[cluster] [area] [question]`: the cluster as it was given, or none, and what to ask about it."""
    return words.read_check(rest.replace("`", "").split(), areas)
