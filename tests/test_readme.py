"""What README and CONTRIBUTING refer to exists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
TEXT = "\n".join(page.read_text() for page in PAGES)
AKSBOT = Path(sys.executable).with_name("aksbot")


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`?make ([a-z]+)", TEXT)) - {"s"}))
def test_every_make_target_exists(target: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert target in targets


@pytest.mark.parametrize(
    "command",
    sorted(
        set(
            re.findall(
                r"aksbot (check|support|plan|replay|explain|triage|runbooks|policy|audit|sandbox|serve|demo|drill)\b",
                TEXT,
            )
        )
    ),
)
def test_every_command_explains_itself(command: str) -> None:
    done = subprocess.run([AKSBOT, command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "Usage: aksbot" in done.stdout


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:docs|handlers|runbooks|sandbox|bot|tests)/[\w./-]+)`", TEXT)))
)
def test_every_file_that_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_demo_says_what_the_readme_shows() -> None:
    done = subprocess.run([AKSBOT, "demo", "--once"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    example = re.compile(r"^```\n(prod-weu cannot add nodes.*?)^```", re.DOTALL | re.MULTILINE)
    shown = example.search((ROOT / "README.md").read_text())
    assert shown
    said = set(re.findall(r"\S+", done.stdout))
    missing = [word for word in re.findall(r"\S+", shown[1]) if word not in said and word != "…"]
    assert missing == []


def test_exit_codes_are_those_of_the_program() -> None:
    from handlers.problem import Exit

    told = dict(re.findall(r"(\d+) (clear|found|inconclusive|wrong use|unavailable)", TEXT))
    assert {int(code) for code in told} == {int(code) for code in Exit} & {0, 1, 2, 64, 69}
