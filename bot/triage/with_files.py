"""Combines a message with its files: the words decide whether and where, the files decide what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bot.triage.decide import Certainty
from bot.triage.plain_text import plain
from bot.triage.quiet import Quiet, Reason
from bot.triage.recognise import Recognition


class WithFiles:
    """Combines the recognitions."""

    def __init__(self) -> None:
        self._quiet = Quiet()

    def against(self, text: str) -> list[Reason]:
        """Why the words alone call for silence, whatever a file shows: it is over, it is elsewhere."""
        return list(self._quiet.reasons(plain(text)))

    def together(self, text: str, words: Recognition, files: Sequence[Recognition]) -> Recognition:
        """The recognition with the most evidence. The words decide the cluster."""
        best = max((words, *files), key=_odds)
        if best is words or any(reason.covers_files for reason in self.against(text)):
            return words
        if words.cluster or words.choices:
            return replace(best, cluster=words.cluster, cluster_by=words.cluster_by, choices=words.choices)
        return best


def _odds(seen: Recognition) -> float:
    return -math.inf if seen.certainty is Certainty.QUIET else seen.odds
