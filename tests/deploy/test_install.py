"""docs/install.md: the wheel is built and installed without a network, and its entry point runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
COMMANDS = [
    line.partition("#")[0].strip()
    for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", PAGE)
    for line in block.splitlines()
    if line.startswith("aksbot ") and "--version" not in line
]
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")


@pytest.mark.soak
def test_the_wheel_installs_beside_what_it_needs_and_aksbot_runs(tmp_path: Path) -> None:
    """What it depends on is this environment's: a machine without a network has no other."""
    build = (*PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(tmp_path), str(ROOT))
    assert run([sys.executable, *build]).returncode == 0
    (wheel,) = tmp_path.glob("aksbot-*.whl")
    into = tmp_path / "installed"
    install = (*PIP, "install", "--no-deps", "--no-index", "--target", str(into), str(wheel))
    assert run([sys.executable, *install]).returncode == 0
    aksbot, path = str(into / "bin" / "aksbot"), {"PYTHONPATH": str(into)}
    assert run([aksbot, "--version"], path).stdout.startswith("aksbot ")
    assert "complete -o default -F _aksbot aksbot" in run([aksbot, "completion", "bash"], path).stdout
    assert "quota-exceeded" in run([aksbot, "runbooks", "list"], path).stdout


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_page_exists(line: str) -> None:
    words = [word for word in line.split("|")[0].split()[1:] if word.startswith("-") or word.isalpha()]
    told = run([sys.executable, "-m", "bot", *words[:1], "--help"]).stdout
    assert "Usage:" in told
    assert [word for word in words if word.startswith("--") and word not in told] == []


def run(command: list[str], more: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200", **(more or {})}
    return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=300)
