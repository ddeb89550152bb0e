"""Messages that nothing was tuned on: what the messages of tomorrow will meet."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from bot.triage.confidence import unrelated
from bot.triage.recognise import Recogniser
from runbooks.library import Library
from tests.bench.triage import FLEET
from tests.triage.heard import beside, beside_obliquely, heard, heard_obliquely


@pytest.fixture(scope="module")
def recogniser() -> Recogniser:
    return Recogniser(Library.load())


def _missed(recogniser: Recogniser, said: Iterable[tuple[frozenset[str], str]]) -> list[str]:
    return [text for right, text in said if not right & set(recogniser.recognise(text, FLEET).codes[:1])]


def test_of_messages_never_seen_most_are_recognised(recogniser: Recogniser) -> None:
    said = list(heard(held=True))
    missed = _missed(recogniser, said)
    assert len(missed) <= 0.13 * len(said), missed


def test_of_oblique_messages_never_seen_three_in_four_are_recognised(recogniser: Recogniser) -> None:
    said = list(heard_obliquely(held=True))
    missed = _missed(recogniser, said)
    assert len(missed) <= 0.27 * len(said), missed


def test_problems_of_others_never_seen_are_left_alone(recogniser: Recogniser) -> None:
    said = [*beside(held=True), *beside_obliquely(held=True)]
    answered = [text for text in said if recogniser.recognise(text, FLEET).codes]
    assert len(answered) <= 0.04 * len(said), answered


def test_what_is_held_back_is_not_learned_from() -> None:
    learned = set(unrelated())
    assert learned.isdisjoint(beside(held=True))
    assert learned.isdisjoint(beside_obliquely(held=True))


def test_whom_only_the_words_speak_for_is_explained(recogniser: Recogniser) -> None:
    for _, text in heard(held=True):
        assert all(one.why for one in recogniser.recognise(text, FLEET).suspects)
