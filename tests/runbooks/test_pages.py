"""Every page that a pasted text leads to: recognised by the text, filled in with it, readable without it."""

from __future__ import annotations

import re
import shlex
import time

import pytest

from bot.report.catalogue import FILE, catalogue
from bot.triage.explain import explain
from runbooks.patterns import searchable
from runbooks.values import extract
from tests.runbooks.pasted import GOLDEN, LIBRARY, SAID, WRITE, page, pasted, shell_lines
from tests.runbooks.said_azure import ANOTHERS as OF_AZURE
from tests.runbooks.said_hybrid import ANOTHERS as OF_HYBRID
from tests.runbooks.said_wild import ANOTHERS as IN_THE_WILD

CASES = [(code, text) for code, texts in SAID.items() for text in texts]
PROGRAMS = {"az", "kubectl", "curl", "ping", "nc", "nslookup", "openssl", "export"}
BAITS = ["a" * 50_000, "/subscriptions/" * 3_000, "network " * 6_000, "aso bridge " * 4_000]


def test_every_code_has_a_pasted_text_and_two_ways_to_say_it() -> None:
    assert all(len(texts) >= 2 for texts in SAID.values())
    assert all((GOLDEN / f"{code}.pasted.txt").is_file() for code in SAID)


@pytest.mark.parametrize(("code", "text"), CASES)
def test_a_text_is_recognised_as_the_problem_it_speaks_of(code: str, text: str) -> None:
    found = explain(text, LIBRARY).matches
    assert [match.runbook.code for match in found][:1] == [code]


@pytest.mark.parametrize(("code", "text"), [*OF_AZURE, *OF_HYBRID, *IN_THE_WILD])
def test_a_neighbours_text_is_not_taken_for_it(code: str, text: str) -> None:
    assert code not in [match.runbook.code for match in explain(text, LIBRARY).matches][:1]


@pytest.mark.parametrize(("code", "text"), OF_HYBRID)
def test_a_neighbours_text_does_not_bring_the_page_of_a_site_at_all(code: str, text: str) -> None:
    assert code not in [match.runbook.code for match in explain(text, LIBRARY).matches]


@pytest.mark.parametrize("code", list(SAID))
def test_a_pasted_text_fills_its_page(code: str) -> None:
    explanation = explain(pasted(code), LIBRARY)
    assert explanation.matches[0].runbook.code == code
    shown = page(LIBRARY[code], explanation.facts)
    golden = GOLDEN / f"{code}.md"
    if WRITE:
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", list(SAID))
def test_a_page_reads_without_any_text(code: str) -> None:
    runbook = LIBRARY[code]
    assert extract(runbook, "") == {}
    shown = page(runbook, {})
    assert not re.search(r"\{[{%#]", shown)  # a template that fails is shown as it is written
    assert ("<" in shown) == ("{{" in "".join(runbook.sections.values()))


@pytest.mark.parametrize("code", list(SAID))
def test_a_filled_page_can_be_pasted_into_a_shell(code: str) -> None:
    lines = shell_lines(page(LIBRARY[code], extract(LIBRARY[code], pasted(code))))
    assert {shlex.split(line)[0] for line in lines} <= PROGRAMS


@pytest.mark.parametrize("code", list(SAID))
def test_every_page_a_fix_speaks_of_exists(code: str) -> None:
    """Pages send people on by code; a code that no page has sends them nowhere."""
    for named in re.findall(r"\bsee ([a-z]+(?:-[a-z0-9]+)+)", page(LIBRARY[code], {})):
        assert named in LIBRARY


@pytest.mark.parametrize("code", list(SAID))
@pytest.mark.parametrize("bait", BAITS, ids=[bait[:10].strip() for bait in BAITS])
def test_a_text_made_to_keep_the_matcher_busy_is_read_in_time(code: str, bait: str) -> None:
    runbook = LIBRARY[code]
    began = time.process_time()
    extract(runbook, bait)
    for one in runbook.symptoms.patterns:
        searchable(one.pattern, one.unless).search(bait)
    assert time.process_time() - began < 5  # seconds; without upper ends it would be hours


def test_the_catalogue_is_the_one_of_the_runbooks_and_the_checks() -> None:
    assert FILE.read_text(encoding="utf-8") == catalogue(LIBRARY), "write it: aksbot runbooks catalogue"
