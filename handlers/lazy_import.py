"""Imports a heavy library at its first use, off the event loop: Azure's and Kubernetes' clients take 0.1 s each.

The cycle collector is off meanwhile and leaves alone what was made: it would walk the new classes again and again, and
hold the event loop for 0.1 s each time.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_loaded: dict[str, ModuleType] = {}


async def imported(name: str) -> ModuleType:
    """The module of this name."""
    if name not in _loaded:
        with _without_collector():
            _loaded[name] = await asyncio.to_thread(importlib.import_module, name)
    return _loaded[name]


@contextmanager
def _without_collector() -> Iterator[None]:
    if not gc.isenabled():  # who switched it off switches it on
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
