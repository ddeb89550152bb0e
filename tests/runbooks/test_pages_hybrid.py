"""The pages about ASO, Nexus sites and resource bridges: recognised by what people paste, and filled in with it."""

from __future__ import annotations

import os
import re
import shlex
import time
from pathlib import Path

import pytest

from bot.explain import explain
from runbooks.library import FIX, SECTIONS, Library, Runbook
from runbooks.values import Facts, extract
from tests.runbooks.said_hybrid import ANOTHERS, SAID

LIBRARY = Library.load()
GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("AKSBOT_WRITE_GOLDEN") == "1"
CASES = [(code, text) for code, texts in SAID.items() for text in texts]
PROGRAMS = {"az", "kubectl", "curl", "ping", "nc", "nslookup", "openssl", "export"}


def page(runbook: Runbook, facts: Facts) -> str:
    sections = (f"## {section}\n{runbook.outline(section, facts)}\n" for section in SECTIONS)
    return "\n".join((f"# {runbook.title}\n", *sections))


def pasted(code: str) -> str:
    return (GOLDEN / f"{code}.pasted.txt").read_text(encoding="utf-8")


def shell_lines(text: str) -> list[str]:
    blocks = re.findall(r"^\s*```sh\n(.*?)^\s*```", text, re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.split("\n") if line.strip()]


def test_every_code_has_a_pasted_text_and_two_ways_to_say_it() -> None:
    families = ("aso-", "hybrid-", "isolation-domain-", "arc-")
    others = {
        "network-failed",
        "network-prefix-overlap",
        "network-vlan-mismatch",
        "default-cni-network-missing",
        "cloud-services-network-missing",
        "cloud-services-network-limit",
        "extended-location-mismatch",
    }
    assert {code for code in LIBRARY if code.startswith(families) or code in others} == set(SAID)
    assert len(SAID) == 39
    assert all(len(texts) >= 2 for texts in SAID.values())
    assert all((GOLDEN / f"{code}.pasted.txt").is_file() for code in SAID)


@pytest.mark.parametrize(("code", "text"), CASES)
def test_a_text_is_recognised_as_the_problem_it_speaks_of(code: str, text: str) -> None:
    found = explain(text, LIBRARY).matches
    assert [match.runbook.code for match in found][:1] == [code]


@pytest.mark.parametrize(("code", "text"), ANOTHERS)
def test_a_neighbours_text_is_not_taken_for_it(code: str, text: str) -> None:
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
    for line in shell_lines(page(LIBRARY[code], extract(LIBRARY[code], pasted(code)))):
        assert shlex.split(line)[0] in PROGRAMS


@pytest.mark.parametrize("code", list(SAID))
def test_every_page_a_fix_speaks_of_exists(code: str) -> None:
    """Pages send people on by code; a code that no page has sends them nowhere."""
    for named in re.findall(r"\bsee ([a-z]+(?:-[a-z0-9]+)+)", page(LIBRARY[code], {})):
        assert named in LIBRARY


def test_a_value_from_a_text_is_one_word_of_the_command() -> None:
    text = 'Not able to connect to https://mcr.microsoft.com. az arcappliance show -g "rg;reboot" -n br$(reboot)idge'
    shown = page(LIBRARY["arc-url-unreachable"], extract(LIBRARY["arc-url-unreachable"], text))
    for line in shell_lines(shown):
        assert "$(reboot)" not in line
        assert ";reboot" not in re.sub(r"'[^']*'", "", line)


@pytest.mark.parametrize("code", list(SAID))
@pytest.mark.parametrize("bait", ["a" * 50_000, "/subscriptions/" * 3_000, "network " * 6_000, "aso bridge " * 4_000])
def test_a_text_made_to_keep_the_matcher_busy_is_read_in_time(code: str, bait: str) -> None:
    runbook = LIBRARY[code]
    began = time.process_time()
    extract(runbook, bait)
    for one in runbook.symptoms.patterns:
        re.search(one.pattern, bait)
    assert time.process_time() - began < 5  # seconds; without upper ends it would be hours


def test_the_kva_page_has_its_six_steps_in_order_and_says_what_the_phase_means() -> None:
    fix = LIBRARY["arc-kva-timeout"].outline(FIX)
    steps = re.findall(r"^(\d)\. \*\*(.+?)\*\*", fix, re.MULTILINE)
    assert [number for number, _ in steps] == list("123456")
    assert [words.split()[0] for _, words in steps] == ["Logs", "Management", "Appliance", "Appliance", "DNS", "DNS"]
    for phase, says in (
        ("ApplyingKvaImageOperator", "400 MB"),
        ("WaitingForAPIServer", "6443"),
        ("WaitingForCluster", "vCenter"),
        ("WaitingForAdditionalComponents", "no_proxy"),
    ):
        assert says in LIBRARY["arc-kva-timeout"].outline("What it means", {"phase": phase})


def test_the_page_of_missing_privileges_lists_them_all() -> None:
    """64 in the document, and one that came later (Customize guest)."""
    fix = LIBRARY["arc-vmware-permissions"].outline(FIX)
    groups = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", fix, re.MULTILINE)
    assert len(groups) == 13
    assert sum(len(names.split(" · ")) for _, names in groups) == 65


def test_what_the_documents_get_wrong_is_put_right() -> None:
    disabled = LIBRARY["isolation-domain-disabled"]
    assert "l2domain update-admin-state" in disabled.outline(FIX, {"layer": "L2"})
    assert "l3domain" not in disabled.outline(FIX, {"layer": "l2"})
    assert "l3domain update-admin-state" in disabled.outline(FIX)
    providers = LIBRARY["arc-bridge-offline-providers"].sections[FIX]
    assert "Microsoft.ResourceConnector --wait" in providers
    assert "–" not in providers
    assert "cloudservicesnetwork show" in LIBRARY["hybrid-vnet-id-case-mismatch"].sections["Check it yourself"]
