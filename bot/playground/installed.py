"""Whether the sandbox can be used here. Knows none of it, so that its absence can be told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from handlers.problem import Problem


@contextmanager
def needs_the_sandbox() -> Iterator[None]:
    """Around the import of whatever uses it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        why = f"the Python package {missing.name} is not installed"
        raise Problem("cannot start the sandbox", why, "pip install 'aksbot[sandbox]'") from missing
