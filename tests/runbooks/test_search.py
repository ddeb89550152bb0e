"""Pages are found by the words in them, and unknown words get the nearest pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from runbooks.library import Library
from tests.runbooks.pages import RIGHT, write

INDEX = Library.load().index


def made(folder: Path, **titles: str) -> Library:
    """The package's runbooks and some with these titles, by code (`_` for `-`)."""
    for name, title in titles.items():
        code = name.replace("_", "-")
        write(folder, RIGHT.replace("title: The core quota", f"title: {title} quota"), code=code)
    return Library.load(folder)


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("pdb", "pdb-blocks-drain"),
        ("PDB", "pdb-blocks-drain"),
        ("snat", "snat-exhausted"),
        ("disruption budget", "pdb-blocks-drain"),
        ("service principal", "service-principal-expired"),
        ("AADSTS70021", "workload-identity-mismatch"),
        ("reconcil", "reconcile"),
    ],
)
def test_a_page_is_found_by_a_word(asked: str, first: str) -> None:
    assert INDEX.about(asked)[:1] == [first]


def test_a_word_in_the_code_says_more_than_one_in_the_symptoms() -> None:
    found = INDEX.about("quota")
    assert {"quota-exceeded", "namespace-quota-exceeded"} == set(found[:2])
    assert "upgrade-half-done" not in found


def test_every_word_must_be_there(tmp_path: Path) -> None:
    library = made(tmp_path, our_llama="Llama", our_alpaca="Alpaca")
    assert library.index.about("llama") == ["our-llama"]
    assert library.index.about("llama quota") == ["our-llama"]
    assert library.index.about("llama alpaca") == []


def test_a_word_that_stands_only_in_the_sections_finds_the_page_too(tmp_path: Path) -> None:
    write(tmp_path, RIGHT.replace("## Fix\n", "## Fix\nAsk the llama.\n"), code="our-proxy")
    assert Library.load(tmp_path).index.about("llama") == ["our-proxy"]


@pytest.mark.parametrize("asked", ["", "  ", "!?", "zzzz", "pod zzzz"])
def test_what_no_page_has_finds_none(asked: str) -> None:
    assert INDEX.about(asked) == []


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("quota-exeded", "quota-exceeded"),
        ("pdp", "pdb-blocks-drain"),
        ("snatt", "snat-exhausted"),
        ("sertificates", "certificates-expired"),
    ],
)
def test_unknown_words_get_the_nearest_pages(asked: str, near: str) -> None:
    assert INDEX.about(asked) == []
    assert near in INDEX.nearest(asked)
    assert len(INDEX.nearest(asked)) <= 3


def test_words_that_resemble_nothing_get_no_page() -> None:
    assert INDEX.nearest("qqqqqqqq xxxxxxxx") == []


def test_a_very_long_question_is_answered_like_a_short_one() -> None:
    assert INDEX.about("zzzz " * 5_000) == []
    assert INDEX.nearest("z" * 50_000) == []
