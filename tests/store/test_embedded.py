from __future__ import annotations

import asyncio
import logging
import os
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from bot.store.connect import Connection, connected
from bot.store.embedded import EmbeddedServer
from handlers.problem import Problem
from tests.store.servers import PATIENCE_S, is_alive, kill_server, python, until, until_it_is_back

HOLDER = str(Path(__file__).with_name("holder.py"))


async def test_the_log_says_where_the_state_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "bot.store"):
        async with connected(None, tmp_path):
            pass
    assert f"embedded Valkey in {tmp_path / 'valkey'}" in caplog.text


async def test_it_listens_on_a_private_socket_and_nowhere_else(connection: Connection) -> None:
    assert connection.embedded
    assert stat.S_IMODE(connection.embedded.socket.stat().st_mode) == 0o700
    assert stat.S_IMODE(connection.embedded.socket.parent.stat().st_mode) == 0o700
    assert await connection.redis.config_get("port") == {"port": "0"}


def modes(folder: Path) -> dict[str, str]:
    """Who may read and write each file in it."""
    kept = [one for one in (folder, *folder.rglob("*")) if not one.is_socket()]
    return {one.relative_to(folder.parent).as_posix(): stat.filemode(one.stat().st_mode) for one in kept}


async def test_nobody_else_can_read_its_files_nor_those_of_an_earlier_version(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "valkey"
    for _ in range(2):
        async with connected(None, folder.parent) as connection:
            await connection.redis.set("kept", "yes")
            await connection.redis.bgrewriteaof()

            async def rewritten(redis: Connection = connection) -> bool:
                return not (await redis.redis.info("persistence"))["aof_rewrite_in_progress"]

            await until(rewritten)
            found = modes(folder)
        assert any(name.endswith(".aof") for name in found)
        assert set(found.values()) == {"drwx------", "-rw-------"}
        for one in folder.rglob("*"):
            one.chmod(0o755 if one.is_dir() else 0o644)
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


async def test_what_it_has_answered_is_on_the_disk(connection: Connection) -> None:
    settings = await connection.redis.config_get("append*", "maxmemory-policy")
    assert (settings["appendonly"], settings["appendfsync"]) == ("yes", "always")
    assert settings["maxmemory-policy"] == "noeviction"


async def test_the_data_are_there_after_a_clean_stop(tmp_path: Path) -> None:
    async with connected(None, tmp_path) as first:
        await first.redis.set("kept", "yes")
        assert first.embedded
        pid = first.embedded.pid
    assert pid
    assert not is_alive(pid)
    async with connected(None, tmp_path) as second:
        assert await second.redis.get("kept") == "yes"


async def test_a_server_that_was_killed_comes_back_with_its_data(connection: Connection) -> None:
    await connection.redis.set("kept", "yes")
    pid = kill_server(connection)
    await until_it_is_back(connection, pid)
    assert await connection.redis.get("kept") == "yes"


async def test_a_second_process_on_the_same_folder_is_told_what_to_do(connection: Connection, tmp_path: Path) -> None:
    with pytest.raises(Problem) as refused:
        async with connected(None, tmp_path):
            pass
    assert str(tmp_path) in refused.value.what
    assert refused.value.why == "another aksbot process uses it"
    assert "REDIS_URL" in refused.value.do
    assert await connection.redis.ping()


async def test_after_a_killed_bot_its_server_ends_and_the_next_bot_has_the_data(tmp_path: Path) -> None:
    async with python(HOLDER, str(tmp_path)) as holder:
        assert holder.stdout
        server = int(await asyncio.wait_for(holder.stdout.readline(), PATIENCE_S))
        holder.send_signal(signal.SIGKILL)
        await holder.wait()
        async with connected(None, tmp_path) as connection:
            assert await connection.redis.get("kept") == "yes"
            assert connection.embedded
            assert connection.embedded.pid != server

        async def gone() -> bool:
            return not is_alive(server)

        await until(gone)


async def test_a_long_path_gets_its_socket_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 30)
    async with EmbeddedServer(folder) as server:
        assert len(os.fsencode(server.socket)) < 104
        where = server.socket.parent
    assert not where.exists()


async def test_a_file_that_is_no_data_is_refused_with_the_place_of_the_log(tmp_path: Path) -> None:
    async with connected(None, tmp_path) as first:
        await first.redis.set("kept", "yes")
    (manifest,) = (tmp_path / "valkey").rglob("*.manifest")
    manifest.write_text("no manifest\n")
    with pytest.raises(Problem) as refused:
        async with connected(None, tmp_path):
            pass
    assert "did not start" in refused.value.why
    assert "valkey.log" in refused.value.do


async def test_a_folder_that_cannot_be_written_is_refused_in_three_parts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem) as refused:
        async with connected(None, tmp_path / "file"):
            pass
    assert "AKSBOT_DATA_DIR" in refused.value.do


async def test_a_server_elsewhere_is_used_by_its_url(connection: Connection, tmp_path: Path) -> None:
    await connection.redis.set("kept", "yes")
    async with connected(connection.url, tmp_path / "unused") as other:
        assert await other.redis.get("kept") == "yes"
    assert not (tmp_path / "unused").exists()


async def test_a_server_that_may_drop_data_is_refused(connection: Connection, tmp_path: Path) -> None:
    await connection.redis.config_set("maxmemory-policy", "allkeys-lru")
    with pytest.raises(Problem) as refused:
        async with connected(connection.url, tmp_path):
            pass
    assert "allkeys-lru" in refused.value.why


async def test_no_server_at_the_url_is_told_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(Problem) as refused:
        async with connected("redis://bot:secret@127.0.0.1:1/0", tmp_path):
            pass
    assert "127.0.0.1:1" in refused.value.what
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["localhost:6379", "http://cache", ""])
async def test_what_is_no_redis_url_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(Problem, match="cannot use REDIS_URL"):
        async with connected(url, tmp_path):
            pass


async def test_while_it_is_away_nothing_hangs(connection: Connection) -> None:
    kill_server(connection)
    async with asyncio.timeout(PATIENCE_S):
        try:
            await connection.redis.ping()
        except RedisError:
            return  # it may have come back already, which is as good


async def is_said_to_be_tried_again(caplog: pytest.LogCaptureFixture) -> bool:
    return "could not be started, and is tried again" in caplog.text


@asynccontextmanager
async def cannot_start(connection: Connection, caplog: pytest.LogCaptureFixture) -> AsyncIterator[int]:
    """Its log cannot be opened, as with no file handle left; the process that was killed."""
    server = connection.embedded
    assert server
    await connection.redis.set("kept", "yes")
    server.log_file.unlink()
    server.log_file.mkdir()
    with caplog.at_level(logging.ERROR, "bot.store"):
        pid = kill_server(connection)
        await until(partial(is_said_to_be_tried_again, caplog))
    yield pid
    server.log_file.rmdir()


async def test_a_server_that_could_not_be_started_for_a_moment_is_tried_again(
    connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    async with cannot_start(connection, caplog) as pid:
        pass
    await until_it_is_back(connection, pid)
    assert await connection.redis.get("kept") == "yes"


async def test_who_cannot_start_its_server_ends_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with AsyncExitStack() as refused, connected(None, tmp_path) as connection:
        await refused.enter_async_context(cannot_start(connection, caplog))
    async with connected(None, tmp_path) as again:
        assert await again.redis.get("kept") == "yes"
