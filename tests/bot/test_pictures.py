"""Pictures: their content, alt text, and what happens if one cannot be drawn."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.render.pictures import memory
from bot.render.pictures.drawing import style
from bot.render.pictures.memory import memory_by_node
from bot.render.pictures.picture import Chart, Curve, Picture
from bot.render.pictures.process import LARGEST, Drawing
from bot.slack.api import outgoing
from handlers.model import Diagnosis, Finding, Ranked
from tests.bot.diagnoses import clear, found

PNG = r"b'\x89PNG\r\n\x1a\n'"
OVER_TIME: dict[str, Any] = {
    "from": "2026-11-18T00:05:00Z",
    "moments": [0, 300, 600, 900],
    "step_s": 300,
    "percent": [47.2, None, 110.4, 103.0],
    "others": 2,
    "others_percent": [50.0, 50.0, 51.0, 52.0],
}


def saturated(*nodes: str, **over_time: Any) -> Diagnosis:
    findings = [
        Ranked(
            Finding(
                "memory-saturation",
                f"Node/{node}",
                (f"{node} reports MemoryPressure",),
                facts={"node": node, "memory_over_time": {**OVER_TIME, **over_time}},
            )
        )
        for node in nodes
    ]
    return replace(found(), findings=tuple(findings))


def picture(*nodes: str, **over_time: Any) -> Picture:
    made = memory_by_node(saturated(*nodes, **over_time))
    assert made is not None
    return made


def chart_of(made: Picture) -> Chart:
    assert isinstance(made.chart, Chart)
    return made.chart


async def drawn_by(*code: str, within_s: float = 20.0) -> bytes | None:
    """What comes of it if this program draws."""
    program = "import os, sys, time; sys.stdin.read(); " + "; ".join(code)
    return await Drawing((sys.executable, "-c", program), within_s).png(picture("node-0").chart)


def test_the_picture_says_in_words_what_it_shows() -> None:
    assert picture("node-0").alt == (
        "prod-weu: memory by node, % of what its pods may have, 00:05 UTC to 00:20 UTC. "
        "node-0: from 47 % to 103 %, highest 110 % at 00:15 UTC. Average of the other 2 nodes: from 50 % to 52 %."
    )


def test_one_other_node_is_spoken_of_as_one() -> None:
    assert "The other node: from 50 % to 52 %." in picture("node-0", others=1).alt


def test_there_is_none_where_no_node_is_short_of_memory_or_nothing_was_measured() -> None:
    assert memory_by_node(clear()) is None
    assert memory_by_node(found()) is None
    assert memory_by_node(saturated("node-0", percent=[None, 1.0, None, 2.0])) is None


def test_of_many_nodes_as_many_are_drawn_as_can_be_told_apart() -> None:
    curves = chart_of(picture(*(f"node-{number}" for number in range(9)))).curves
    assert [one.label for one in curves if not one.background] == [f"node-{n}" for n in range(memory.MOST_CURVES)]
    assert [one.background for one in curves].count(True) == 1


def test_a_cluster_of_one_node_is_compared_with_nobody() -> None:
    alone = chart_of(picture("node-0", others=0, others_percent=[]))
    assert [one.label for one in alone.curves] == ["node-0"]


async def test_it_is_drawn_as_one_small_opaque_png_by_a_process_that_the_bot_does_not_become() -> None:
    from PIL import Image

    png = await Drawing().png(picture("node-0", "node-1").chart)
    assert png is not None
    assert len(png) <= LARGEST
    shown = Image.open(io.BytesIO(png))
    assert shown.format == "PNG"
    assert shown.width / shown.height == pytest.approx(1.64, abs=0.05)
    assert shown.convert("RGBA").getextrema()[3] == (255, 255), "nothing shines through"
    assert shown.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
    assert "matplotlib" not in sys.modules


def test_the_colours_are_dark_enough_for_their_paper() -> None:
    shades = [_luminance(one) for one in (*style.COLOURS, *(look.colour for look in style.LOOKS.values()))]
    assert all((1.05) / (one + 0.05) >= 4.5 for one in shades)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    "code",
    [
        ("sys.exit(3)",),
        ("raise MemoryError",),
        ("sys.stdout.write('no picture')",),
        (f"sys.stdout.buffer.write({PNG} + b'x' * {LARGEST})",),
        ("sys.stdout.buffer.flush(); os.kill(os.getpid(), 9)",),
    ],
    ids=["fails", "has no memory", "writes something else", "is too large", "is killed"],
)
async def test_a_process_that_brings_no_picture_costs_a_picture_alone(code: tuple[str, ...]) -> None:
    assert await drawn_by(*code) is None


async def test_one_that_brings_one_is_believed() -> None:
    assert await drawn_by(f"sys.stdout.buffer.write({PNG})") is not None


async def test_a_process_that_hangs_is_not_waited_for() -> None:
    assert await drawn_by("time.sleep(3600)", within_s=0.3) is None


async def test_a_process_that_nobody_waits_for_any_more_is_ended(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    os.mkfifo(told)
    drawing = asyncio.create_task(drawn_by(f"open({str(told)!r}, 'w').write(str(os.getpid()))", "time.sleep(3600)"))
    pid = int(await asyncio.to_thread(told.read_text))
    drawing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await drawing
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_program_that_is_not_there_costs_a_picture_alone() -> None:
    assert await Drawing(("/nowhere/to/be/found",)).png(picture("node-0").chart) is None


async def test_the_process_gets_nothing_of_the_bots_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-not-for-anybody-else")
    told = await drawn_by(f"sys.stdout.buffer.write({PNG} + repr(dict(os.environ)).encode())")
    assert told is not None
    assert b"PATH" in told
    assert b"xoxb" not in told


async def test_pictures_are_drawn_one_at_a_time(tmp_path: Path) -> None:
    alone = str(tmp_path / "alone")
    steps = (f"os.mkdir({alone!r})", "time.sleep(0.2)", f"os.rmdir({alone!r})", f"sys.stdout.buffer.write({PNG})")
    program = "import os, sys, time; sys.stdin.read(); " + "; ".join(steps)
    drawing, chart = Drawing((sys.executable, "-c", program)), picture("node-0").chart
    assert all(await asyncio.gather(*(drawing.png(chart) for _ in range(3)))), "none met another one"


def test_no_secret_is_drawn() -> None:
    secret = "sv=2022-11-02&sig=" + "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA%3D%3D"
    curve = Curve(f"https://logs.blob.core.windows.net/x?{secret}", (1.0, 2.0))
    chart = Chart("a title", 0.0, (0, 300), (curve,), 100.0, "all")
    clean = outgoing.picture(Picture("a.png", f"see {curve.label}", chart))
    assert "Zm9v" not in repr(clean)
    assert chart_of(clean).seconds == chart.seconds
