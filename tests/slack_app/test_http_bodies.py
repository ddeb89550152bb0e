"""Bodies over HTTP: not decompressed, not decoded before the sender is known, and read within bounds."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO

import aiohttp
import pytest

from bot.app import Bot
from bot.http import alerts as http_alerts
from bot.http import slack as http_slack
from sandbox.slack.http_road import signed_headers
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.raw_http import begun

SECRET = "a-secret-for-alerts-0123"
SHOWN = {"Authorization": f"Bearer {SECRET}"}
ALERTS = http_alerts.ALERTMANAGER_PATH
SLACK = http_slack.SLACK_PATH
SECOND_GZIP = "identity\r\nContent-Encoding: gzip"
GIGABYTE = 1024 * 1024 * 1024
CHUNKED = {"Transfer-Encoding": "chunked"}
CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"


@pytest.fixture
async def bot(start: Start, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    """Both doors are open."""
    monkeypatch.setenv("AKSBOT_ALERTS_TOKEN", SECRET)
    async with start(over_http=True) as running_bot:
        yield running_bot


@asynccontextmanager
async def refused(bot: Bot, path: str, headers: dict[str, str]) -> AsyncIterator[int]:
    """The status of the answer to a body of which nothing was sent."""
    async with begun(bot.site.port, path, headers) as request:
        yield await request.status()
        assert "Connection: close" in await request.text_until_closed()


def looks_signed(slack: SlackServer) -> dict[str, str]:
    """Anybody can write such headers; whether they fit shows once the body is there."""
    return signed_headers(slack.signing_secret, b"another body", content_type="application/json")


async def test_who_shows_nothing_is_refused_before_the_body(bot: Bot) -> None:
    for path in (SLACK, ALERTS):
        for length in ({"Content-Length": "4000000"}, CHUNKED):
            async with refused(bot, path, length) as status:
                assert status == 401


@pytest.mark.parametrize(
    "encoding", ["gzip", "deflate", "br", "zstd", "x-unknown", "gzip, identity", "identity\r\nContent-Encoding: gzip"]
)
async def test_a_compressed_body_is_refused_before_it_is_read(bot: Bot, slack: SlackServer, encoding: str) -> None:
    body = {"Content-Length": "4000000", "Content-Encoding": encoding}
    for path, known in ((SLACK, looks_signed(slack)), (ALERTS, SHOWN)):
        async with refused(bot, path, known | body) as status:
            assert status == 415
        async with refused(bot, path, body) as status:
            assert status == 401


async def test_a_length_that_is_too_large_is_refused_before_the_body(bot: Bot, slack: SlackServer) -> None:
    for path, known, largest in (
        (SLACK, looks_signed(slack), http_slack.LARGEST),
        (ALERTS, SHOWN, http_alerts.LARGEST),
    ):
        async with refused(bot, path, known | {"Content-Length": str(largest + 1)}) as status:
            assert status == 413


async def test_a_chunked_body_without_an_end_is_counted_and_cut_off(bot: Bot, slack: SlackServer) -> None:
    for path, known, largest in (
        (SLACK, looks_signed(slack), http_slack.LARGEST),
        (ALERTS, SHOWN, http_alerts.LARGEST),
    ):
        async with begun(bot.site.port, path, known | CHUNKED) as request:
            for _ in range(largest // 0x10000):
                await request.send(CHUNK)
            await request.send(CHUNK)
            assert await request.status() == 413
            await request.text_until_closed()


async def test_a_body_that_trickles_in_is_not_waited_for(bot: Bot, slack: SlackServer) -> None:
    async with begun(bot.site.port, SLACK, looks_signed(slack) | {"Content-Length": "100"}) as request:
        await request.send(b"{")
        assert await request.status() == 408
        assert f"{http_slack.WITHIN_S:g} s" in await request.text_until_closed()


@pytest.mark.parametrize("shown", [{}, SHOWN], ids=["nobody", "a known sender"])
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_nobody_can_have_gigabytes_made_out_of_a_few_bytes(
    bot: Bot, slack: SlackServer, encoding: str, shown: dict[str, str]
) -> None:
    zeros = bytes(GIGABYTE)
    bomb = gzip.compress(zeros, 1) if encoding == "gzip" else zlib.compress(zeros, 1)
    del zeros
    began = time.process_time()
    assert _size_of(bomb) > GIGABYTE * 0.99
    once = time.process_time() - began
    for path, known in ((SLACK, looks_signed(slack) if shown else {}), (ALERTS, shown)):
        spent_s, statuses = await _least_s(bot, path, bomb, known | {"Content-Encoding": encoding})
        assert statuses <= {401, 415, 0}
        assert spent_s < once / 4


def _size_of(bomb: bytes) -> int:
    """Counted as a reader that decompresses would get it, part by part."""
    reader, size, left = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32), 0, bomb
    while left:
        size += len(reader.decompress(left, 1024 * 1024))
        left = reader.unconsumed_tail
    return size


async def _least_s(bot: Bot, path: str, body: bytes, headers: dict[str, str]) -> tuple[float, set[int]]:
    """The least CPU time of a few posts: whatever else this process does in one of them is not the door's."""
    spent, statuses = [], set()
    for _ in range(3):
        began = time.process_time()
        statuses.add(await _post(bot, path, body, headers))
        spent.append(time.process_time() - began)
    return min(spent), statuses


