"""Checks the packages of a lock for known vulnerabilities, with pip-audit: `make audit`.

pip-audit also succeeds where it could look nothing up. Here only packages that were looked up count as audited.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parents[1] / "requirements.lock"
CLEAN, VULNERABLE, UNAVAILABLE = 0, 1, 69
"""Exit codes; the last one is EX_UNAVAILABLE of sysexits.h."""
PIP_AUDIT = (sys.executable, "-m", "pip_audit")
# The lock lists every package with its hashes, so nothing is resolved or installed.
OPTIONS = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json", "--requirement")

Report = dict[str, Any]


def audit(lock: Path, pip_audit: Sequence[str] = PIP_AUDIT) -> tuple[int, str]:
    """The exit code and the message."""
    done = subprocess.run([*pip_audit, *OPTIONS, str(lock)], capture_output=True, text=True, check=False)  # noqa: S603
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return UNAVAILABLE, f"not audited: {_last_line(done.stderr)}"
    return judged(report)


def judged(report: Report) -> tuple[int, str]:
    """A vulnerability that was found counts, even if other packages could not be looked up."""
    packages = report.get("dependencies", [])
    found, skipped = list(_vulnerabilities(packages)), [package for package in packages if "skip_reason" in package]
    missing = [f"not audited: {_names(skipped)}: {skipped[0]['skip_reason']}"] if skipped else []
    if found:
        return VULNERABLE, "\n".join((*found, *missing))
    if missing or not packages:
        return UNAVAILABLE, "\n".join(missing) or "not audited: the lock names no package for this machine"
    return CLEAN, f"{len(packages)} packages, none with a known vulnerability"


def _vulnerabilities(packages: list[Report]) -> Iterator[str]:
    for package in packages:
        for vulnerability in package.get("vulns", []):
            fixed = ", ".join(vulnerability["fix_versions"]) or "no version yet"
            yield f"{package['name']} {package['version']}: {vulnerability['id']}, fixed in {fixed}"


def _names(packages: list[Report]) -> str:
    names = [str(package["name"]) for package in packages]
    return f"{len(names)} packages" if len(names) > 5 else ", ".join(names)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][-300:] if lines else "pip-audit said nothing"


def main() -> int:
    code, text = audit(LOCK)
    sys.stdout.write(f"{text}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
