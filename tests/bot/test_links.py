"""Where people look from under a finding: the portal of this cloud, and what the policy names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.policy.file import load, read
from bot.render.links import Links, LinkTemplate, portal_of
from bot.slack.checks import view as checks_view
from handlers.model import Finding
from handlers.resource_id import ResourceId
from tests.bot import diagnoses
from tests.bot.diagnoses import CLUSTER, LOCK, POOL, USAGE, library
from tests.slack.reading import read as shown
from tests.slack.surfaces import PRESSED, answer

ID = ResourceId.parse(CLUSTER)
PUBLIC = Links(portal_of("https://management.azure.com"))
GRAFANA = LinkTemplate("Grafana", "https://grafana.example.com/d/aks?var-cluster={cluster}&var-ns={namespace}")
VNET = f"{diagnoses.SUBSCRIPTION}/resourceGroups/rg-net/providers/Microsoft.Network/virtualNetworks/vnet"


def about(subject: str, code: str = "quota-exceeded") -> Finding:
    return Finding(code, subject, ("it is so",))


def portal(subject: str, links: Links = PUBLIC) -> str:
    return dict(links.of(about(subject), ID)).get("Portal", "")


@pytest.mark.parametrize(
    ("resource_manager", "portal"),
    [
        ("https://management.azure.com/", "https://portal.azure.com"),
        ("https://management.usgovcloudapi.net", "https://portal.azure.us"),
        ("https://management.chinacloudapi.cn", "https://portal.azure.cn"),
        ("https://management.local.azurestack.external", ""),
    ],
)
def test_each_cloud_has_its_own_portal_and_an_unknown_one_none(resource_manager: str, portal: str) -> None:
    assert portal_of(resource_manager) == portal
    links = dict(Links(portal_of(resource_manager)).of(about(CLUSTER), ID))
    assert all(url.startswith(f"{portal}/#resource{CLUSTER}/") for url in links.values())
    assert bool(links) == bool(portal)


@pytest.mark.parametrize(
    ("subject", "page"),
    [
        (CLUSTER, f"{CLUSTER}/overview"),
        (POOL, f"{CLUSTER}/nodePools"),
        (f"{VNET}/subnets/nodes", f"{VNET}/subnets"),
        (VNET, f"{VNET}/overview"),
        (LOCK, f"{LOCK.partition('/providers/')[0]}/locks"),
        ("shop/Deployment/checkout", f"{CLUSTER}/overview"),
        ("/providers/Microsoft.Management/managementGroups/mg/providers/x/y/z", f"{CLUSTER}/overview"),
    ],
)
def test_the_portal_opens_the_page_of_the_subject_or_of_what_lists_it(subject: str, page: str) -> None:
    assert portal(subject) == f"https://portal.azure.com/#resource{page}"


def test_a_quota_leads_to_the_quotas_and_everything_to_the_activity_log_of_the_cluster() -> None:
    links = dict(PUBLIC.of(about(USAGE), ID))
    assert "QuotaMenuBlade" in links["Quotas"]
    assert links["Activity log"].endswith(f"{CLUSTER}/eventlogs")
    assert "Quotas" not in dict(PUBLIC.of(about(POOL), ID))


def test_a_link_of_the_policy_is_filled_in_and_left_out_where_it_has_nothing_to_name() -> None:
    links = Links(templates=(GRAFANA,))
    inside = links.of(about("shop/Deployment/check out&x=1"), ID)
    assert inside == [("Grafana", "https://grafana.example.com/d/aks?var-cluster=prod-weu&var-ns=shop")]
    assert links.of(about(POOL), ID) == []
    elsewhere = Links(templates=(replace(GRAFANA, clusters=("staging-*",)),))
    assert elsewhere.of(about("shop/Deployment/checkout"), ID) == []


def test_a_name_cannot_break_out_of_its_place_in_a_link() -> None:
    links = Links(templates=(LinkTemplate("Logs", "https://logs.example.com/?q={name}"),))
    ((_, url),) = links.of(about("shop/Deployment/a&b=c#d|e>"), ID)
    assert url == "https://logs.example.com/?q=a%26b%3Dc%23d%7Ce%3E"


def test_the_links_stand_under_the_cause_in_the_thread() -> None:
    links = Links(PUBLIC.portal, (LinkTemplate("Grafana", "https://grafana.example.com/?c={cluster}"),))
    said = checks_view.answer(answer(diagnoses.found()), PRESSED, library(), links=links)
    text = shown(said.thread[0])
    assert "Quotas" in text
    assert "https://grafana.example.com/?c=prod-weu" in text
    assert "Portal" not in shown(checks_view.answer(answer(diagnoses.found()), PRESSED, library()))


def test_the_policy_names_links_and_is_refused_where_one_cannot_be_filled_in(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("links:\n  - title: Grafana\n    url: https://g.example.com/{cluster}\n    clusters: [prod-*]\n")
    assert [rule.template for rule in load(file).links] == [
        LinkTemplate("Grafana", "https://g.example.com/{cluster}", ("prod-*",))
    ]
    for url, why in (("http://g.example.com", "url"), ("https://g.example.com/{pod}", "{pod}")):
        file.write_text(f"links:\n  - title: Grafana\n    url: {url}\n")
        _, complaints = read(file)
        assert [complaint.line for complaint in complaints] == [3]
        assert why in complaints[0].what
