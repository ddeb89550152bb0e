"""Values extracted from pasted text: found, put on one line, and never taking a second of CPU time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from runbooks.library import SECTIONS, Library, Runbook
from runbooks.linear import compile_linear
from runbooks.lint import lint
from runbooks.patterns import LONGEST, longest, searchable
from runbooks.values import ANYWHERE, LONGEST_VALUE, MOST_VALUES, extract, found_in
from tests.runbooks.pages import RIGHT, line_of, write

LIBRARY = Library.load()
VALUES = """\
values:
  limit:
    pattern: "limit of (\\\\d{1,6})"
    example: "the limit of 64"
    placeholder: your-limit
  families:
    pattern: "family (\\\\w{1,40})"
    example: "family DSv5"
    many: yes
"""
ROOMY_S = 2.0
WITH_VALUES = RIGHT.replace("reviewed: 2026-11-18\n", f"reviewed: 2026-11-18\n{VALUES}")


def runbook(folder: Path) -> Runbook:
    return Runbook.read(write(folder, WITH_VALUES))


def test_a_value_is_one_text_and_many_are_a_list(tmp_path: Path) -> None:
    facts = extract(runbook(tmp_path), "limit of 64, limit of 65; family DSv5 and family ESv5")
    assert facts["limit"] == "64"
    assert facts["families"] == ("DSv5", "ESv5")


def test_what_the_text_does_not_give_is_absent(tmp_path: Path) -> None:
    assert extract(runbook(tmp_path), "nothing here") == {}


def test_an_arm_id_in_any_case_gives_its_parts(tmp_path: Path) -> None:
    text = (
        "/subscriptions/0b1c2d3e-4f50-4a61-8b72-93c4d5e6f708/resourcegroups/rg-prod-weu/providers/"
        "Microsoft.ContainerService/managedClusters/prod-weu/agentPools/apps on aks-apps-31415926-vmss00000a"
    )
    facts = extract(runbook(tmp_path), text)
    assert (facts["group"], facts["cluster"], facts["pool"]) == ("rg-prod-weu", "prod-weu", "apps")
    assert (facts["node"], facts["scale_set"]) == ("aks-apps-31415926-vmss00000a", "aks-apps-31415926-vmss")


def test_a_node_resource_group_gives_cluster_group_and_region(tmp_path: Path) -> None:
    facts = extract(runbook(tmp_path), "scale set in MC_rg_of_weu_prod-weu_westeurope failed")
    assert (facts["group"], facts["cluster"], facts["location"]) == ("rg_of_weu", "prod-weu", "westeurope")
    assert facts["node_group"] == "MC_rg_of_weu_prod-weu_westeurope"


def test_quotes_that_json_has_escaped_are_read_too() -> None:
    text = r'{"message":"nodes is forbidden: User \"system:serviceaccount:ops:bot\" cannot list resource \"nodes\""}'
    facts = extract(LIBRARY["api-forbidden-rbac"], text)
    assert (facts["service_account"], facts["verb"], facts["resource"]) == ("bot", "list", "nodes")


def test_a_documents_address_is_not_the_one_that_failed(tmp_path: Path) -> None:
    facts = extract(runbook(tmp_path), "see https://aka.ms/aks-required-ports; GET https://mcr.example.net/v2/ failed")
    assert (facts["url"], facts["host"]) == ("https://mcr.example.net/v2/", "mcr.example.net")


def test_a_value_is_one_short_line() -> None:
    assert found_in(r"<([^>]{1,400})>", f"<a\n  b> <{'x' * 400}>") == ("a b", "x" * LONGEST_VALUE)
    assert found_in(r"<([^>]{1,400})>", "<\x1b[2J>") == ()
    assert len(found_in(r"n(\d{1,4})", " ".join(f"n{number}" for number in range(100)))) == MOST_VALUES


def test_a_page_shows_what_is_known_and_names_the_rest(tmp_path: Path) -> None:
    assert "<your-limit>" in "".join(runbook(tmp_path).outline(section) for section in SECTIONS)
    shown = LIBRARY["public-ip-count-limit"].outline("What it means", {"limit": "50"})
    assert shown.startswith("Subscription <subscription> may have 50 public IP addresses in <location>")


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?!x)a+b",
        r"(?<!x)a*b",
        r"a{3,}b(?!c)",
        r"(?!x)(a{1,9}){1,9}b",
        r"((a|b){0,80}){0,80}(?!c)",
        r"(.{0,80}){4}(?!c)",
    ],
)
def test_an_old_pattern_that_could_take_for_ever_is_never_looked_for(pattern: str) -> None:
    assert longest(pattern) == 0
    assert searchable(pattern).search("xaaaaaaaaab" * 9) is None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?<!not )ready", "it is ready"),
        (r"exit (?!0)\d{1,3}", "exit 1"),
        (r"(\d{1,3}\.){3}\d(?!\d)", "10.0.0.4"),
        (r"(['\"])\w{1,80}\1", "'quoted'"),
    ],
)
def test_an_old_pattern_of_a_team_is_looked_for_in_the_beginning_of_a_text(pattern: str, text: str) -> None:
    assert searchable(pattern).search(text)
    assert searchable(pattern).search("\n" * LONGEST + text) is None
    assert list(searchable(pattern).finditer("\n" * LONGEST + text)) == []


def test_an_old_pattern_costs_no_more_than_was_reckoned() -> None:
    pattern = r"(?!x)a{0,80}a{0,80}b"
    began = time.process_time()
    assert searchable(pattern).search("a" * 60_000) is None
    assert time.process_time() - began < ROOMY_S


def test_a_match_does_not_count_where_what_must_not_stand_there_does() -> None:
    proxy = searchable(r"\bproxy\b.{0,60}?\bcertificate\b", r"kube-proxy")
    assert proxy.search("the kube-proxy lacks a certificate") is None
    assert proxy.search("kube-proxy is well. Our proxy has another certificate")
    assert len(list(proxy.finditer("kube-proxy certificate, proxy certificate, proxy certificate"))) == 2


@pytest.mark.parametrize("name", list(ANYWHERE))
def test_what_every_text_is_searched_for_runs_in_linear_time(name: str) -> None:
    assert compile_linear(ANYWHERE[name]).groups


@pytest.mark.parametrize(
    ("right", "wrong", "where", "what"),
    [
        ('(\\\\d{1,6})"', '(\\\\d{1,6})(?!x)"', "limit of", "cannot be run in linear time"),
        ('(\\\\d{1,6})"', '\\\\d{1,6}"', "limit of", "has no group"),
        ('(\\\\d{1,6})"', '(\\\\d{1,6}"', "limit of", "not a regular expression"),
        ("the limit of 64", "no number", "limit of (", "finds nothing in its example"),
        ("  limit:", "  Limit:", "Limit:", "lower-case words"),
        ("many: yes", "many: often", "often", "yes or no"),
        ('    example: "family DSv5"\n', "", "family (", "lacks `example`"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(tmp_path: Path, right: str, wrong: str, where: str, what: str) -> None:
    assert right in WITH_VALUES
    broken = WITH_VALUES.replace(right, wrong, 1)
    write(tmp_path, broken)
    complaints = lint(tmp_path)
    assert what in complaints[0].what
    assert complaints[0].line == line_of(broken, where)


@pytest.mark.parametrize(
    "bait",
    [
        "a" * 300_000,
        " " * 300_000,
        "/subscriptions/" * 20_000,
        "https://a." * 30_000,
        "az aks " * 40_000,
        "\\" * 300_000,
        "MC_a_b_" * 40_000,
        "dial tcp 10.0.0.1:" * 20_000,
        "exit status=" * 25_000,
    ],
    ids=["letters", "blanks", "ids", "addresses", "commands", "backslashes", "groups", "dials", "codes"],
)
def test_no_text_keeps_a_page_waiting(bait: str) -> None:
    began = time.process_time()
    for one in LIBRARY.values():
        extract(one, bait)
    assert (time.process_time() - began) / len(LIBRARY) < 0.2
