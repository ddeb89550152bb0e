"""Values out of raw answers: one body, or the pages of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handlers.clients.addresses import follow, source_of, wanted_at
from handlers.clients.answers import Answer, Listing
from handlers.clients.errors import Garbled

if TYPE_CHECKING:
    from handlers.clients.response import SeenResponse

NEXT = ("nextLink", "@odata.nextLink")


def answer_of(seen: SeenResponse) -> Answer:
    return Answer(seen.json(), _source(seen), seen.taken_at, dict(seen.headers))


def listing_of(pages: list[SeenResponse], items: list[Any], most: int, *, cut: bool) -> Listing:
    return Listing(tuple(items[:most]), _source(pages[0]), pages[0].taken_at, cut or len(items) > most)


def _source(seen: SeenResponse) -> str:
    asked = source_of(seen.request.method, seen.request.url)
    return f"{asked} (this cloud does not offer {seen.instead_of})" if seen.instead_of else asked


def rows_of(page: SeenResponse) -> list[Any]:
    """The rows of one page. An answer without a list is an error, not an empty list."""
    body = page.json()
    rows = body.get("value") if isinstance(body, dict) else None
    if not isinstance(rows, list):
        raise Garbled(wanted_at(page.request.url), "the answer holds no list", status=page.status_code)
    return rows


def next_of(endpoint: str, page: SeenResponse) -> str | None:
    """The address of the next page; None on the last. A link that cannot be followed does not end the list."""
    body = page.json()
    link = next((body[name] for name in NEXT if body.get(name)), None)
    return follow(endpoint, link, wanted_at(page.request.url)) if link else None
