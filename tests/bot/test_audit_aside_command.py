"""`aksbot audit set-aside`, and its effect on `verify` and `export`; looking up a hash from the log."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bot.store import keys
from bot.store.connect import connected
from tests.bot.conftest import Here
from tests.bot.test_audit_command import state

__all__ = ["state"]

REASON = "a disk was full; compared with the log"


@pytest.fixture
def broken(state: Path) -> Path:
    """Its end was cut off."""

    async def tamper() -> None:
        async with connected(None, state) as opened:
            await opened.redis.xtrim(keys.AUDIT, maxlen=3, approximate=False)

    asyncio.run(tamper())
    return state


def test_what_is_broken_says_how_to_go_on(here: Here, broken: Path) -> None:
    ran = here("audit", "verify")
    assert ran.code == 1
    assert "BROKEN at record 1" in ran.out
    assert "aksbot audit set-aside" in ran.out


def test_it_is_set_aside_with_a_name_and_a_reason(here: Here, broken: Path) -> None:
    ran = here("audit", "set-aside", "--reason", REASON, "--by", "somebody")
    assert ran.code == 0
    assert "3 records, broken at 1" in " ".join(ran.out.split())
    verified = here("audit", "verify")
    assert verified.code == 0
    said = " ".join(verified.out.split())
    assert "whole: 1 record" in said
    assert "by somebody (" in said
    assert REASON in said
    (one,) = json.loads(here("audit", "verify", "--output", "json").out)["set_aside"]
    assert (one["records"], one["reason"], one["as_it_was"]) == (3, REASON, True)
    assert one["by"].startswith("somebody (")


def test_without_a_reason_or_where_it_is_whole_nothing_is_set_aside(here: Here, state: Path) -> None:
    assert here("audit", "set-aside").code == 64
    assert here("audit", "set-aside", "--reason", " ").code == 64
    assert here("audit", "set-aside", "--reason", REASON).code == 64
    assert "whole: 5 records" in here("audit", "verify").out


def test_what_was_set_aside_is_exported_too_and_can_be_checked(here: Here, broken: Path, tmp_path: Path) -> None:
    here("audit", "set-aside", "--reason", REASON)
    exported = here("audit", "export").out
    lines = [json.loads(line) for line in exported.splitlines()]
    assert [one.get("set_aside") for one in lines] == [1, 1, 1, None]
    file = tmp_path / "audit.jsonl"
    file.write_text(exported)
    assert here("audit", "verify", str(file)).code == 0
    file.write_text(exported.replace("r3", "r9"))
    ran = here("audit", "verify", str(file))
    assert (ran.code, "not as it was" in " ".join(ran.out.split())) == (1, True)
    assert len(here("audit", "export", "--since", "2099-01-01").out.splitlines()) == 0


def test_a_hash_from_the_log_is_found_where_it_is(here: Here, state: Path, tmp_path: Path) -> None:
    lines = here("audit", "export").out.splitlines()
    tip = json.loads(lines[-1])["hash"]
    ran = here("audit", "verify", "--tip", tip)
    assert (ran.code, "record 5" in ran.out) == (0, True)
    assert here("audit", "verify", "--tip", "f" * 64).code == 1
    assert json.loads(here("audit", "verify", "--tip", "f" * 64, "--output", "json").out)["tip"] == ""
    file = tmp_path / "audit.jsonl"
    file.write_text("\n".join(lines[:-1]))
    assert here("audit", "verify", str(file)).code == 0
    assert here("audit", "verify", str(file), "--tip", tip).code == 1


def test_a_hash_from_the_log_is_missed_when_all_else_was_deleted(here: Here, state: Path) -> None:
    """Nothing in Redis can tell that; only the log can."""
    tip = json.loads(here("audit", "export").out.splitlines()[-1])["hash"]

    async def flush() -> None:
        async with connected(None, state) as opened:
            await opened.redis.flushall()

    asyncio.run(flush())
    assert here("audit", "verify").code == 0
    ran = here("audit", "verify", "--tip", tip)
    assert (ran.code, "no record has the hash" in ran.out) == (1, True)


def test_a_hash_from_the_log_is_found_in_what_was_set_aside(here: Here, broken: Path) -> None:
    tip = json.loads(here("audit", "export").out.splitlines()[-1])["hash"]
    here("audit", "set-aside", "--reason", REASON)
    ran = here("audit", "verify", "--tip", tip)
    assert (ran.code, "what was set aside" in " ".join(ran.out.split())) == (0, True)
