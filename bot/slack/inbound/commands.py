"""What people type: `/aks …` and `@aksbot …`. Text in, what is asked for out. Whoever just talks is read by a worker,
which knows the fleet (`bot/slack/talk`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from html import unescape

from bot.checks import words
from bot.report.events import Selection
from bot.triage.talk import changes_asked
from runbooks.linear import compile_linear

COMMAND = "/aks"
CHECK, CLUSTERS, DEFAULT = "check", "clusters", "default"
EXPLAIN, RUNBOOK, HELP = "explain", "runbook", "help"
FIXES, AUDIT = "fixes", "audit"
CHANGES, HISTORY, DIGEST = "changes", "history", "digest"
MUTE, UNMUTE = "mute", "unmute"
WATCH = "watch"
NOW = (CHECK, CLUSTERS, DEFAULT, EXPLAIN, CHANGES, HISTORY, DIGEST, FIXES, AUDIT, MUTE, UNMUTE, WATCH, RUNBOOK, HELP)
ASKED_OF_AZURE = (CHECK, CLUSTERS, DEFAULT, FIXES, AUDIT, CHANGES, HISTORY, DIGEST)
"""What a worker answers."""
ALL = "all"
"""After `check`: every cluster that the asker may see."""
NO_CLUSTER = "none"
"""After `default`: take it away."""
LATER = ("support",)
"""Words of the design whose work does not exist yet."""
EVERYTHING = "all"
"""After `help`: all commands."""

_NO_TYPOS = frozenset(("are", "can", "do", "does", "how", "is", "the", "what", "when", "where", "which", "who", "why"))
"""`what` is near to `watch`."""
_MOST_WORDS = 4
"""A command of which the first word is misspelt is no longer than this; what is longer is a sentence."""
_LONGEST_WORD = 20
_NEAR = 0.7

_LINK = compile_linear(r"<(https?://[^|>]+)(?:\|[^>]*)?>")
_MENTIONS = compile_linear(r"^(?:\s*<@[A-Z0-9]+(?:\|[^>]*)?>)+[\s,:]*")
"""Ours, and whoever else is called together with us."""
_POLITE = compile_linear(r"(?:[\s,]+(?:please|pls|thanks|now))*[\s?!.,]*$", ignore_case=True)
_ABOUT_A_CLUSTER = frozenset({CHECK, FIXES, WATCH})


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """The first word and what follows it. Without any word, help is asked for."""

    word: str
    rest: str = ""
    text: str = field(default="", compare=False)
    """As it was typed."""

    @property
    def is_known(self) -> bool:
        return self.word in NOW or self.word in LATER

    @property
    def near(self) -> list[str]:
        """What may have been meant by a word that is none: only what exists. Empty where it is no misspelt command."""
        sentence = len(self.rest.split(maxsplit=_MOST_WORDS)) >= _MOST_WORDS
        if self.is_known or self.word in _NO_TYPOS or sentence or len(self.word) > _LONGEST_WORD:
            return []
        return get_close_matches(self.word, NOW, n=3, cutoff=_NEAR)


def read_command(text: str) -> ParsedCommand:
    """What stands after `/aks`."""
    word, rest = [*text.split(maxsplit=1), "", ""][:2]  # an error is often pasted onto the next line
    asked = ParsedCommand(word.lower().rstrip("?!.,:;") or HELP, rest.strip(), text.strip())
    changes = changes_asked(text) if asked.word == CHANGES or not asked.is_known else None
    return ParsedCommand(CHANGES, changes, asked.text) if changes else asked


def read_mention(text: str) -> ParsedCommand:
    """What somebody says to the bot: Slack has made links of the addresses in it, and entities of some letters."""
    asked = read_command(unescape(_LINK.sub(r"\1", _MENTIONS.sub("", text))))
    # "check prod-weu please?": no cluster and no area is called so. What was pasted stays as it is.
    return replace(asked, rest=_POLITE.sub("", asked.rest)) if asked.word in _ABOUT_A_CLUSTER else asked


def read_check(rest: str, areas: Collection[str]) -> tuple[str | None, Selection]:
    """`[cluster] [area] [question]`: the cluster as it was given, or none, and what to ask about it."""
    return words.read_check(rest.replace("`", "").split(), areas)
