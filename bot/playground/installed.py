"""Whether the sandbox can be imported. Imports none of it, so that its absence can be explained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from handlers.problem import Problem


@contextmanager
def needs_the_sandbox() -> Iterator[None]:
    """Wrap the import of anything that uses the sandbox."""
    try:
        yield
    except ModuleNotFoundError as missing:
        why = f"the Python package {missing.name} is not installed"
        do = "in a clone of the repository, run: pip install '.[sandbox]'"
        raise Problem("cannot start the sandbox", why, do) from missing
