"""Links to public pages: parsed strictly from the front matter, and shown with every page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bot.cli.runbooks import page
from bot.report.catalogue import catalogue
from bot.slack.checks.steps import steps
from bot.slack.inbound import replies
from handlers.model import Finding
from runbooks.head import BadRunbook, Link
from runbooks.library import FURTHER, Library, Runbook
from tests.runbooks.pages import RIGHT, write

OWN = Library.load()
PUBLIC = {
    *("learn.microsoft.com", "kubernetes.io", "github.com"),
    *("azure.github.io", "projectcalico.docs.tigera.io"),
}
TITLE, ADDRESS = "How to ask for a quota", "https://learn.microsoft.com/azure/quotas/quotas-overview"


def linked(address: str = ADDRESS, title: str = TITLE) -> str:
    head = f'links:\n  - title: "{title}"\n    url: "{address}"\nreviewed: 2026-11-18'
    return RIGHT.replace("reviewed: 2026-11-18", head)


def urls(shown: object) -> Iterator[str]:
    """The addresses of all link elements."""
    if isinstance(shown, dict):
        if shown.get("type") == "link":
            yield shown["url"]
        for value in shown.values():
            yield from urls(value)
    elif isinstance(shown, list | tuple):
        for value in shown:
            yield from urls(value)


def test_links_are_read_from_the_head(tmp_path: Path) -> None:
    runbook = Runbook.read(write(tmp_path, linked()))
    assert runbook.links == (Link(TITLE, ADDRESS),)
    assert runbook.head()["links"] == [{"title": TITLE, "url": ADDRESS}]


def test_a_page_needs_none(tmp_path: Path) -> None:
    runbook = Runbook.read(write(tmp_path))
    assert runbook.links == ()
    assert FURTHER not in "\n".join(str(line) for line in page(runbook, 100))
    assert FURTHER not in json.dumps(replies.outline(runbook))


@pytest.mark.parametrize(
    "address",
    ["http://learn.microsoft.com/azure", "javascript:alert(1)", "learn.microsoft.com", "https://a.example/x)[y](z"],
)
def test_what_is_no_https_address_is_refused_by_line(tmp_path: Path, address: str) -> None:
    with pytest.raises(BadRunbook, match="must be an address that begins with https://") as refused:
        Runbook.read(write(tmp_path, linked(address)))
    assert linked(address).split("\n")[refused.value.line - 1].strip().startswith("url:")


@pytest.mark.parametrize("code", [code for code, runbook in OWN.items() if runbook.links])
def test_our_links_lead_to_public_documentation(code: str) -> None:
    hosts = {urlsplit(link.url).hostname for link in OWN[code].links}
    assert hosts <= PUBLIC
    assert len({link.url for link in OWN[code].links}) == len(OWN[code].links)


def test_every_page_of_a_reference_document_has_a_link() -> None:
    of_documents = {code for code, runbook in OWN.items() if any("seed 00" in source for source in runbook.sources)}
    assert {code for code in of_documents if not OWN[code].links} == set()


def test_slack_shows_the_links_at_the_end_of_a_page(tmp_path: Path) -> None:
    runbook = Runbook.read(write(tmp_path, linked()))
    assert list(urls(list(replies.outline(runbook))))[-1] == ADDRESS
    view = steps(runbook, Finding("quota-exceeded", "pool", ("it is so",)))
    assert list(urls(view["blocks"]))[-1] == ADDRESS


def test_the_terminal_shows_the_links_with_their_addresses(tmp_path: Path) -> None:
    shown = "\n".join(
        "".join(text for text, _ in line.pieces) for line in page(Runbook.read(write(tmp_path, linked())), 200)
    )
    assert f"{FURTHER}\n• {TITLE} ({ADDRESS})" in shown


def test_the_catalogue_names_each_page_once_with_its_codes() -> None:
    shown = catalogue(OWN)
    link = OWN["subnet-full"].links[0]
    (line,) = [line for line in shown.split("\n") if line.startswith(f"- [{link.title}]({link.url}): ")]
    assert "subnet-full" in line
