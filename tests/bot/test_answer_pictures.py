"""Bars of what is used up, and trees of causes: when an answer has them, what they say in words, and the PNG."""

from __future__ import annotations

import asyncio
import io
import sys
from dataclasses import replace
from typing import Any

import pytest

from bot.render.pictures.causes import MOST_BRANCHES, MOST_NAMED, causes_of
from bot.render.pictures.headroom import MOST_BARS, MOST_WANTING, headroom_of
from bot.render.pictures.of_answer import pictures_of
from bot.render.pictures.picture import Bars, Picture, Tree, read_drawn
from bot.render.pictures.process import LARGEST, Drawing
from handlers.headroom import HEADROOM, headroom
from handlers.model import Diagnosis, Finding, Ranked
from tests.bot.diagnoses import POOL, clear, found, library

QUOTA = headroom("DSv5 vCPUs in westeurope", "cores", 200, [("in use", 196)], [("pool apps", 8), ("pool idle", 0)])


def short_of(*kept: dict[str, Any]) -> Diagnosis:
    rows = [
        Finding("any-limit", f"limit-{number}", ("full",), facts={HEADROOM: row}) for number, row in enumerate(kept)
    ]
    return replace(found(), findings=tuple(map(Ranked, rows)))


def bars(*kept: dict[str, Any]) -> tuple[Picture, Bars]:
    made = headroom_of(short_of(*kept))
    assert made is not None
    assert isinstance(made.chart, Bars)
    return made, made.chart


def chain(*edges: tuple[str, str | None]) -> Diagnosis:
    """Findings by name, each with the one that explains it."""
    causes: dict[str, list[tuple[str, str]]] = {}
    for name, cause in edges:
        causes.setdefault(name, []).extend([(f"code-{cause}", cause)] if cause else [])
    ranked = [Ranked(Finding(f"code-{name}", name, ("so",)), tuple(because)) for name, because in causes.items()]
    return replace(found(), findings=tuple(ranked))


def drawn_tree(diagnosis: Diagnosis) -> Tree:
    made = causes_of(diagnosis, library())
    assert made is not None
    assert isinstance(made.chart, Tree)
    return made.chart


def outline(diagnosis: Diagnosis) -> list[str]:
    return [f"{'  ' * branch.depth}{branch.subject}" for branch in drawn_tree(diagnosis).branches]


# -- what is used up ------------------------------------------------------------------------------------------


def test_a_bar_shows_the_arithmetic_and_says_it_in_words() -> None:
    made, chart = bars(QUOTA)
    assert made.alt == (
        "prod-weu: in use, wanted, limit. DSv5 vCPUs in westeurope: limit 200; 196 in use, 8 wanted: pool apps; "
        "196 + 8 = 204 of 200 cores: 4 short."
    )
    assert [(part.count, part.wanted) for part in chart.bars[0].parts] == [(196, False), (8, True)]


def test_many_who_want_something_are_one_part_and_many_limits_are_cut() -> None:
    crowd = headroom("addresses", "addresses", 10, [("in use", 9)], [(f"pool p{n}", 2) for n in range(7)])
    _, chart = bars(*[crowd] * (MOST_BARS + 2))
    assert len(chart.bars) == MOST_BARS
    wanted = [part for part in chart.bars[0].parts if part.wanted]
    assert len(wanted) == MOST_WANTING + 1
    assert wanted[-1].label == "wanted: 3 others"
    assert sum(part.count for part in wanted) == 14


# -- causes ---------------------------------------------------------------------------------------------------


def test_consequences_stand_below_the_nearest_cause() -> None:
    diagnosis = chain(("rule", None), ("nodes", "rule"), ("pool", "rule"), ("pool", "nodes"), ("cluster", "pool"))
    assert outline(diagnosis) == ["rule", "  nodes", "    pool", "      cluster"]


