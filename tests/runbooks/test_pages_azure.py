"""The pages about clusters and networks: recognised by what people paste, and filled in with what the text gives."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from bot.catalogue import FILE, catalogue
from bot.explain import explain
from runbooks.library import SECTIONS, Library, Runbook
from runbooks.values import extract
from tests.runbooks.said_azure import ANOTHERS, SAID

LIBRARY = Library.load()
GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("AKSBOT_WRITE_GOLDEN") == "1"
CASES = [(code, text) for code, texts in SAID.items() for text in texts]


def page(runbook: Runbook, facts: dict[str, object]) -> str:
    sections = (f"## {section}\n{runbook.outline(section, facts)}\n" for section in SECTIONS)
    return "\n".join((f"# {runbook.title}\n", *sections))


def pasted(code: str) -> str:
    return (GOLDEN / f"{code}.pasted.txt").read_text(encoding="utf-8")


def shell_lines(text: str) -> list[str]:
    lines, inside = [], False
    for line in text.split("\n"):
        if line.strip().startswith("```"):
            inside = not inside and line.strip() == "```sh"
        elif inside and line.strip():
            lines.append(line.strip())
    return lines


@pytest.mark.parametrize(("code", "text"), CASES)
def test_a_text_is_recognised_as_the_problem_it_speaks_of(code: str, text: str) -> None:
    found = explain(text, LIBRARY).matches
    assert [match.runbook.code for match in found][:1] == [code]


@pytest.mark.parametrize(("code", "text"), ANOTHERS)
def test_a_neighbours_text_is_not_taken_for_it(code: str, text: str) -> None:
    assert code not in [match.runbook.code for match in explain(text, LIBRARY).matches][:1]


@pytest.mark.parametrize("code", list(SAID))
def test_a_pasted_text_fills_its_page(code: str) -> None:
    explanation = explain(pasted(code), LIBRARY)
    assert explanation.matches[0].runbook.code == code
    shown = page(LIBRARY[code], dict(explanation.facts))
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
    assert "<" in shown


@pytest.mark.parametrize("code", list(SAID))
def test_a_filled_page_can_be_pasted_into_a_shell(code: str) -> None:
    lines = shell_lines(page(LIBRARY[code], dict(explain(pasted(code), LIBRARY).facts)))
    assert lines
    assert {shlex.split(line)[0] for line in lines} <= {"az", "kubectl", "curl"}


def test_a_value_from_a_text_is_one_word_of_the_command() -> None:
    text = "OOMKilled, az aks show -g rg$(reboot) -n one in namespace 'a;b' pod x/web-1 on aks-apps-31415926-vmss000002"
    for line in shell_lines(page(LIBRARY["memory-saturation"], {**extract(LIBRARY["memory-saturation"], text)})):
        assert "$(reboot)" not in line.replace("'rg$(reboot)'", "")


def test_the_exit_code_chooses_what_to_do() -> None:
    by_code = {code: LIBRARY["cse-error"].outline("Fix", {"exit_code": code}) for code in ("51", "52", "124", "7777")}
    assert "no connection to the API server" in by_code["51"]
    assert "168.63.129.16" in by_code["52"]
    assert "15 minutes" in by_code["124"]
    assert "is in no list of AKS" in by_code["7777"]
    assert all("exit_code" not in text for text in by_code.values())


def test_without_an_exit_code_the_whole_table_is_shown() -> None:
    whole = LIBRARY["cse-error"].outline("Fix")
    listed = set(re.findall(r"(?:^- |; )(\d{1,3}) ", whole, re.MULTILINE))
    assert {"4", "41", "50", "51", "52", "53", "99", "124", "216", "223"} <= listed
    assert len(listed) > 90


def test_the_pages_say_where_the_evidence_is_and_what_documents_get_wrong() -> None:
    packet = page(LIBRARY["support-packet"], {})
    for said in (
        "Activity log",
        "Diagnostic settings",
        "Diagnose and solve problems",
        "Container insights",
        "Boot diagnostics",
        "Periscope is archived",
        "`az aks kollect` belongs to the extension",
        "`az monitor activity-log show` does not exist",
    ):
        assert said in packet
    assert "Reconciling" in LIBRARY["cluster-failed-infra"].outline("What it means")
    assert "outboundNetworkDependenciesEndpoints" in LIBRARY["outbound-conn-fail"].outline("Check it yourself")
    assert "neither exists on AKS" in LIBRARY["node-cannot-reach-api-server"].outline("Check it yourself")


def test_what_an_identity_lacks_becomes_a_role_that_grants_just_that() -> None:
    who = 'User "system:serviceaccount:ops:bot"'
    text = f'nodes is forbidden: {who} cannot watch resource "nodes" in API group "" at the cluster scope'
    fix = LIBRARY["api-forbidden-rbac"].outline("Fix", {**extract(LIBRARY["api-forbidden-rbac"], text)})
    assert "kind: ClusterRole\n" in fix
    assert 'resources: ["nodes"]\n    verbs: ["watch"]' in fix
    assert "    name: bot\n    namespace: ops\n" in fix


def test_the_catalogue_is_the_one_of_the_runbooks_and_the_checks() -> None:
    assert FILE.read_text(encoding="utf-8") == catalogue(LIBRARY), "write it: aksbot runbooks catalogue"
