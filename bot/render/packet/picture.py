"""The timeline of a support packet as a picture: a lane for Azure, one for Kubernetes, one for aksbot."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot.render.packet.material import Happened, Material
from bot.render.packet.recorded import ACTIVITY, EVENTS
from bot.render.packet.timeline import rows
from bot.render.pictures.picture import Lane, Mark, Picture, Tone
from bot.render.pictures.timeline import timeline
from handlers.clients.redact import redact_text
from handlers.resource_id import last_name

SPAN = timedelta(hours=24)
"""Two weeks on a phone are a row of dots; what support looks into is mostly of the last day."""
_ENDED = ("succeeded", "canceled")
_BEGUN = ("started", "accepted")


def picture(material: Material) -> Picture | None:
    """What happened within a day before the latest entry; None where nothing did."""
    known = [row for row in rows(material) if row.at <= material.made_at]
    if not known:
        return None
    ends = max(row.until or row.at for row in known)
    latest = [row for row in known if row.at >= ends - SPAN]
    sources = dict.fromkeys((ACTIVITY, EVENTS, *(row.source for row in latest)))
    lanes = [Lane(source, tuple(_marks(latest, source))) for source in sources]
    return timeline(redact_text(f"{material.cluster}: what happened"), f"timeline-{material.cluster}", lanes)


def _marks(known: Sequence[Happened], source: str) -> list[Mark]:
    """Of an operation its end is drawn; that it was accepted says nothing more."""
    shown = [row for row in known if row.source == source and not row.what.lower().endswith(_BEGUN)]
    return [_mark(row) for row in shown]


def _mark(row: Happened) -> Mark:
    """Redacted before it is drawn: nobody can take a secret out of a picture."""
    until = row.until.timestamp() if row.until else None
    return Mark(row.at.timestamp(), redact_text(_label(row)), _tone(row), until)


def _label(row: Happened) -> str:
    """`managedClusters/write Failed prod-weu` is more than fits: the provider is left out."""
    operation, _, end = row.what.rpartition(" ")
    short = "/".join(operation.split("/")[-2:]) if row.source == ACTIVITY else operation
    return " ".join(filter(None, (short, end, last_name(row.about))))


def _tone(row: Happened) -> Tone:
    if row.failed:
        return Tone.BAD
    return Tone.GOOD if row.what.lower().endswith(_ENDED) else Tone.PLAIN
