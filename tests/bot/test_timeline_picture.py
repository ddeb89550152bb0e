"""The picture of what happened when: which marks get words, what the words say, and that it can be drawn."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.render.pictures import draw_timeline
from bot.render.pictures.picture import Lane, Mark, Picture, Timeline, Tone, read_drawn
from bot.render.pictures.process import LARGEST, Drawing
from bot.render.pictures.timeline import MOST_MARKS, MOST_NUMBERED, numbered, timeline
from bot.slack.api import outgoing

BEGINS = datetime(2026, 11, 20, 1, 0, tzinfo=UTC)
ENDS = BEGINS + timedelta(hours=2)


def at(minutes: float) -> float:
    return (BEGINS + timedelta(minutes=minutes)).timestamp()


LOCKED = Mark(at(14), "Lock keep set", Tone.GOOD, root=True)
FAILED = Mark(at(31), "Upgrade to 1.35.6 failed: ScopeLocked", Tone.BAD, until=at(48))
GROWING = Mark(at(92), "Node pool batch scaled", Tone.RUNNING, until=at(118))
LANES = (Lane("Activity log", (GROWING, FAILED, LOCKED)), Lane("aksbot", (Mark(at(50), "Checked prod-weu"),)))


def drawn(*lanes: Lane, begins: datetime = BEGINS, ends: datetime = ENDS) -> Timeline:
    return chart_of(timeline("prod-weu: what changed", "changes-prod-weu", lanes, begins=begins, ends=ends))


def chart_of(made: Picture | None) -> Timeline:
    assert made is not None
    assert isinstance(made.chart, Timeline)
    return made.chart


def alt_of(*lanes: Lane) -> str:
    made = timeline("prod-weu: what changed", "changes-prod-weu", lanes, begins=BEGINS, ends=ENDS)
    assert made is not None
    return made.alt


def labels(chart: Timeline) -> list[str]:
    return [mark.label for _, mark in sorted(numbered(chart), key=lambda pair: pair[1].number)]


def test_the_words_say_what_the_picture_shows_in_the_order_of_time() -> None:
    assert alt_of(*LANES) == (
        "prod-weu: what changed, 01:00 to 03:00 UTC. 01:14 Activity log: Lock keep set (root cause); "
        "01:31 Activity log: Upgrade to 1.35.6 failed: ScopeLocked; 01:50 aksbot: Checked prod-weu; "
        "02:32 Activity log: Node pool batch scaled (still running)."
    )


def test_there_is_no_picture_of_nothing() -> None:
    assert timeline("prod-weu", "changes", (Lane("Alerts", ()),)) is None


def test_a_lane_in_which_nothing_happened_is_left_out() -> None:
    assert [lane.name for lane in drawn(Lane("Alerts", ()), *LANES).lanes] == ["Activity log", "aksbot"]


def test_of_many_marks_the_root_and_what_failed_get_words_before_the_newest() -> None:
    many = tuple(Mark(at(60 + number), f"scaled {number}") for number in range(50))
    said = labels(drawn(Lane("Activity log", (LOCKED, FAILED, *many))))
    assert len(said) == MOST_NUMBERED
    assert said[:2] == [LOCKED.label, FAILED.label]
    assert said[-1] == "scaled 49"
    assert alt_of(Lane("Activity log", (LOCKED, FAILED, *many))).endswith("; and 44 more.")


def test_a_lane_keeps_its_newest_marks_and_the_root_however_old() -> None:
    many = tuple(Mark(at(60 + number / 100), f"scaled {number}") for number in range(MOST_MARKS))
    [lane] = drawn(Lane("Activity log", (FAILED, LOCKED, *many))).lanes
    assert len(lane.marks) == MOST_MARKS + 1
    assert any(mark.root for mark in lane.marks)
    assert all(mark.tone is not Tone.BAD for mark in lane.marks)


def test_a_day_stands_with_the_time_where_the_axis_covers_two() -> None:
    made = timeline("x", "x", LANES, begins=BEGINS - timedelta(hours=5), ends=ENDS)
    assert made is not None
    assert "20 Nov 01:14 Activity log" in made.alt


def test_a_single_moment_has_an_axis_around_it() -> None:
    chart = chart_of(timeline("x", "x", (Lane("Alerts", (Mark(at(5), "one"),)),)))
    assert chart.begins < at(5) < chart.ends


def test_it_reads_back_as_it_was_written() -> None:
    chart = drawn(*LANES)
    assert read_drawn(json.loads(json.dumps(chart.as_json()))) == chart


def test_numbers_that_would_cover_each_other_stand_in_rows() -> None:
    near = tuple(Mark(at(10 + number), f"event {number}") for number in range(3))
    chart = drawn(Lane("Events", near))
    rows = draw_timeline._in_rows(chart, chart.lanes[0].marks)
    assert [len(row) for row in rows] == [1, 1, 1]
    apart = drawn(Lane("Events", tuple(replace(mark, at=at(30 * n)) for n, mark in enumerate(near))))
    assert [len(row) for row in draw_timeline._in_rows(apart, apart.lanes[0].marks)] == [3]


def test_every_tone_has_a_colour_that_can_be_read_on_white_and_what_failed_a_shape_of_its_own() -> None:
    shapes = draw_timeline._SHAPES
    assert set(shapes) == set(draw_timeline._COLOURS) == set(Tone)
    assert len({shapes[Tone.BAD], shapes[Tone.GOOD], shapes[Tone.RUNNING]}) == 3


async def test_it_is_drawn_as_a_small_opaque_png_as_wide_as_every_picture() -> None:
    from PIL import Image

    events = tuple(
        Mark(at(number / 3), f"event $x^{{{number}}}$ of pod web-{number}", Tone.BAD) for number in range(300)
    )
    png = await Drawing().png(drawn(*LANES, Lane("Kubernetes events", events)))
    assert png is not None
    assert len(png) <= LARGEST
    shown = Image.open(io.BytesIO(png))
    assert shown.format == "PNG"
    assert shown.width == 960
    assert shown.convert("RGBA").getextrema()[3] == (255, 255), "nothing shines through"
    assert shown.convert("RGB").getpixel((2, 2)) == (255, 255, 255)


def test_no_secret_is_drawn() -> None:
    secret = "sig=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA%3D%3D"
    leaking = Mark(at(3), f"https://a.blob.core.windows.net/x?sv=2022-11-02&{secret}")
    made = timeline("x", "x", (Lane("Alerts", (leaking,)),), begins=BEGINS, ends=ENDS)
    assert made is not None
    assert "Zm9v" not in repr(outgoing.picture(made))
