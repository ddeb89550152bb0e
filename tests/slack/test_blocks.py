from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.report.events import Selection
from bot.report.progress import Progress
from bot.slack.checks import view as checks_view
from bot.slack.checks.steps import steps
from bot.slack.kit import limits
from bot.slack.kit.message import Attachment, Pressed
from bot.slack.kit.rich_text import markdown
from handlers.model import Check, Diagnosis, Finding, Outcome, Ranked, Severity, Unavailable, Why
from handlers.problem import Problem
from runbooks.library import Library
from tests.bot import diagnoses
from tests.bot.diagnoses import CLUSTER, POOL, TARGET, library
from tests.slack.limits_held import assert_accepted, assert_blocks_accepted
from tests.slack.reading import read
from tests.slack.surfaces import PRESSED, answer, many

OWN = Library.load()
HOSTILE = "<!channel> `x` ```y``` <https://evil.example|portal> *b* [click](https://evil.example)\u202e\n&"


@pytest.mark.parametrize("number", [1, 7, 60, 200])
@pytest.mark.parametrize("roots", [True, False])
def test_many_findings_fit_and_the_rest_is_in_the_file(number: int, roots: bool) -> None:
    said = checks_view.answer(answer(many(number, roots=roots)), PRESSED, library())
    assert_accepted(said)
    assert len(said.thread) <= checks_view.MOST_THREAD_MESSAGES
    if number >= 60:
        assert isinstance(said.file, Attachment)
        assert "more" in read(said.thread[-1]) or "cut" in read(said.thread[-1])
        assert all(f"pool{n}" in said.file.text for n in range(number))


def test_an_error_of_forty_thousand_characters_is_cut_says_so_and_is_whole_in_the_file() -> None:
    error = "Azure said: " + "Internal server error, try later. " * 1200 + "THE END"
    said = checks_view.answer(answer(many(1, error)), PRESSED, library())
    assert_accepted(said)
    assert "(cut)" in read(said.thread[0])
    assert "aksbot-prod-weu.txt" in read(said.thread[-1])
    assert isinstance(said.file, Attachment)
    assert error in said.file.text


def test_nothing_is_said_to_be_cut_where_nothing_is() -> None:
    said = checks_view.answer(answer(diagnoses.clear()), PRESSED, library())
    assert said.file is None
    assert "cut" not in read(said)


def test_what_could_not_be_seen_is_shown_with_the_permission_that_would_show_it() -> None:
    shown = read(checks_view.answer(answer(diagnoses.found()), PRESSED, library()))
    assert "resource locks" in shown
    assert "grant `Microsoft.Authorization/locks/read`" in shown


def test_an_answer_that_saw_too_little_is_no_all_clear() -> None:
    said = checks_view.answer(answer(diagnoses.blind()), PRESSED, library())
    assert "no all-clear" in read(said.head)
    assert "green" not in json.dumps(said.head.blocks)


def test_causes_come_before_consequences() -> None:
    shown = read(checks_view.answer(answer(diagnoses.found()), PRESSED, library()))
    thread = shown[shown.index("THREAD") :]
    assert thread.index("core quota") < thread.index("What follows from it") < thread.index("Could not see")


def test_in_a_thread_the_only_cause_is_named_once_right_below() -> None:
    one = checks_view.answer(answer(many(1)), PRESSED, OWN, in_thread=True)
    elsewhere = checks_view.answer(answer(many(1)), PRESSED, OWN)
    assert one.thread == elsewhere.thread
    assert len(read(one.head)) < len(read(elsewhere.head))
    several = checks_view.answer(answer(many(3)), PRESSED, library(), in_thread=True)
    assert several.head.blocks[:-1] == checks_view.answer(answer(many(3)), PRESSED, library()).head.blocks[:-1]


def test_the_first_cause_can_be_acted_on_from_the_head_but_not_twice_in_a_row_in_a_thread() -> None:
    def labels(in_thread: bool) -> list[str]:
        head = checks_view.answer(answer(diagnoses.found()), PRESSED, library(), in_thread=in_thread).head
        return [one["text"]["text"] for one in head.blocks[-1]["elements"]]

    assert labels(False) == ["Show the steps", *labels(True)]
    assert "Show the steps" not in labels(True)


def test_who_asked_is_called_by_a_new_message_whose_text_is_the_first_line() -> None:
    said = checks_view.answer(answer(diagnoses.found()), PRESSED, library())
    called = checks_view.calling(said, ["U0REQUESTER"])
    assert "U0REQUESTER" in json.dumps(called.thread[0].blocks)
    assert "U0REQUESTER" not in json.dumps(called.head.blocks)
    assert called.thread[0].text.startswith("`prod-weu` cannot add nodes to pool `apps`")
    assert_accepted(called)
    nothing = checks_view.answer(answer(diagnoses.beside()), PRESSED, library())
    assert checks_view.calling(nothing, ["U0REQUESTER"]) == nothing


