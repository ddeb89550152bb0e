"""YAML that would be disproportionately expensive to parse is rejected with its location."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from handlers.evidence.autoscaling import read_status
from handlers.model import CannotSee
from runbooks.yaml_text import LONGEST, ManyValues, NotPlain, PlainLoader, compose_yaml, load_yaml, read_text

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{other}'] * 9)}]\n" for other, name in zip("abcdefghi", "bcdefghij", strict=True)
)
BOMBS = [
    (LAUGHS, 2, "an alias"),
    ("a: &a [*a]", 1, "an alias (`*name`)"),
    ("a: &a {b: 1}\nc:\n  <<: *a\n", 3, "alias"),
    ("[" * 900_000, 1, "nested more than 50"),
    ("- " * 400_000, 1, "more than 50 levels"),
    ("".join(f"{' ' * depth}a:\n" for depth in range(1000)), 50, "50 levels deep"),
    ("- a\n" * 200_000, 20_000, "more than 20000 values"),
    ("a:\n  1" + ":59" * 300_000, 2, "no number or date has 900001 characters"),
    (f"a: {'9' * 900_000}", 1, "no number"),
    ("a: 1\nb: 2026-02-30", 2, "type timestamp"),
    ("!!int ''", 1, "type int"),
    ("a: !!bool x", 1, "type bool"),
]


@pytest.mark.parametrize(("text", "line", "why"), BOMBS)
def test_what_would_unfold_is_refused_by_line_within_a_second(text: str, line: int, why: str) -> None:
    began = time.process_time()
    with pytest.raises(NotPlain) as caught:
        load_yaml(text)
    assert time.process_time() - began < 1
    assert why in str(caught.value.problem)
    assert caught.value.problem_mark is not None
    assert caught.value.problem_mark.line + 1 == line


def test_the_nodes_are_refused_as_the_values_are() -> None:
    with pytest.raises(NotPlain, match="alias"):
        compose_yaml(LAUGHS)


def test_a_longer_text_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(NotPlain, match="more than 1000000 characters"):
        load_yaml("#" * (LONGEST + 1))


def test_of_a_file_that_is_too_long_only_the_beginning_is_read(tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    with file.open("wb") as sparse:
        sparse.truncate(3_000_000_000)
    text = read_text(file)
    assert len(text) <= 4 * LONGEST + 1
    with pytest.raises(NotPlain, match="characters"):
        load_yaml(text)


def test_yaml_as_people_write_it_is_read() -> None:
    text = "a: [1, 2.5, yes, 2026-11-19]\nb: |\n  two\n  lines\nc: &unused {d: null}\n"
    assert load_yaml(text)["b"] == "two\nlines\n"
    assert load_yaml(text)["a"][:3] == [1, 2.5, True]
    deep = "[" * 50 + "]" * 50
    assert str(load_yaml(deep)) == deep
    assert load_yaml("x" * (LONGEST - 1)) == "x" * (LONGEST - 1)


def test_a_grown_file_may_hold_more_values() -> None:
    text = "- a\n" * (PlainLoader.most_values + 1)
    with pytest.raises(NotPlain, match="20000 values"):
        load_yaml(text)
    assert len(load_yaml(text, ManyValues)) == PlainLoader.most_values + 1


@pytest.mark.parametrize("more", ["x: " + "x " * 490_000, "- a\n" * 19_000 + "# " + "x" * 100_000])
def test_an_autoscalers_status_that_is_longer_than_any_is_none(more: str) -> None:
    began = time.process_time()
    with pytest.raises(CannotSee, match="no status that could be understood"):
        read_status("time: now\nautoscalerStatus: Running\n" + more)
    assert time.process_time() - began < 0.1


def test_an_autoscalers_status_that_would_unfold_is_none() -> None:
    with pytest.raises(CannotSee, match="no status that could be understood"):
        read_status("time: now\nautoscalerStatus: Running\n" + LAUGHS)
