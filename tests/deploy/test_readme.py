"""What deploy/README.md tells people to do can be done: its files are there, its commands and options exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?ms)^```sh\n(.*?)^```$", README)
LINES = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines() if line.strip()]
KUBECTL = sorted({part for line in LINES for part in re.findall(r"kubectl [^|)#]+", line)})
NEVER = "00000000-0000-0000-0000-000000000000"


def test_its_files_are_there() -> None:
    linked = {ROOT / "deploy" / link for link in re.findall(r"\]\((?!http|#)([^)]+)\)", README)}
    named = {ROOT / path for path in re.findall(r"deploy/[\w./-]*\w", README)}
    assert [path for path in (*linked, *named) if not path.exists()] == []


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_shell_understands_it(block: str) -> None:
    assert subprocess.run(["sh", "-n"], input=block, text=True, capture_output=True).stderr == ""


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl on this machine")
@pytest.mark.parametrize("line", KUBECTL)
def test_kubectl_has_the_command_and_its_options(line: str) -> None:
    words = shlex.split(line.partition(" -- ")[0])[1:]
    given = [word.partition("=")[0] for word in words if word.startswith("-")]
    command = [word for word in words if re.fullmatch(r"[a-z-]+", word) and not word.startswith("-")]
    command = [word for word in command if word not in ("aksbot", "prod-weu", "nodes", "list")]
    shown = subprocess.run(["kubectl", *command, "--help"], text=True, capture_output=True).stdout
    everywhere = subprocess.run(["kubectl", "options"], text=True, capture_output=True).stdout
    assert "Usage:" in shown
    for option in given:
        assert re.search(rf"(?m)(^|\s){re.escape(option)}[=,: ]", shown + everywhere), option


@pytest.mark.parametrize(
    ("found", "file", "times"),
    [
        (NEVER, "azure/aksbot-reader.json", 1),
        ("<object-id-of-the-bots-identity>", "kubernetes/reader.yaml", 2),  # its ClusterRole and its Role
        (NEVER, "azure/aksbot-writer.json", 1),
        ("<object-id-of-the-writers-identity>", "kubernetes/writer.yaml", 2),  # its ClusterRole and its Role
        (NEVER, "kubernetes/base/service-account.yaml", 1),
        ("registry.example.com/", "kubernetes/base/kustomization.yaml", 1),
    ],
)
def test_what_it_replaces_stands_in_the_file(found: str, file: str, times: int) -> None:
    """As often as it should, so that nothing else is changed; once a line, because that is what `sed` replaces."""
    lines = (ROOT / "deploy" / file).read_text(encoding="utf-8").splitlines()
    assert [line.count(found) for line in lines if found in line] == [1] * times
    assert any(f"s/{found}/" in line or f"s#{found}#" in line for line in LINES if file in line)