def test_the_tree_says_in_words_what_leads_to_what() -> None:
    made = causes_of(chain(("rule", None), ("nodes", "rule"), ("pool", "nodes"), ("cluster", "pool")), library())
    assert made is not None
    assert made.alt == (
        "prod-weu: what causes what. Root cause: code-rule (rule). code-rule leads to: code-nodes (nodes). "
        "code-nodes leads to: code-pool (pool). code-pool leads to: code-cluster (cluster)."
    )


def test_a_verdict_with_few_consequences_and_roots_without_any_have_no_tree() -> None:
    assert causes_of(clear(), library()) is None
    assert causes_of(chain(("rule", None), ("nodes", "rule"), ("pool", "nodes")), library()) is None
    assert causes_of(chain(*((f"root-{n}", None) for n in range(9))), library()) is None


def test_consequences_of_one_kind_are_one_box_with_their_number() -> None:
    pods = [Ranked(Finding("pods", f"shop/Pod/web-{n}", ("so",)), (("code-rule", "RULE"),)) for n in range(12)]
    diagnosis = replace(found(), findings=(*chain(("rule", None)).findings, *pods))
    _, box = drawn_tree(diagnosis).branches
    assert box.title == "pods\u00a0×\u00a012"
    assert box.subject.count("web-") == MOST_NAMED


def test_of_many_boxes_the_rest_is_a_number() -> None:
    diagnosis = chain(("rule", None), *((f"n{number}", "rule") for number in range(20)))
    branches = drawn_tree(diagnosis).branches
    assert len(branches) == MOST_BRANCHES + 1
    assert branches[-1].title == "and 11 more in the answer above"


def test_findings_that_explain_each_other_end_the_tree() -> None:
    loop = chain(("a", "b"), ("b", "a"), ("rule", None), ("x", "rule"), ("y", "rule"), ("z", "rule"))
    assert outline(loop) == ["rule", "  x", "  y", "  z"]


# -- both -----------------------------------------------------------------------------------------------------


def test_what_findings_keep_decides_which_pictures_an_answer_has() -> None:
    assert pictures_of(clear(), library()) == ()
    assert pictures_of(found(), library()) == ()
    limit = short_of(QUOTA)
    pools = tuple(Ranked(Finding("f", f"{POOL}{n}", ("so",)), (("any-limit", "limit-0"),)) for n in range(3))
    with_both = replace(limit, findings=(*limit.findings, *pools))
    assert [picture.name for picture in pictures_of(with_both, library())] == [
        "headroom-prod-weu.png",
        "causes-prod-weu.png",
    ]


@pytest.mark.parametrize("name", ["web", "w" * 300, "$x^{2}$ \\frac", "日本", ""])
async def test_whatever_things_are_called_the_pictures_are_small_and_opaque(name: str) -> None:
    from PIL import Image

    limit = headroom(name, name, 3, [(name, 2)], [(name, 900_000), (name, 1)])
    tree = drawn_tree(chain((f"r{name}", None), *((f"{name}{number}", f"r{name}") for number in range(20))))
    for drawn in (bars(limit, limit, limit)[1], tree):
        assert read_drawn(drawn.as_json()) == drawn
        png = await Drawing().png(drawn)
        assert png is not None
        assert len(png) <= LARGEST
        shown = Image.open(io.BytesIO(png))
        assert shown.width == 812
        assert shown.convert("RGBA").getextrema()[3] == (255, 255), "nothing shines through"


MEASURED = """
from bot.render.pictures.drawing import style
for text in ("a few words that need two lines at least", "w" * 5000, "iiii " * 40, "", " "):
    for bold in (False, True):
        broken = style.lines(text, 150.0, bold=bold)
        assert 1 <= len(broken) <= 2, broken
        assert all(style.width(line, bold=bold) <= 150.0 for line in broken), broken
assert style.lines("w" * 200, 150.0)[0].endswith("…")
assert style.lines("short", 150.0) == ["short"]
"""


async def test_no_line_of_a_picture_is_wider_than_its_room() -> None:
    """In a process: this one must not load matplotlib."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", MEASURED, stderr=asyncio.subprocess.PIPE)
    _, complaint = await process.communicate()
    assert process.returncode == 0, complaint.decode()
