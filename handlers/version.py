"""Kubernetes versions, compared part by part: 1.30 is met by 1.30.10, and 1.30.1 is not."""

from __future__ import annotations

from collections.abc import Iterable


def meets(runs: str, asked: str) -> bool:
    """Whether the running version (`v1.33.6`) is the wanted one; `1.33` leaves the patch to AKS, empty accepts any."""
    wanted, has = parts(asked), parts(runs)
    return has[: len(wanted)] == wanted


def parts(version: str) -> tuple[str, ...]:
    """`v1.33.6-hotfix.2026` is 1, 33, 6: a build suffix makes no other version."""
    plain = version.strip().lower().removeprefix("v").partition("-")[0].partition("+")[0]
    return tuple(plain.split(".")) if plain else ()


def newest(versions: Iterable[str]) -> str:
    """1.31.10 is newer than 1.31.9; the longer number is the larger one."""
    return max(versions, key=lambda version: [(len(part), part) for part in parts(version)])
