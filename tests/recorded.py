"""Recorded responses of live Azure, if available: `AKSBOT_TEST_WIRE`, or `shared/wire` next to the checkout."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_BESIDE = Path(__file__).parent.parent.parent / "shared" / "wire"
DATA = Path(os.environ.get("AKSBOT_TEST_WIRE", _BESIDE)) / "data"

needed = pytest.mark.skipif(not DATA.is_dir(), reason="no recorded Azure answers here (AKSBOT_TEST_WIRE)")


@cache
def answer(name: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return whole


def body(name: str) -> Any:
    return answer(name)["body"]


def names(*prefixes: str, status: int | None = None) -> list[str]:
    """The names of GET recordings with this prefix; empty if there are no recordings."""
    found = sorted(file.stem for file in DATA.glob("*.json") if file.stem.startswith(prefixes))
    gets = [name for name in found if answer(name).get("request", {}).get("method") == "GET"]
    return [name for name in gets if status is None or answer(name)["status"] == status]
