"""The fleet as a picture: what needs somebody first, each state in a sign and in words."""

from __future__ import annotations

import pytest

from bot.checks.fleet.lines import FleetRow, Standing, rows
from bot.render.pictures.picture import Grid, Tone, read_drawn
from bot.render.pictures.process import LARGEST, Drawing
from bot.slack.fleet.picture import _TONES, FEWEST, MOST, pictures_of
from handlers.model import State
from tests.checks.test_fleet_lines import NOW, known, member, verdict


def listed(number: int) -> list[FleetRow]:
    latest = known(verdict("c0"), verdict("c1", State.CLEAR), verdict("c2", State.INCONCLUSIVE))
    return rows([member(f"c{one}") for one in range(number)], latest)


def grid(number: int) -> Grid:
    (picture,) = pictures_of(listed(number), NOW)
    assert isinstance(picture.chart, Grid)
    return picture.chart


def test_each_cluster_is_a_cell_with_its_state_in_words_and_what_is_unhealthy_comes_first() -> None:
    assert [(cell.name, cell.tone, cell.says) for cell in grid(4).cells] == [
        ("c0", Tone.BAD, "unhealthy · 3 h ago"),
        ("c2", Tone.UNSURE, "incomplete · 3 h ago"),
        ("c3", Tone.PLAIN, "never checked"),
        ("c1", Tone.GOOD, "healthy · 3 h ago"),
    ]


def test_the_words_say_what_the_picture_shows() -> None:
    (picture,) = pictures_of(listed(4), NOW)
    assert picture.alt == (
        "4 clusters: 1 unhealthy, 1 incomplete, 1 never checked, 1 healthy. c0: unhealthy · 3 h ago; "
        "c2: incomplete · 3 h ago; c3: never checked; c1: healthy · 3 h ago."
    )


def test_a_short_list_has_no_picture_and_of_a_long_one_the_rest_is_a_number() -> None:
    assert pictures_of(listed(FEWEST - 1), NOW) == ()
    long = grid(MOST + 6)
    assert (len(long.cells), long.left_out) == (MOST, 6)


def test_every_standing_has_its_tone() -> None:
    assert set(_TONES) == set(Standing)


@pytest.mark.parametrize("number", [FEWEST, MOST + 6])
async def test_it_is_drawn_small(number: int) -> None:
    drawn = grid(number)
    assert read_drawn(drawn.as_json()) == drawn
    png = await Drawing().png(drawn)
    assert png is not None
    assert len(png) <= LARGEST
