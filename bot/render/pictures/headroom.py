"""Limits that were reached, from what findings keep of them. Called where an answer is put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.render.pictures.picture import Bar, Bars, Part, Picture
from bot.render.pictures.plain_name import plain_name
from handlers.headroom import HEADROOM
from handlers.model import Diagnosis

MOST_BARS = 3
MOST_WANTING = 4
"""Parts of what is wanted that are named; the others are one part."""


def headroom_of(diagnosis: Diagnosis) -> Picture | None:
    """A bar for each limit that a finding of this diagnosis keeps; None where none does."""
    kept = [ranked.finding.facts[HEADROOM] for ranked in diagnosis.findings if ranked.finding.facts.get(HEADROOM)]
    if not kept:
        return None
    bars = Bars(f"{diagnosis.target.name}: in use, wanted, limit", tuple(map(_bar, kept[:MOST_BARS])))
    return Picture(f"headroom-{plain_name(diagnosis.target.name)}.png", described(bars), bars)


def described(bars: Bars) -> str:
    """The same in words."""
    return f"{bars.title}. {' '.join(map(_told, bars.bars))}"


def _told(bar: Bar) -> str:
    parts = ", ".join(f"{part.count} {part.label}" for part in bar.parts)
    return f"{bar.label}: limit {bar.limit}; {parts}; {bar.arithmetic}."


def _bar(kept: Mapping[str, Any]) -> Bar:
    held = [Part(str(share["who"]), int(share["count"])) for share in kept["held"]]
    wanting = [(str(share["who"]), int(share["count"])) for share in kept["wanted"]]
    named, others = wanting[:MOST_WANTING], wanting[MOST_WANTING:]
    wanted = [Part(f"wanted: {who}", count, wanted=True) for who, count in named]
    if others:
        wanted.append(Part(f"wanted: {len(others)} others", sum(count for _, count in others), wanted=True))
    limit, unit = int(kept["limit"]), str(kept["unit"])
    return Bar(str(kept["of"]), (*held, *wanted), limit, _arithmetic(held, wanted, limit, unit))


def _arithmetic(held: list[Part], wanted: list[Part], limit: int, unit: str) -> str:
    taken, asked = sum(part.count for part in held), sum(part.count for part in wanted)
    short = taken + asked - limit
    return f"{taken} + {asked} = {taken + asked} of {limit} {unit}: {f'{short} short' if short > 0 else 'none left'}"