def test_hostile_names_and_texts_stay_text() -> None:
    finding = Finding("quota-exceeded", f"/subscriptions/{HOSTILE}", (HOSTILE,), severity=Severity.WARNING)
    hidden = Unavailable(HOSTILE, Why.FAILED, HOSTILE, HOSTILE)
    check = Check(HOSTILE, (HOSTILE,), Outcome.CRASHED, HOSTILE, 0.1, (), (hidden,))
    target = replace(TARGET, id=replace(TARGET.id, name=HOSTILE))
    diagnosis = Diagnosis(target, (Ranked(finding),), (check,), (hidden,), 1.0)
    said = checks_view.answer(answer(diagnosis), PRESSED, library())
    assert_accepted(said)
    assert_accepted(checks_view.checks(answer(diagnosis), library()))
    assert_accepted(checks_view.started(HOSTILE))
    assert_accepted(checks_view.progress(Progress(HOSTILE, (1, 2), (1, 2), (HOSTILE,), (HOSTILE,))))
    assert_accepted(checks_view.failed(Problem(HOSTILE, HOSTILE, HOSTILE), PRESSED))
    urls = re.findall(r'"url": "([^"]*)"', json.dumps([message.blocks for message in said.thread]))
    assert [url for url in urls if "evil" in url] == []


def test_a_link_of_the_runbook_is_a_link_and_one_from_a_fact_is_not() -> None:
    source = "See [how to ask](https://learn.microsoft.com/azure/quotas). Azure said: {{ message }}"
    filled = source.replace("{{ message }}", "[how to ask](https://evil.example) `x`")
    links = [one for element in markdown(filled, source) for one in element["elements"] if one["type"] == "link"]
    assert [one["url"] for one in links] == ["https://learn.microsoft.com/azure/quotas"]


def test_a_command_of_a_runbook_is_shown_letter_by_letter() -> None:
    (fence,) = markdown("```sh\naz vm list --query \"[?name=='x']\" > <file> & `date`\n```", "")
    assert fence["elements"][0]["text"] == "az vm list --query \"[?name=='x']\" > <file> & `date`"


@pytest.mark.parametrize("code", sorted(OWN))
def test_every_runbook_fits_into_its_window(code: str) -> None:
    view = steps(OWN[code], Finding(code, POOL, ("it is so",)))
    assert len(view["title"]["text"]) <= limits.VIEW_TITLE
    assert_blocks_accepted(view["blocks"], limits.BLOCKS_IN_VIEW)


def test_a_button_carries_enough_to_ask_again() -> None:
    pressed = Pressed("request-1", CLUSTER, Selection("network", None), "subnet-full")
    assert Pressed.load(pressed.dump()) == pressed
    assert pressed.dump().count(",") == 4  # a button that an earlier version has posted still works
    with_detectors = replace(pressed, scope=Selection("network", None, detectors=True))
    assert Pressed.load(with_detectors.dump()) == with_detectors


@given(st.text(max_size=3000), st.text(max_size=3000))
def test_a_button_never_carries_too_much(cluster: str, area: str) -> None:
    value = Pressed("request-1", cluster, Selection(area)).dump()
    assert len(value) <= limits.BUTTON_VALUE
    assert Pressed.load(value).request == "request-1"


anything = st.one_of(
    st.text(max_size=60),
    st.sampled_from([HOSTILE, "x" * 40_000, "&" * 5000, "`" * 4000, "", " ", "\n", "\u200b", "\ud800", "名" * 3500]),
)
unseen = st.builds(Unavailable, anything, st.sampled_from(Why), anything, st.none() | anything)
findings = st.builds(
    Finding,
    st.sampled_from(["quota-exceeded", "nodepool-failed", "x" * 300, HOSTILE]),
    anything | st.sampled_from([POOL, CLUSTER]),
    st.lists(anything, min_size=1, max_size=20).map(tuple),
    severity=st.sampled_from(Severity),
)
checks = st.builds(
    Check,
    anything,
    st.lists(anything, min_size=1, max_size=3).map(tuple),
    st.sampled_from(Outcome),
    anything,
    st.just(0.1),
    unseen=st.lists(unseen, max_size=3).map(tuple),
)


@st.composite
def reports(draw: st.DrawFn) -> Diagnosis:
    few = draw(st.lists(findings, max_size=6))
    all_of_them = few * draw(st.sampled_from([1, 1, 40]))
    ranked = tuple(Ranked(one, draw(st.just(()) | st.just((("a", "b"),)))) for one in all_of_them)
    some_checks = tuple(draw(st.lists(checks, max_size=8)))
    hidden = tuple(draw(st.lists(unseen, max_size=6))) * draw(st.sampled_from([1, 30]))
    target = replace(TARGET, id=replace(TARGET.id, name=draw(anything)))
    return Diagnosis(target, ranked, some_checks, hidden, 1.0)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(reports(), st.booleans())
def test_slack_takes_whatever_was_found(diagnosis: Diagnosis, durable: bool) -> None:
    given_answer = answer(diagnosis, age=timedelta(seconds=70), durable=durable)
    assert_accepted(checks_view.answer(given_answer, PRESSED, library()))
    assert_accepted(checks_view.checks(given_answer, library()))


@settings(max_examples=100, deadline=None)
@given(anything, anything, anything, st.booleans())
def test_slack_takes_whatever_went_wrong(what: str, why: str, do: str, gave_up: bool) -> None:
    assert_accepted(checks_view.failed(Problem(what, why, do), PRESSED, gave_up=gave_up))
    assert_accepted(checks_view.progress(Progress(what, (1, 3), (2, 4), (why,) * 60, (do,) * 60), plan=gave_up))
    assert_accepted(checks_view.started(what, timedelta(seconds=3), durable=gave_up))