async def _post(bot: Bot, path: str, body: bytes, headers: dict[str, str]) -> int:
    """The status, or 0 where the connection was closed while the body was still being sent."""
    url = f"http://127.0.0.1:{bot.site.port}{path}"
    async with aiohttp.ClientSession() as session:
        try:
            async with session.post(url, data=BytesIO(body), headers=headers) as answer:
                return answer.status
        except aiohttp.ClientError:
            return 0


async def test_the_charset_that_a_stranger_names_is_not_asked_for(bot: Bot, slack: SlackServer) -> None:
    """Decoding punycode takes a time that grows with the square of the length."""
    body = b"a-" + b"0a" * 75_000
    began = time.process_time()
    body.decode("punycode")
    once = time.process_time() - began
    headers = looks_signed(slack) | {"Content-Type": "application/json; charset=punycode"}
    spent_s, statuses = await _least_s(bot, SLACK, body, headers)
    assert statuses == {401}
    assert spent_s < once / 2


@pytest.mark.parametrize("moment", ["", "now", "-1", "9" * 400, "٣"])
async def test_a_moment_that_is_no_number_is_not_slacks(bot: Bot, slack: SlackServer, moment: str) -> None:
    headers = looks_signed(slack) | {"X-Slack-Request-Timestamp": moment}
    assert await _post(bot, SLACK, b"another body", headers) == 401


async def test_a_signed_body_that_is_no_text_is_refused(bot: Bot, slack: SlackServer) -> None:
    body = b"payload=\xff\xfe"
    headers = signed_headers(slack.signing_secret, body, content_type="application/x-www-form-urlencoded")
    assert await _post(bot, SLACK, body, headers) == 400


NOT_SLACKS = {
    "no JSON": b"{",
    "a list": b"[1]",
    "nested deeper than Python reads": b"[" * 500_000,
    "nested deeply": b'{"a": ' * 300 + b"1" + b"}" * 300,
    "nested deeply as a form": b"payload=" + b"%5B" * 300 + b"%5D" * 300,
    "a form without JSON": b"payload=%7B%22a%22%3A1",
    "other types": b'{"authorizations": 5}',
}


@pytest.mark.parametrize("body", NOT_SLACKS.values(), ids=NOT_SLACKS)
async def test_a_signed_body_that_is_no_request_of_slacks_is_refused_and_fills_no_log(
    bot: Bot, slack: SlackServer, caplog: pytest.LogCaptureFixture, body: bytes
) -> None:
    form = body.startswith(b"payload")
    headers = signed_headers(
        slack.signing_secret, body, content_type="application/x-www-form-urlencoded" if form else "application/json"
    )
    caplog.clear()
    assert await _post(bot, SLACK, body, headers) == 400
    assert [one for one in caplog.records if one.levelname == "ERROR"] == []


async def test_a_head_that_is_too_large_or_broken_is_refused_and_fills_no_log(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    many = {f"X-{number}": "x" for number in range(1_000)}
    for head in ({"X-Long": "x" * 100_000}, many, {"X-Broken": "x\x01"}, {"Content-Length": "-1"}):
        async with begun(bot.site.port, ALERTS, SHOWN | head) as request:
            assert await request.status() == 400
    assert caplog.records == []
