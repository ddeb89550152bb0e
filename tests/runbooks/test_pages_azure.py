"""What the pages about clusters and networks say, state by state."""

from __future__ import annotations

import re

from runbooks.values import extract
from tests.runbooks.pasted import LIBRARY, page, shell_lines


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
