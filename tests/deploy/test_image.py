"""The container image: its rules, and its installation steps run without a container engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from runbooks.library import Library
from tests.deploy.dockerfile import DOCKERFILE, IGNORED, instructions, of

ROOT = DOCKERFILE.parents[1]
BEFORE, BUILD, RUN = -1, 0, 1


def pinned(lock: Path) -> dict[str, str]:
    """Each package of a lock, with its version and hashes."""
    entries = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8").strip())
    return {entry.partition("==")[0]: entry for entry in entries}


def test_the_base_has_a_version_and_is_the_same_for_both_stages() -> None:
    assert {rest.split(" ")[0] for rest in of("FROM")} == {"${BASE}"}
    (base,) = of("ARG", stage=BEFORE)
    assert re.fullmatch(r"BASE=python:3\.\d+-slim", base)


def test_whoever_builds_it_names_the_digest_of_the_base() -> None:
    """None stands here: a digest that nobody looked up would pin nothing that anybody trusts."""
    steps = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    (default,) = of("ARG", stage=BEFORE)
    assert f"imagetools inspect {default.removeprefix('BASE=')} " in steps
    assert '--build-arg "BASE=$BASE"' in steps


def test_it_runs_as_a_numbered_user_and_is_not_root() -> None:
    (user,) = of("USER", stage=RUN)
    assert all(int(number) >= 10_000 for number in user.split(":"))
    words = [one.word for one in instructions() if one.stage == RUN]
    assert "RUN" not in words[words.index("USER") :]


def test_what_hadolint_refuses_is_not_there() -> None:
    assert of("ADD") == []
    for step in of("RUN"):
        assert not re.search(r"\b(sudo|apt|apt-get|curl|wget)\b", step)
        assert not step.startswith("pip install") or "--no-cache-dir" in step
    for word in ("ENTRYPOINT", "CMD"):
        assert all(isinstance(json.loads(form), list) for form in of(word))


def test_every_package_comes_from_a_lock_and_is_checked_against_its_hash() -> None:
    for step in (one for one in of("RUN", stage=BUILD) if one.startswith("pip install")):
        assert "--require-hashes" in step or ("--no-deps" in step and "dist/" in step)


@pytest.mark.parametrize("name", ["run.lock", "build.lock"])
def test_the_locks_of_the_image_are_parts_of_the_projects(name: str) -> None:
    """`make lock` writes all three."""
    whole, part = pinned(ROOT / "requirements.lock"), pinned(ROOT / "deploy" / name)
    versions = {package: entry.split(" ")[0] for package, entry in part.items()}
    assert {package: whole[package].split(" ")[0] for package in part} == versions


def test_the_image_has_what_the_project_depends_on_and_no_tools_of_developers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    inside, extras = pinned(ROOT / "deploy" / "run.lock"), project["optional-dependencies"]
    assert set(project["dependencies"]) <= set(inside)
    assert not {"mypy", "playwright", "pytest", "ruff", "trustme"} & set(inside)
    assert not {"onnxruntime", "scikit-learn", "scipy", "torch"} & set(inside)
    assert {"mypy", "playwright", "pytest", "ruff", "trustme"} <= {*extras["dev"], *extras["sandbox"]}


@pytest.mark.soak
def test_its_steps_install_a_bot_that_works_without_its_source(tmp_path: Path) -> None:
    bare = copied(tmp_path / "src")
    environment = {"HOME": str(tmp_path), "PATH": f"{python_in(tmp_path)}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
    environment |= {key: value for key, value in os.environ.items() if key.startswith("PIP_") or key.endswith("_PROXY")}
    for step in of("RUN", stage=BUILD):
        done = run(["sh", "-ec", step.replace("/install", str(tmp_path / "install"))], bare, environment)
        assert done.returncode == 0, f"{step}\n{done.stderr}"
    (wheel,) = bare.glob("dist/*.whl")
    assert wheel.stat().st_size <= 6_000_000
    shutil.rmtree(bare)

    (installed,) = (tmp_path / "install").glob("lib/python3*/site-packages")
    aksbot = str(tmp_path / "install" / "bin" / "aksbot")
    here = environment | {"PYTHONPATH": str(installed), "AKSBOT_DATA_DIR": str(tmp_path / "data")}
    assert "Usage: aksbot" in run([aksbot, "--help"], tmp_path, here).stdout
    listed = json.loads(run([aksbot, "runbooks", "list", "--output", "json"], tmp_path, here).stdout)
    assert {one["code"] for one in listed} == set(Library.load())
    # The templates and the table of commands are in the wheel, too.
    assert run([aksbot, "runbooks", "lint"], tmp_path, here).returncode == 0
    shown = run([aksbot, "explain", "Failed to allocate IP: subnet is full", "-o", "json"], tmp_path, here)
    assert json.loads(shown.stdout)
    # And so are the weights that messages are recognised by.
    asked = [aksbot, "triage", "--clusters", "prod-weu", "why do my new pods get no address, it worked on monday"]
    heard = run(asked, tmp_path, here)
    assert heard.returncode == 0, heard.stderr
    unset = run([aksbot, "serve"], tmp_path, here)
    assert unset.stderr.startswith("cannot serve\n  why: SLACK_BOT_TOKEN is not set\n  do: ")
    absent = run([aksbot, "sandbox", "healthy-fleet"], tmp_path, here)
    assert absent.stderr.startswith("cannot start the sandbox\n  why: the Python package sandbox")


def copied(folder: Path) -> Path:
    """The files that the build stage copies, as far as the ignore file lets them through."""
    allowed = {line.removeprefix("!") for line in IGNORED.read_text(encoding="utf-8").splitlines() if line[:1] == "!"}
    for *sources, target in (rest.split() for rest in of("COPY", stage=BUILD)):
        for source in sources:
            assert source in allowed
            to = folder / target / (Path(source).name if target.endswith("/") else "")
            to.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, to)
    return folder


def python_in(folder: Path) -> Path:
    """A Python with nothing but pip, as the base image has."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "python")], check=True)
    return folder / "python" / "bin"


def run(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
