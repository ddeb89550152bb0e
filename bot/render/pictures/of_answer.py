"""Which pictures an answer has: what its findings keep decides, no list of codes does. Called for each answer."""

from __future__ import annotations

from bot.render.pictures.causes import causes_of
from bot.render.pictures.headroom import headroom_of
from bot.render.pictures.memory import memory_by_node
from bot.render.pictures.picture import Picture
from handlers.model import Diagnosis
from runbooks.library import Library


def pictures_of(diagnosis: Diagnosis, library: Library) -> tuple[Picture, ...]:
    """In the order in which they are shown: first the proof, then what follows from it."""
    made = (memory_by_node(diagnosis), headroom_of(diagnosis), causes_of(diagnosis, library))
    return tuple(picture for picture in made if picture)
