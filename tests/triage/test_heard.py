"""The trained model, and its accuracy on held-out messages."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from bot.triage.decide import Certainty
from bot.triage.model.labelled import NONE, OUR_NAMES, BadMessages, LabelledMessage, labelled_messages
from bot.triage.model.learned import Learned
from bot.triage.recognise import Recogniser
from runbooks.library import Library
from tests.bench.triage import FLEET, scored
from tests.triage.messages import CARDS, KEPT, LEARNED, STRANGERS, THREADS, UNTRAINED, others, problems


@pytest.fixture(scope="module")
def recogniser() -> Recogniser:
    return Recogniser(Library.load())


def test_every_code_has_messages_that_it_is_recognised_by() -> None:
    often = {code: sum(one.code == code for one in LEARNED) for code in Library.load()}
    assert {code: times for code, times in often.items() if times < 20} == {}


def test_messages_name_codes_that_exist() -> None:
    known = {*Library.load(), NONE}
    assert [one for one in (*LEARNED, *KEPT) if not one.right <= known] == []


def test_messages_name_nobodys_cluster() -> None:
    """Who adds a real message makes up its host names anew."""
    made_up = (*OUR_NAMES, "shop-", "lab-", "core-", "media-", "erp-", "hub-")
    host = re.compile(r"([a-z0-9][a-z0-9-]*)-[0-9a-f]{8}(?:\.[0-9a-f-]{36})?(?:\.[a-z0-9]{1,20}){1,3}\.azmk8s\.io")
    assert [
        hit[0] for one in (*LEARNED, *KEPT) for hit in host.finditer(one.text) if not hit[1].startswith(made_up)
    ] == []


def test_messages_hold_no_address_of_a_package() -> None:
    """What pastes an installer's error pastes where it fetches from; here nobody is to fetch anything from there."""
    package = re.compile(r"https?://\S+\.(?:whl|tgz)\b")
    assert [hit[0] for one in (*LEARNED, *KEPT) if (hit := package.search(one.text))] == []


def test_the_weights_lack_no_code() -> None:
    """A new code needs new weights; a line more for one that they know does not."""
    lacking = sorted({*Library.load(), NONE} - {*Learned.load().codes})
    assert lacking == [], "run: make learn"


def test_what_measures_was_not_learned_from() -> None:
    assert {one.text for one in LEARNED}.isdisjoint(one.text for one in KEPT)


def test_of_problems_never_heard_of_most_are_recognised(recogniser: Recogniser) -> None:
    said = [(one, recogniser.recognise(one.text, FLEET).codes) for one in problems(UNTRAINED)]
    first = [one.text for one, codes in said if not one.right & set(codes[:1])]
    first_two = [one.text for one, codes in said if not one.right & set(codes[:2])]
    assert len(first) <= 0.15 * len(said), first
    assert len(first_two) <= 0.11 * len(said), first_two


def test_problems_of_others_never_heard_of_are_left_alone(recogniser: Recogniser) -> None:
    said = others(UNTRAINED)
    answered = [one.text for one in said if recogniser.recognise(one.text, FLEET).codes]
    sure = [text for text in answered if recogniser.recognise(text, FLEET).certainty is Certainty.SURE]
    assert len(answered) <= 0.05 * len(said), answered
    assert len(sure) <= 0.01 * len(said), sure


@pytest.mark.parametrize(
    ("kept", "first_wrong", "first_two_wrong", "answered"), [(THREADS, 0.14, 0.105, 0.065), (CARDS, 0.04, 0.04, 0.055)]
)
def test_threads_and_cards_that_nothing_was_learned_from(
    recogniser: Recogniser,
    kept: tuple[LabelledMessage, ...],
    first_wrong: float,
    first_two_wrong: float,
    answered: float,
) -> None:
    rows = [{"label": one.code, "also": one.also, "text": one.text, "cluster": None} for one in kept]
    score = scored(rows, recogniser)
    assert score.first >= (1 - first_wrong) * score.problems, score
    assert score.first_two >= (1 - first_two_wrong) * score.problems, score
    assert score.answered <= answered * score.others, score


def test_every_answer_is_explained(recogniser: Recogniser) -> None:
    for one in UNTRAINED:
        assert all(suspect.why for suspect in recogniser.recognise(one.text, FLEET).suspects[:1])


def test_messages_keep_their_lines_and_their_other_answers(tmp_path: Path) -> None:
    text = "--- human, also nodepool-failed, none\ntwo lines\n\n and a blank one\n--- kubectl\n --- looks like a mark\n"
    (tmp_path / "subnet-full.txt").write_text(text)
    assert list(labelled_messages(tmp_path)) == [
        LabelledMessage("subnet-full", ("nodepool-failed", "none"), "human", "two lines\n\n and a blank one"),
        LabelledMessage("subnet-full", (), "kubectl", " --- looks like a mark"),
    ]


@pytest.mark.parametrize(
    ("text", "told"), [("--- shouted\nno", ":1: a message is of kind"), ("--- human\n\n--- human\na", ":3:")]
)
def test_a_bad_file_of_messages_is_named_by_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "subnet-full.txt").write_text(text)
    with pytest.raises(BadMessages, match=told):
        list(labelled_messages(tmp_path))


def test_three_wordings_of_a_stranger_for_each_problem_known_by_text_alone_are_recognised(
    recogniser: Recogniser,
) -> None:
    """Whoever wrote them had seen no symptom and no other message."""
    often = Counter(one.code for one in STRANGERS)
    assert set(often.values()) == {3}
    assert set(often) == {code for code in Library.load() if code.startswith("arc-")}
    missed = [one.text for one in STRANGERS if not one.right & set(recogniser.recognise(one.text, FLEET).codes[:1])]
    assert len(missed) <= 0.03 * len(STRANGERS), missed
