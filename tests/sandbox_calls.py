"""Raw HTTP calls to the sandbox's servers, without our own clients."""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp


@dataclass
class Answer:
    """One complete response."""

    status: int
    headers: Any
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)


def trusting(ca_file: Path, *, shown: Path | None = None, **options: Any) -> aiohttp.ClientSession:
    """A session that trusts one server, optionally with a client certificate."""
    context = ssl.create_default_context(cafile=str(ca_file))
    if shown:
        context.load_cert_chain(shown)
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context), **options)
