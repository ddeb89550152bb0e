"""The second look: what the encoder sees of a text, when it is asked, and what its word counts for."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.triage.encoder.model import LEARNED, LONGEST, Encoder, seen
from bot.triage.encoder.pieces import END, PAD, START, UNKNOWN, Pieces
from bot.triage.heard import NONE, lessons
from bot.triage.learned import Learned, Reading
from bot.triage.reread import UNSURE, is_unsure, together
from runbooks.library import Library

NAMES = [PAD, UNKNOWN, START, END, "pod", "##s", "can", "##not", "schedule", "'", "t", "a", "##b", "_"]
PIECES = Pieces(NAMES)
FULL = "pods stay pending, the events say no free addresses are left in the subnet"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Pods cannot schedule", "pod ##s can ##not schedule"),
        ("can't", "can ' t"),
        ("pod_a", "pod _ a"),
        ("pôd", "pod"),
        ("podx", "[UNK]"),
        ("pod → a", "pod [UNK] a"),
        ("a" + "b" * 99, "a" + " ##b" * 99),
        ("a" + "b" * 100, "[UNK]"),
        ("", ""),
    ],
)
def test_a_word_is_cut_into_the_longest_pieces_that_are_known(text: str, pieces: str) -> None:
    assert [NAMES[one] for one in PIECES.numbers(text)] == [START, *pieces.split(), END]


def read(text: str) -> Reading:
    found = Encoder.ours().read(text)
    assert found is not None
    return found


def test_it_knows_no_code_that_the_words_do_not_know() -> None:
    """It may know fewer: it is trained less often."""
    known = {*read(FULL).chances, NONE}
    assert known <= {*Learned.load().codes}
    assert len(known) > 60


def test_it_learned_from_most_messages() -> None:
    """Of a tenth it may not have heard yet: `make learn-encoder`."""
    learned = LEARNED.read_text(encoding="utf-8").split()
    assert all(len(mark) == 8 for mark in learned)
    known = {one.mark for one in lessons(Library.load())}
    assert len(known & {*learned}) >= 0.9 * len(known)


def test_it_reads_whole_sentences() -> None:
    """Who asks for a document about a full subnet has none that is full."""
    asks = read("do we have a runbook for subnets that are full? writing the docs for new colleagues")
    assert read(FULL).odds > 2 > asks.odds


def test_the_chances_are_chances_and_the_likeliest_comes_first() -> None:
    chances = list(read(FULL).chances.items())
    assert chances[0][0] in ("subnet-full", "pod-ip-exhaustion")
    assert [chance for _, chance in chances] == sorted((chance for _, chance in chances), reverse=True)
    assert sum(chance for _, chance in chances) == pytest.approx(1)


def test_what_stands_at_the_end_of_a_long_text_counts() -> None:
    calm = "hope everybody had a good weekend, thanks for the cake, the slides of friday are in the folder. "
    assert read(calm * 8 + FULL).odds > read(calm * 8).odds + 1
    assert next(iter(read(calm * 8 + FULL).chances)) in ("subnet-full", "pod-ip-exhaustion")


def test_of_one_much_longer_it_would_see_too_little() -> None:
    assert Encoder.ours().read("a " * (LONGEST // 2)) is not None
    assert Encoder.ours().read("a " * (LONGEST // 2) + "a") is None


def test_of_a_long_text_it_sees_the_beginning_and_the_end() -> None:
    assert seen([*range(128)]) == [*range(128)]
    assert seen([*range(1000)]) == [*range(95), *range(967, 1000)]


@pytest.mark.parametrize("text", ["您好 集群 节点 报错 请 帮忙 看看", "█████ ░░░░ " * 40, "🙂 " * 50])
def test_it_has_no_say_where_it_knows_none_of_the_letters(text: str) -> None:
    assert Encoder.ours().read(text) is None


@pytest.mark.parametrize("text", ["", "\ud800", "\x00", "a" * 5000, "e" + "\u0301" * 3000])
def test_nothing_that_may_be_pasted_breaks_it(text: str) -> None:
    Encoder.ours().read(text)


def test_a_bot_without_a_model_reads_words_alone_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    broken = Encoder(tmp_path / "model.onnx")
    assert [broken.read(FULL), broken.read(FULL)] == [None, None]
    assert [one.getMessage().split(":")[0] for one in caplog.records] == ["messages are read by their words alone"]
    words = Reading(3.0, {"a": 1.0})
    assert together(words, None) is words


def test_threads_that_ask_at_once_get_what_one_gets() -> None:
    texts = [f"{FULL} {n}" for n in range(16)]
    fresh = Encoder()
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(fresh.read, texts)) == [Encoder.ours().read(text) for text in texts]


def test_who_hears_small_talk_only_never_loads_it() -> None:
    script = (
        "import sys\n"
        "from bot.triage.recognise import Recogniser\n"
        "from runbooks.library import Library\n"
        "print(Recogniser(Library.load()).recognise('lunch at the usual place, who comes along?').codes)\n"
        "print('onnxruntime' in sys.modules, 'numpy' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:2] == ["()", "False False"]


def test_it_is_asked_where_the_words_leave_it_open() -> None:
    assert is_unsure(Reading(0.0, {}))
    assert not any(is_unsure(Reading(odds, {})) for odds in UNSURE)


def test_both_together_say_what_both_say() -> None:
    words = Reading(3.0, {"a": 0.6, "b": 0.4, "c": 0.0})
    agreed = together(words, Reading(3.0, {"a": 0.9, "b": 0.1, "c": 0.0}))
    assert next(iter(agreed.chances)) == "a"
    assert agreed.odds > together(words, Reading(-3.0, {"a": 0.9, "b": 0.1})).odds
    disagreed = together(words, Reading(3.0, {"a": 0.05, "b": 0.95}))
    assert next(iter(disagreed.chances)) == "b"
    assert sum(disagreed.chances.values()) == pytest.approx(1)


def test_a_code_that_the_sentence_reader_has_yet_to_learn_is_judged_by_words_alone() -> None:
    words = Reading(3.0, {"new": 0.6, "a": 0.4})
    assert together(words, Reading(-9.0, {"a": 1.0})) is words
    second = together(Reading(3.0, {"a": 0.6, "new": 0.4}), Reading(3.0, {"a": 1.0}))
    assert second.chances["new"] == pytest.approx(0.4 / (0.4 + 0.6**0.6))
