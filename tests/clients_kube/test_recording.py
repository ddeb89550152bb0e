"""A cluster's responses are recorded without secrets, and replay identically offline."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.clients.kube.recorded import MOST_OF_A_LIST
from handlers.clients.recording.case import Recorder, Recording
from handlers.engine.current import deadline
from handlers.model import Target
from tests.clients.azure import LocalAzure, QuickClock, raw, says
from tests.clients_kube.cluster import CREDENTIAL, LocalCluster, page, pod, refuses, text

PODS = "/api/v1/pods"
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
Ask = Callable[[KubeReader], Awaitable[object]]


def name_of(row: Any) -> str:
    return str(row["metadata"]["name"])


class Twice:
    """The same question to the cluster and then to what was recorded of it."""

    def __init__(self, target: Target, arm: ArmReader, folder: Path, clock: QuickClock) -> None:
        self._target, self._arm, self._clock = target, arm, clock
        self.file = folder / "case.zip"

    async def ask(self, ask: Ask) -> tuple[object, object]:
        recorder = Recorder(str(self._target.id))
        async with KubeReader(self._target, self._arm, KubeAccess(), recorder=recorder, clock=self._clock) as kube:
            live = await said(ask(kube))
            reached = kube.reached
        recorder.save(self.file)
        async with ArmReader(self._arm.access) as nobody:
            transport = Recording.load(self.file).transport()
            async with KubeReader(self._target, nobody, KubeAccess(), transport=transport) as kube:
                again = await said(ask(kube))
                assert kube.reached == reached
        return live, again

    @property
    def recorded(self) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = Recording.load(self.file).as_mapping()["calls"]
        return [call for call in calls if call["path"] != "/kube:"]


async def said(awaited: Awaitable[object]) -> object:
    """What came, or what it was called that nothing did."""
    try:
        return await awaited
    except ArmError as error:
        return error.unavailable, error.code


@pytest.fixture
def twice(target: Target, arm: ArmReader, tmp_path: Path, clock: QuickClock) -> Twice:
    return Twice(target, arm, tmp_path, clock)


async def test_a_list_answers_again_page_by_page(cluster: LocalCluster, twice: Twice) -> None:
    cluster.reply(PODS, page(pod("a"), pod("b"), follows="eyJzdGFydCI6InNob3AvYiJ9"), page(pod("c")))
    live, again = await twice.ask(lambda kube: kube.list(PODS, name_of, labels="app=web"))
    assert live == again
    assert [call["path"] for call in twice.recorded] == ["/kube:/api/v1/pods"] * 2
    assert [call["params"].get("continue") for call in twice.recorded] == [None, "page-2"]


async def test_neither_host_nor_credential_nor_bulk_is_recorded(
    azure: LocalAzure, cluster: LocalCluster, twice: Twice
) -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": '{"a": 1}', "team": "shop"}
    meta = {"managedFields": [{"manager": "kubelet"}], "annotations": applied}
    cluster.reply(PODS, page(pod("a", metadata=meta, env=[{"name": "API_KEY", "value": "hunter2hunter2"}])))
    await twice.ask(lambda kube: kube.list(PODS, name_of))
    kept = json.dumps(twice.recorded)
    for gone in ("127.0.0.1", "static-token", "managedFields", "last-applied", "hunter2"):
        assert gone not in kept
    assert "[redacted:key]" in kept
    assert "team" in kept
    assert azure.count(CREDENTIAL) == 1


async def test_objects_texts_and_permissions_answer_again(cluster: LocalCluster, twice: Twice) -> None:
    cluster.reply("/version", says({"gitVersion": "v1.33.2"}))
    cluster.reply("/readyz", text("password=hunter2hunter2\n[-]etcd failed\n", 500))
    cluster.reply("/api/v1/namespaces/shop/pods/web/log", text('"quoted"\n'))
    cluster.reply(REVIEW, says({"status": {"allowed": True}}, 201))

    async def everything(kube: KubeReader) -> object:
        return (
            (await kube.get("/version")).body,
            await kube.text("/readyz?verbose", also=(500,)),
            await kube.text("/api/v1/namespaces/shop/pods/web/log"),
            await kube.may("list", "nodes"),
        )

    live, again = await twice.ask(everything)
    assert live == again
    assert "hunter2" not in json.dumps(twice.recorded)


@pytest.mark.parametrize(
    "answer",
    [
        refuses(403, "Forbidden", 'User "x" cannot list resource "pods" in API group "" at the cluster scope'),
        refuses(404, "NotFound", "the server could not find the requested resource"),
        refuses(401, "Unauthorized", "Unauthorized"),
        refuses(500, "InternalError", "etcd"),
        raw(b"<html>", 503, "text/html"),
        raw(b'{"items'),
    ],
)
async def test_each_refusal_answers_again(cluster: LocalCluster, twice: Twice, answer: Any) -> None:
    cluster.reply(PODS, answer)
    live, again = await twice.ask(lambda kube: kube.list(PODS, name_of))
    assert live == again


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (409, "ScopeLocked", "following scope(s) are locked"),
        (403, "AuthorizationFailed", "does not have authorization to perform action 'Microsoft.X/y/action' over"),
    ],
)
async def test_a_missing_credential_answers_again(
    azure: LocalAzure, twice: Twice, status: int, code: str, message: str
) -> None:
    azure.reply(CREDENTIAL, says({"error": {"code": code, "message": message}}, status))
    live, again = await twice.ask(lambda kube: kube.list(PODS, name_of))
    assert _without_wanted(live) == _without_wanted(again)


def _without_wanted(said: Any) -> object:
    unavailable, code = said
    return unavailable.why, unavailable.detail, unavailable.grant, code


async def test_a_server_out_of_reach_answers_again(cluster: LocalCluster, twice: Twice) -> None:
    await cluster.stop()

    async def reach(kube: KubeReader) -> object:
        await said(kube.list(PODS, name_of))
        assert kube.trouble is not None
        return kube.trouble.code, kube.trouble.detail

    live, again = await twice.ask(reach)
    assert live == again


async def test_an_expired_list_answers_again_whole(cluster: LocalCluster, twice: Twice) -> None:
    gone = refuses(410, "Expired", "too old")
    cluster.reply(PODS, page(pod("a"), follows="1"), gone, page(pod("a"), follows="2"), page(pod("b")))
    live, again = await twice.ask(lambda kube: kube.list(PODS, name_of))
    assert live == again


async def test_a_list_that_was_cut_for_lack_of_time_is_cut_again(cluster: LocalCluster, twice: Twice) -> None:
    cluster.reply(PODS, page(pod("a"), follows="t"), page(pod("b")))
    deadline.set(asyncio.get_running_loop().time())
    live, again = await twice.ask(lambda kube: kube.list(PODS, name_of))
    assert live == again


async def test_a_call_that_was_cut_off_is_recorded_as_that(
    cluster: LocalCluster, target: Target, arm: ArmReader, tmp_path: Path
) -> None:
    cluster.reply(PODS, page(pod("a")))
    recorder = Recorder()
    async with KubeReader(target, arm, KubeAccess(), recorder=recorder) as kube:
        asking = asyncio.ensure_future(kube.list(PODS, name_of))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    call = recorder.recording.calls[-1]
    assert call.failed == "timeout"


async def test_what_was_not_recorded_is_no_empty_list(cluster: LocalCluster, twice: Twice) -> None:
    cluster.reply(PODS, page(pod("a")))
    await twice.ask(lambda kube: kube.list(PODS, name_of))
    async with ArmReader(twice._arm.access) as nobody:
        transport = Recording.load(twice.file).transport()
        async with KubeReader(twice._target, nobody, KubeAccess(), transport=transport) as kube:
            with pytest.raises(ArmError, match="not asked when this was recorded"):
                await kube.list("/api/v1/nodes", name_of)


async def test_a_recording_hands_out_no_credential(arm: ArmReader, target: Target, tmp_path: Path) -> None:
    transport = Recorder().recording.transport()
    async with ArmReader(arm.access, transport=transport) as nobody, KubeReader(target, nobody, KubeAccess()) as kube:
        with pytest.raises(ArmError, match="a recording holds no credentials"):
            await kube.list(PODS, name_of)


async def test_a_huge_list_is_recorded_in_part_and_replayed_as_cut(
    cluster: LocalCluster, target: Target, arm: ArmReader, tmp_path: Path
) -> None:
    # Not one letter again and again: a zip that unpacks to a hundred times its size is refused.
    big = random.Random(1).randbytes(MOST_OF_A_LIST // 6).hex(" ", 40)
    cluster.reply(PODS, *(page(pod(name, text=big), follows=name) for name in "abc"), page(pod("d")))
    recorder = Recorder(str(target.id))
    async with KubeReader(target, arm, KubeAccess(), recorder=recorder) as kube:
        live = await kube.list(PODS, name_of)
    assert (live.items, live.truncated) == (("a", "b", "c", "d"), False)
    recorder.save(tmp_path / "case.zip")
    async with ArmReader(arm.access) as nobody:
        transport = Recording.load(tmp_path / "case.zip").transport()
        async with KubeReader(target, nobody, KubeAccess(), transport=transport) as kube:
            again = await kube.list(PODS, name_of)
    assert (again.items, again.truncated) == (("a", "b", "c"), True)
