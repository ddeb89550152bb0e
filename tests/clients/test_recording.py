"""A recorded case answers the same questions again, anywhere, offline."""

from __future__ import annotations

import asyncio
import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import (
    ArmError,
    CredentialRefused,
    Denied,
    Garbled,
    NotFound,
    NotRecorded,
    ServerFault,
    Throttled,
    TimedOut,
    Unreachable,
)
from handlers.clients.recording.case import RecordedCall, Recorder, Recording
from handlers.model import Why
from handlers.problem import Exit, Problem
from handlers.resource_id import ResourceId
from tests.clients.azure import LocalAzure, PaperCredential, QuickClock, raw, refuses, says, waits_for

SUB = "00000000-0000-0000-0000-0000000000a1"
GROUP = f"/subscriptions/{SUB}/resourceGroups/rg-prod"
CLUSTER = ResourceId.parse(f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu")
GRAPH = "/providers/Microsoft.ResourceGraph/resources"
ELSEWHERE = AzureAccess(resource_manager="https://management.example", identity={})


def record(access: AzureAccess, recorder: Recorder) -> ArmReader:
    return ArmReader(access, recorder=recorder, credential=PaperCredential(), clock=QuickClock())


def replay(recording: Recording) -> ArmReader:
    return ArmReader(ELSEWHERE, transport=recording.transport())


async def test_a_case_replays_without_azure(azure: LocalAzure, access: AzureAccess, tmp_path: Path) -> None:
    pools = f"{CLUSTER}/agentPools"
    link = f"{azure.url}{pools}?%24skipToken=2&api-version=2025-03-01&skipToken=2"
    azure.reply(str(CLUSTER), says({"id": str(CLUSTER), "tags": {"password": "hunter2"}}, etag='"7"'))
    azure.reply(pools, says({"value": [{"name": "apps"}], "nextLink": link}), says({"value": [{"name": "sys"}]}))
    azure.reply(GRAPH, says({"data": [1]}))
    recorder = Recorder("prod-weu")
    async with record(access, recorder) as arm:
        live = await arm.managed_cluster(CLUSTER)
        await arm.agent_pools(CLUSTER)
        await arm.query(GRAPH, "2022-10-01", {"query": "Resources", "options": {"$top": 1}})
    file = tmp_path / "case.zip"
    recorder.save(file)

    saved = zipfile.ZipFile(file).read("recording.json").decode()
    assert "hunter2" not in saved
    assert "127.0.0.1" not in saved

    recording = Recording.load(file)
    assert recording.target == "prod-weu"
    async with replay(recording) as arm:
        again = await arm.managed_cluster(CLUSTER)
        assert (again.body, again.taken_at, again.headers["etag"]) == (live.body, live.taken_at, '"7"')
        assert [pool["name"] for pool in (await arm.agent_pools(CLUSTER)).items] == ["apps", "sys"]
        upper = await arm.query(GRAPH.upper(), "2022-10-01", {"options": {"$top": 1}, "query": "Resources"})
        assert upper.body == {"data": [1]}
        assert arm.calls.count == 4


async def test_what_failed_fails_again_in_the_same_words(azure: LocalAzure, access: AzureAccess) -> None:
    told = {
        "denied": refuses(403, "AuthorizationFailed", "no authorization to perform action 'Microsoft.X/read' over"),
        "gone": says({"code": "NotFound", "message": "Could not find it"}, 404),
        "ill": raw(b"<html>503</html>", 503, "text/html"),
        "odd": raw(b"<html>hello</html>"),
        "slow": refuses(429, "TooManyRequests", "x", retry_after="99"),
    }
    for name, answer in told.items():
        azure.reply(f"{GROUP}/{name}", answer)
    recorder = Recorder()
    live, again = {}, {}
    async with record(access, recorder) as arm:
        for name in told:
            live[name] = await failure(arm, name)
    async with replay(Recording.from_mapping(json.loads(json.dumps(recorder.recording.as_mapping())))) as arm:
        for name in told:
            again[name] = await failure(arm, name)
    assert {name: type(error) for name, error in live.items()} == {
        "denied": Denied,
        "gone": NotFound,
        "slow": Throttled,
        "ill": ServerFault,
        "odd": Garbled,
    }
    for name, error in live.items():
        assert type(again[name]) is type(error)
        assert again[name].unavailable == error.unavailable


async def failure(arm: ArmReader, name: str) -> ArmError:
    with pytest.raises(ArmError) as caught:
        await arm.get(f"{GROUP}/{name}", "2024-03-01")
    return caught.value


async def test_no_network_and_no_credential_are_recorded_too(access: AzureAccess) -> None:
    recorder = Recorder()
    nowhere = AzureAccess(resource_manager="https://127.0.0.1:9")
    async with record(nowhere, recorder) as arm:
        await failure(arm, "unreachable")
    async with ArmReader(access, recorder=recorder) as arm:
        await failure(arm, "nobody")
    async with replay(recorder.recording) as arm:
        assert type(await failure(arm, "unreachable")) is Unreachable
        refused = await failure(arm, "nobody")
    assert type(refused) is CredentialRefused
    assert refused.unavailable.why is Why.DENIED
    assert refused.detail.startswith("no credential found")


async def test_what_was_cut_off_by_a_deadline_replays_as_a_timeout(azure: LocalAzure, access: AzureAccess) -> None:
    azure.reply(GROUP, waits_for(asyncio.Event(), says({})))
    recorder = Recorder()
    async with record(access, recorder) as arm:
        reading = asyncio.create_task(arm.get(GROUP, "2024-03-01"))
        await azure.arrived.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    async with replay(recorder.recording) as arm:
        with pytest.raises(TimedOut) as caught:
            await arm.get(GROUP, "2024-03-01")
    assert caught.value.unavailable.why is Why.TIMEOUT


async def test_an_unknown_question_is_never_an_empty_answer() -> None:
    empty = Recording("x", datetime.now(UTC), ())
    async with replay(empty) as arm:
        with pytest.raises(NotRecorded) as caught:
            await arm.list(f"{GROUP}/resources", "2021-04-01")
    unavailable = caught.value.unavailable
    assert (unavailable.why, unavailable.detail) == (Why.NOT_ASKED, "not asked when this was recorded")


async def test_what_a_check_had_no_time_left_to_ask_is_no_new_question() -> None:
    late = RecordedCall("GET", "/subscriptions/x/providers", failed="timeout", detail="no answer before the deadline")
    async with replay(Recording("x", datetime.now(UTC), (late,))) as arm:
        with pytest.raises(TimedOut):
            await arm.list(f"{GROUP}/resources", "2021-04-01")


async def test_the_last_day_replays_on_another_day(azure: LocalAzure, access: AzureAccess) -> None:
    path = f"/subscriptions/{SUB}/providers/Microsoft.Insights/eventtypes/management/values"
    azure.reply(path, says({"value": [{"eventDataId": "2h"}]}), says({"value": [{"eventDataId": "24h"}]}))
    recorder = Recorder()
    then = datetime(2026, 11, 18, 9, tzinfo=UTC)
    async with record(access, recorder) as arm:
        for hours in (2, 24):
            await arm.activity(SUB, group="rg-prod", since=then - timedelta(hours=hours), until=then)
    later = then + timedelta(days=9, minutes=7)
    async with replay(recorder.recording) as arm:
        for hours in (24, 2):
            log = await arm.activity(SUB, group="rg-prod", since=later - timedelta(hours=hours), until=later)
            assert log.items == ({"eventDataId": f"{hours}h"},)


@pytest.mark.parametrize("form", ["folder", "yaml", "json"])
async def test_a_case_may_be_written_by_hand(tmp_path: Path, form: str) -> None:
    case = {
        "target": "prod-weu",
        "recorded_at": "2026-11-18T09:00:00Z",
        "version": 1,
        "calls": [
            {
                "method": "GET",
                "path": GROUP,
                "params": {"api-version": "2024-03-01"},
                "status": 200,
                "headers": {"ETag": "1"},
                "answer": {"id": GROUP, "when": "2026-11-18"},
            },
            {"method": "GET", "url": f"{GROUP}/x?api-version=1", "failed": "timeout", "detail": "no answer"},
        ],
    }
    name = {"folder": "recording.yaml", "yaml": "case.yaml", "json": "case.json"}[form]
    text = json.dumps(case) if form == "json" else yaml.safe_dump(case).replace("'2026-11-18'", "2026-11-18")
    (tmp_path / name).write_text(text)
    recording = Recording.load(tmp_path if form == "folder" else tmp_path / name)
    async with replay(recording) as arm:
        answer = await arm.get(GROUP, "2024-03-01")
        assert answer.body["when"] == "2026-11-18"
        assert answer.taken_at == recording.recorded_at == datetime(2026, 11, 18, 9, tzinfo=UTC)
        with pytest.raises(TimedOut, match="no answer"):
            await arm.get(f"{GROUP}/x", "1")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("case.zip", b"not a zip"),
        ("case.yaml", b"calls: [}"),
        ("case.yaml", b"- a list"),
        ("case.json", b"{}"),
        ("case.json", b'{"recorded_at": "yesterday", "calls": []}'),
        ("case.json", b'{"recorded_at": "2026-11-18T09:00:00Z", "calls": [{"method": "GET"}]}'),
        ("case.json", b'{"recorded_at": "2026-11-18T09:00:00Z", "version": 99, "calls": []}'),
        ("missing.zip", None),
    ],
)
def test_a_broken_case_is_refused_by_name(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Problem) as caught:
        Recording.load(tmp_path / name)
    assert caught.value.what == f"cannot replay {name}"
    assert caught.value.code is Exit.USAGE


async def test_a_recording_is_whole_also_when_answers_came_from_the_cache(
    azure: LocalAzure, access: AzureAccess
) -> None:
    azure.reply(GROUP, says({"id": GROUP}))
    recorder = Recorder()
    async with record(access, recorder) as arm:
        await arm.get(GROUP, "2024-03-01")
        await arm.get(GROUP, "2024-03-01")
        assert arm.calls.count == 1
    assert len(recorder.recording.calls) == 1
