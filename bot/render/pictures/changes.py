"""What was done to a cluster, as a picture."""

from __future__ import annotations

from bot.render.pictures.picture import Lane, Mark, Picture, Tone
from bot.render.pictures.timeline import timeline
from handlers.changes.change import Change, Changes, Part, Result
from handlers.changes.told import briefly

FEWEST = 2
"""One change is read faster in words."""
_TONES = {Result.SUCCEEDED: Tone.GOOD, Result.RUNNING: Tone.RUNNING}


def changes_picture(found: Changes) -> Picture | None:
    """The changes on one axis of time, a lane for each part of the cluster; None where words say it as well."""
    if len(found.changes) < FEWEST:
        return None
    lanes = [
        Lane(part.value, tuple(_mark(change, found) for change in found.changes if change.part is part))
        for part in Part
    ]
    title = f"{found.cluster}: what was changed"
    return timeline(title, f"changes-{found.cluster}", lanes, begins=found.since, ends=found.until)


def _mark(change: Change, found: Changes) -> Mark:
    tone = Tone.BAD if change.result.bad else _TONES.get(change.result, Tone.PLAIN)
    ends = found.until if change.result is Result.RUNNING else change.until
    return Mark(change.at.timestamp(), briefly(change), tone, ends.timestamp() if ends else None)
