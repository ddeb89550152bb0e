"""`make audit`: packages that were not looked up are never called clean. Uses a fake pip-audit."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy import audit
from tests.deploy.test_image import ROOT, pinned

CLEAN = {"name": "redis", "version": "6.1.0", "vulns": []}
VULNERABLE = {
    "name": "aiohttp",
    "version": "3.8.0",
    "vulns": [{"id": "GHSA-1", "fix_versions": ["3.8.5"], "aliases": [], "description": ""}],
}
SKIPPED = {"name": "orjson", "skip_reason": "Dependency not found on PyPI and could not be audited: orjson (3.12.0)"}


def answering(folder: Path, out: str, err: str = "", code: int = 0) -> list[str]:
    program = folder / "pip_audit.py"
    program.write_text(f"import sys\nsys.stdout.write({out!r})\nsys.stderr.write({err!r})\nsys.exit({code})\n")
    return [sys.executable, str(program)]


@pytest.mark.parametrize(
    ("packages", "code", "parts"),
    [
        ([CLEAN, CLEAN], audit.CLEAN, ["2 packages, none"]),
        ([CLEAN, VULNERABLE], audit.VULNERABLE, ["aiohttp 3.8.0: GHSA-1, fixed in 3.8.5"]),
        ([CLEAN, SKIPPED], audit.UNAVAILABLE, ["not audited: orjson", "not found on PyPI"]),
        ([SKIPPED] * 9, audit.UNAVAILABLE, ["not audited: 9 packages"]),
        ([VULNERABLE, SKIPPED], audit.VULNERABLE, ["GHSA-1", "not audited: orjson"]),
        ([], audit.UNAVAILABLE, ["not audited"]),
    ],
)
def test_only_what_was_looked_up_is_clean(
    tmp_path: Path, packages: list[dict[str, Any]], code: int, parts: list[str]
) -> None:
    answer = answering(tmp_path, json.dumps({"dependencies": packages, "fixes": []}), "No known vulnerabilities found")
    found, said = audit.audit(audit.LOCK, answer)
    assert found == code
    assert all(part in said for part in parts)


@pytest.mark.parametrize("err", ["Traceback …\nConnectionError: pypi.org cannot be reached\n", ""])
def test_where_the_advisories_cannot_be_had_it_says_so(tmp_path: Path, err: str) -> None:
    found, said = audit.audit(audit.LOCK, answering(tmp_path, "", err, 1))
    assert found == audit.UNAVAILABLE
    assert said.startswith("not audited: ")
    assert (err.strip().splitlines() or ["said nothing"])[-1] in said


def test_it_looks_at_the_lock_of_the_project_and_is_itself_pinned() -> None:
    assert ROOT / "requirements.lock" == audit.LOCK
    own = pinned(ROOT / "audit.lock")
    assert "pip-audit" in own
    assert all("--hash=sha256:" in entry for entry in own.values())
    assert not any("://" in entry for entry in own.values())
