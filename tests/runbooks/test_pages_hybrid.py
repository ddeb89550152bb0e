"""What the pages about ASO, Nexus sites and resource bridges say, state by state."""

from __future__ import annotations

import re

from runbooks.library import FIX
from runbooks.values import extract
from tests.runbooks.pasted import LIBRARY, page, shell_lines
from tests.runbooks.said_hybrid import SAID


def test_every_page_of_these_families_is_known_by_what_people_paste() -> None:
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


def test_a_value_from_a_text_is_one_word_of_the_command() -> None:
    text = 'Not able to connect to https://mcr.microsoft.com. az arcappliance show -g "rg;reboot" -n br$(reboot)idge'
    shown = page(LIBRARY["arc-url-unreachable"], extract(LIBRARY["arc-url-unreachable"], text))
    for line in shell_lines(shown):
        assert "$(reboot)" not in line
        assert ";reboot" not in re.sub(r"'[^']*'", "", line)


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
