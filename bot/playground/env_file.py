"""Writes the sandbox's environment to a file, for programs that wait for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handlers.problem import Exit, Problem


@contextmanager
def written(file: Path | None, environment: dict[str, str]) -> Iterator[None]:
    """The file exists while the sandbox serves. It appears atomically: a program may be waiting for it."""
    if file is None:
        yield
        return
    text = "".join(f"{key}={value}\n" for key, value in environment.items())
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        # It holds a secret, if only the sandbox's.
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            out.write(text)
        beside.replace(file)
    except OSError as refused:
        beside.unlink(missing_ok=True)
        why = refused.strerror or str(refused)
        do = "name a file in a folder you may write to"
        raise Problem(f"cannot write the environment to {file}", why, do, code=Exit.USAGE) from refused
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
