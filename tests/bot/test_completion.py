"""`aksbot completion`: the words of every command, as a shell offers them."""

from __future__ import annotations

import shutil
import subprocess
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import typer

from bot.checks.remedies import remedy_names
from bot.cli.completion.scripts import bash, fish, zsh
from bot.cli.completion.words import SHELLS, Spoken, spoken
from bot.cli.main import app
from tests.bot.conftest import Here

ROOT: Any = typer.main.get_command(app)


@pytest.fixture(scope="module")
def commands() -> list[Spoken]:
    return spoken(ROOT)


@pytest.fixture(scope="module")
def script(commands: list[Spoken], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "aksbot.bash"
    file.write_text(bash(commands), encoding="utf-8")
    return file


def offered(script: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    asked = 'source "$1"; shift; COMP_WORDS=(aksbot "$@"); COMP_CWORD=$#; _aksbot; printf "%s\\n" "${COMPREPLY[@]}"'
    run = subprocess.run(["bash", "-c", asked, "bash", str(script), *words], capture_output=True, text=True)
    assert run.stderr == ""
    return run.stdout.split()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("che",), ["check"]),
        (("runbooks", ""), ["catalogue", "lint", "list", "show", "--help"]),
        (("runbooks", "show", "subnet"), ["subnet-full"]),
        (("check", "prod-weu", "net"), ["network"]),
        (("check", "prod-weu", "rb"), ["rbac"]),
        (("check", "prod-weu", "--area", "net"), ["network"]),
        (("check", "prod-weu", "--rec"), ["--record"]),
        (("check", "prod-weu", "-o", ""), ["text", "json"]),
        (("serve", "--role", "w"), ["web", "worker"]),
        (("plan", "prod-weu", "reconcile-p"), ["reconcile-pool"]),
        (("policy", "explain", "prod-weu", "--remedy", "reconcile-p"), ["reconcile-pool"]),
        (("drill", "healthy-f"), ["healthy-fleet"]),
        (("completion", "z"), ["zsh"]),
        (("nothing-like-it", "--nothing"), []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bash_offers_what_may_follow(script: Path, words: tuple[str, ...], wanted: list[str]) -> None:
    assert offered(script, *words) == wanted


def test_bash_offers_files_where_one_is_named(script: Path, tmp_path: Path) -> None:
    (tmp_path / "case.zip").touch()
    assert offered(script, "check", "prod-weu", "--record", f"{tmp_path}/c") == [f"{tmp_path}/case.zip"]


def test_every_command_and_option_is_there_and_every_choice_has_its_values(commands: list[Spoken]) -> None:
    by_path = {command.path: command for command in commands}

    def walk(command: Any, path: str) -> None:
        said = by_path[path]
        for option in command.params:
            if option.param_type_name != "option":
                continue
            names = [name for name in option.opts if name.startswith("--")]
            assert set(names) <= set(said.words), path
            choices = option.type_descriptor.annotation
            if isinstance(choices, type) and issubclass(choices, Enum):
                assert set(said.values[names[0]]) == {choice.value for choice in choices}
        for name, child in getattr(command, "commands", {}).items():
            assert name in said.words
            walk(child, f"{path} {name}".strip())

    walk(ROOT, "")
    assert set(by_path["plan"].words) >= remedy_names()


def test_all_shells_get_the_same_words(commands: list[Spoken]) -> None:
    for command in commands:
        for word in command.words:
            assert f" {word}" in zsh(commands) or f'"{word}' in zsh(commands)
            assert (f"-l {word[2:]}" if word.startswith("--") else word) in fish(commands)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_itself_can_read_its_script(here: Here, shell: str) -> None:
    ran = here("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine")
    read = subprocess.run([shell, "-n"], input=ran.out, capture_output=True, text=True)
    assert (read.returncode, read.stderr) == (0, "")


def test_another_shell_is_refused_by_name(here: Here) -> None:
    ran = here("completion", "tcsh")
    assert ran.code == 64
    assert "'bash', 'zsh', 'fish'" in " ".join(ran.err.split())
