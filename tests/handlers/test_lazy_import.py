"""A heavy library is imported at its first use, and the cycle collector is as it was afterwards, whatever happened."""

from __future__ import annotations

import asyncio
import gc
import sys

import pytest

from handlers.lazy_import import imported


async def test_two_that_want_a_library_at_once_get_the_same_one() -> None:
    first, second = await asyncio.gather(imported("wsgiref.handlers"), imported("wsgiref.handlers"))
    assert first is second is sys.modules["wsgiref.handlers"]
    assert gc.isenabled()


async def test_a_library_that_cannot_be_imported_leaves_the_collector_on() -> None:
    with pytest.raises(ModuleNotFoundError):
        await imported("handlers.no_such_module")
    assert gc.isenabled()


async def test_a_collector_that_somebody_switched_off_stays_off() -> None:
    gc.disable()
    try:
        await imported("wsgiref.validate")
        assert not gc.isenabled()
    finally:
        gc.enable()
