"""How the set-up script of a node can end: the table of `cse_exit_codes.yaml`, for its runbook and its check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from runbooks.yaml_text import load_yaml

_TABLE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True, slots=True)
class ExitCode:
    """One way to end."""

    number: int
    name: str
    """As the script calls it, without its prefix."""
    means: str
    family: str


@cache
def families() -> Mapping[str, list[dict[str, Any]]]:
    """By operating system, each with what helps; what the runbook shows."""
    table = load_yaml(_TABLE.read_text(encoding="utf-8"))
    return {
        system: [
            {
                **item,
                "codes": {str(number): means for number, (_, means) in item["codes"].items()},
                "names": dict(item["codes"].values()),
            }
            for item in table[system]
        ]
        for system in table
    }


@cache
def _every() -> Mapping[str, tuple[ExitCode, ...]]:
    return {system: tuple(_codes(rows)) for system, rows in load_yaml(_TABLE.read_text(encoding="utf-8")).items()}


def _codes(rows: list[dict[str, Any]]) -> Iterator[ExitCode]:
    for row in rows:
        for number, (name, means) in row["codes"].items():
            yield ExitCode(number, name, means, row["family"])


def exit_code(number: int, *, windows: bool) -> ExitCode | None:
    """What a number means."""
    return next((pod for pod in _every()["windows" if windows else "linux"] if pod.number == number), None)


def called(name: str) -> ExitCode | None:
    """What AKS calls by a name: `K8SAPIServerConnFailVMExtensionError` is exit code 51 of Linux nodes."""
    plain = name.lower().replace("vmextensionerror", "").replace("_", "")
    return next((code for code in _every()["linux"] if plain and code.name.lower().replace("_", "") == plain), None)
