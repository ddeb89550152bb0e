"""The structure of the packages: no folder too wide to read at a glance, and no cycles between sub-packages.

import-linter checks the import directions; this checks what it cannot.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WIDEST = 16
PACKAGES = ("bot", "bot.slack", "handlers", "handlers.clients", "handlers.remedy")


def modules(package: str) -> Iterator[tuple[str, Path]]:
    """Each module of a package, including subpackages, by dotted name."""
    for path in sorted((ROOT / package.replace(".", "/")).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(path: Path) -> Iterator[str]:
    """The dotted names that a module imports, including imports inside functions, which are dependencies too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def room(package: str, dotted: str) -> str | None:
    """The top-level sub-package or module that a dotted name belongs to."""
    if not dotted.startswith(f"{package}."):
        return None
    return dotted.removeprefix(f"{package}.").split(".")[0]


def needs(package: str) -> dict[str, set[str]]:
    """Each sub-package with the sibling packages that it imports."""
    found: dict[str, set[str]] = {}
    for dotted, path in modules(package):
        here = room(package, dotted)
        if here is None:
            continue
        others = {there for name in imported(path) if (there := room(package, name)) is not None}
        found.setdefault(here, set()).update(others - {here})
    return found


@pytest.mark.parametrize("top", ["bot", "handlers/clients", "handlers/remedy/acts"])
def test_no_folder_shows_more_modules_than_one_reads_at_a_glance(top: str) -> None:
    folders = [path.parent for path in (ROOT / top).rglob("__init__.py")]
    counted = {folder.relative_to(ROOT): len([*folder.glob("*.py")]) - 1 for folder in folders}
    assert counted
    assert {folder: width for folder, width in counted.items() if width > WIDEST} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_sub_packages_import_each_other(package: str) -> None:
    packages = needs(package)
    assert len(packages) > 3
    try:
        TopologicalSorter(packages).prepare()
    except CycleError as found:
        pytest.fail(f"{package}: {' -> '.join(found.args[1])}")
