"""`aksbot audit verify | show | export`, with and without a running bot."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bot.audit.record import Actor, Entry, What
from bot.audit.store import Audit
from bot.store import keys
from bot.store.connect import connected
from tests.bot.conftest import Here

WHO = Actor("T1", "U1", "somebody")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a bot has left behind: five records."""

    async def fill() -> None:
        async with connected(None, tmp_path / "state") as opened:
            for number in range(5):
                entry = Entry(
                    What.APPROVED, WHO, "/subscriptions/s/prod-weu", remedy="reconcile-pool", reason=f"r{number}"
                )
                await Audit(opened.redis).write(entry)

    asyncio.run(fill())
    monkeypatch.setenv("AKSBOT_DATA_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def test_what_is_whole_is_called_whole(here: Here, state: Path) -> None:
    assert here("audit", "verify").out.strip() == "whole: 5 records"
    ran = here("audit", "verify", "--output", "json")
    assert (ran.code, json.loads(ran.out)["whole"]) == (0, True)


def test_the_first_broken_record_is_named(here: Here, state: Path) -> None:
    async def tamper() -> None:
        async with connected(None, state) as opened:
            rows = await opened.redis.xrange(keys.AUDIT)
            await opened.redis.xdel(keys.AUDIT, rows[2][0])

    asyncio.run(tamper())
    ran = here("audit", "verify")
    assert ran.code == 1
    assert "BROKEN at record 3" in ran.out


def test_the_latest_are_shown_first(here: Here, state: Path) -> None:
    ran = here("audit", "show", "-n", "2")
    assert ran.code == 0
    assert ran.out.index("r4") < ran.out.index("r3")
    assert "r2" not in ran.out
    assert "prod-weu reconcile-pool" in ran.out


def test_what_was_exported_can_be_verified_elsewhere(here: Here, state: Path, tmp_path: Path) -> None:
    exported = here("audit", "export").out
    file = tmp_path / "audit.jsonl"
    file.write_text(exported)
    assert "whole: 5 records" in here("audit", "verify", str(file)).out
    lines = exported.splitlines()
    file.write_text("\n".join(lines[2:]))
    assert here("audit", "verify", str(file)).code == 0
    file.write_text("\n".join([lines[0], lines[2]]))
    assert "BROKEN at record 2" in here("audit", "verify", str(file)).out
    file.write_text(exported.replace("r3", "r9"))
    assert "BROKEN at record 4" in here("audit", "verify", str(file)).out
    file.write_text("not a record")
    assert here("audit", "verify", str(file)).code == 64


def test_only_what_is_wanted_is_exported(here: Here, state: Path) -> None:
    assert here("audit", "export", "--since", "2099-01-01").out == ""
    assert len(here("audit", "export", "--since", "2020-01-01").out.splitlines()) == 5
    assert here("audit", "export", "--since", "yesterday").code == 64


async def test_beside_a_bot_that_runs_its_own_server_is_asked(state: Path, here: Here) -> None:
    async with connected(None, state):
        ran = await asyncio.to_thread(here, "audit", "verify")
    assert ran.out.strip() == "whole: 5 records"
