"""Lists: paging, which fields are kept, truncation, and restarts."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web

from handlers.clients.errors import Garbled, ServerFault, Throttled
from handlers.clients.kube.listing import KubeListing
from handlers.clients.kube.reader import KubeReader
from handlers.engine.current import deadline
from tests.clients.azure import Handler, QuickClock, half, hangs_up, raw, says
from tests.clients_kube.cluster import LocalCluster, page, pod, refuses

PODS = "/api/v1/pods"


@dataclass(frozen=True, slots=True)
class Row:
    """What a collector might keep."""

    name: str
    message: str
    waiting: tuple[str, ...] = ()


def name_of(row: Any) -> str:
    return str(row["metadata"]["name"])


async def test_all_pages_are_read_with_their_tokens_as_they_came(cluster: LocalCluster, kube: KubeReader) -> None:
    token = "eyJ2IjoibWV0YSJ9+/=&x"
    cluster.reply(PODS, page(pod("a"), pod("b"), follows=token), page(pod("c")))
    listing = await kube.list(PODS, name_of, labels="app in (web, api),tier!=test", fields="status.phase=Running")
    assert listing.items == ("a", "b", "c")
    assert not listing.truncated
    first, second = cluster.asked
    assert first.query == {
        "labelSelector": "app in (web, api),tier!=test",
        "fieldSelector": "status.phase=Running",
        "limit": "500",
    }
    assert second.query == {**first.query, "continue": token}
    assert listing.source == (
        "kubectl get --raw '/api/v1/pods?labelSelector=app in (web, api),tier!=test&fieldSelector=status.phase=Running'"
    )


async def test_only_what_is_kept_is_handed_out(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(pod("a", n=1), pod("b"), pod("c", n=3)))
    listing = await kube.list(PODS, lambda row: row.get("n"))
    assert listing.items == (1, 3)


async def test_an_empty_page_with_a_token_is_not_the_end(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(follows="t"), page(pod("a")))
    assert (await kube.list(PODS, name_of)).items == ("a",)


async def test_no_items_in_a_list_are_an_empty_list(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, says({"kind": "PodList", "metadata": {}, "items": None}))
    assert (await kube.list(PODS, name_of)).items == ()


async def test_a_list_that_is_cut_says_so(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(pod("a"), pod("b"), pod("c")))
    cut = await kube.list(PODS, name_of, most=2)
    assert (cut.items, cut.truncated) == (("a", "b"), True)
    whole = await kube.list(PODS, name_of, most=3)
    assert (len(whole.items), whole.truncated) == (3, False)


async def test_no_page_is_fetched_that_has_no_room(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(pod("a"), pod("b"), follows="t"))
    cut = await kube.list(PODS, name_of, most=2)
    assert (cut.items, cut.truncated) == (("a", "b"), True)
    assert len(cluster.asked) == 1


async def test_an_expired_list_is_read_anew_and_is_whole_once(cluster: LocalCluster, kube: KubeReader) -> None:
    gone = refuses(410, "Expired", "The provided continue parameter is too old")
    cluster.reply(PODS, page(pod("a"), follows="old"), gone, page(pod("a"), pod("b"), follows="new"), page(pod("c")))
    listing = await kube.list(PODS, name_of)
    assert listing.items == ("a", "b", "c")
    assert [one.query.get("continue") for one in cluster.asked] == [None, "old", None, "new"]


async def test_a_sum_begins_anew_with_the_list(cluster: LocalCluster, kube: KubeReader) -> None:
    gone = refuses(410, "Expired", "The provided continue parameter is too old")
    cluster.reply(PODS, page(pod("a"), follows="old"), gone, page(pod("a"), follows="new"), page(pod("b")))

    def count(sums: Counter[str], row: Any) -> None:
        sums[row["metadata"]["namespace"]] += 1

    folded = await kube.fold(PODS, Counter, count)
    assert folded.value == {"shop": 2}
    assert not folded.truncated


async def test_a_list_that_keeps_expiring_is_no_list(cluster: LocalCluster, kube: KubeReader) -> None:
    pages = [page(pod("a"), follows="t"), refuses(410, "Expired", "too old")] * 3
    cluster.reply(PODS, *pages)
    with pytest.raises(ServerFault, match="expired 3 times"):
        await kube.list(PODS, name_of)


async def test_a_page_in_the_middle_that_fails_is_asked_for_again(
    cluster: LocalCluster, kube: KubeReader, clock: QuickClock
) -> None:
    busy = refuses(429, "TooManyRequests", "the server has received too many requests", retry_after="1")
    down = refuses(500, "InternalError", "etcdserver: request timed out")
    cluster.reply(PODS, page(pod("a"), follows="t"), busy, hangs_up(), down, page(pod("b")))
    listing = await kube.list(PODS, name_of)
    assert listing.items == ("a", "b")
    assert [one.query.get("continue") for one in cluster.asked] == [None, "t", "t", "t", "t"]
    assert clock.waits[0] == 1.0


async def test_at_most_two_long_lists_are_read_at_once(cluster: LocalCluster, kube: KubeReader) -> None:
    paths = [f"/api/v1/namespaces/{name}/pods" for name in "abcd"]
    reading: list[int] = [0]
    both = asyncio.Event()

    def last_page(name: str) -> Handler:
        async def answer(request: web.Request) -> web.StreamResponse:
            reading.append(reading[-1] + 1)
            if reading[-1] == 2:
                both.set()
            await both.wait()
            await asyncio.sleep(0)
            reading.append(reading[-1] - 1)
            return await page(pod(name))(request)

        return answer

    for path in paths:
        cluster.reply(path, page(pod("first"), follows="t"), last_page(path))
    listings = await asyncio.gather(*(kube.list(path, name_of) for path in paths))
    assert [listing.items for listing in listings] == [("first", path) for path in paths]
    assert max(reading) == 2


async def test_a_list_that_gets_no_turn_in_time_is_cut(cluster: LocalCluster, kube: KubeReader) -> None:
    hold = asyncio.Event()

    async def held(request: web.Request) -> web.StreamResponse:
        await hold.wait()
        return await page(pod("b"))(request)

    async def late() -> KubeListing[str]:
        deadline.set(0.0)
        listing = await kube.list(PODS, name_of)
        hold.set()
        return listing

    paths = [f"/api/v1/namespaces/{name}/pods" for name in "ab"]
    for path in paths:
        cluster.reply(path, page(pod("a"), follows="t"), held)
    cluster.reply(PODS, page(pod("a"), follows="t"), page(pod("b")))
    first, second, third = await asyncio.gather(*(kube.list(path, name_of) for path in paths), late())
    assert (first.truncated, second.truncated, third.truncated) == (False, False, True)
    assert third.items == ("a",)


async def test_where_the_api_server_throttles_no_further_list_is_asked_for(
    cluster: LocalCluster, kube: KubeReader
) -> None:
    cluster.reply(PODS, refuses(429, "TooManyRequests", "the server has received too many requests", retry_after="1"))
    cluster.reply("/api/v1/nodes", page(pod("a")))
    with pytest.raises(Throttled):
        await kube.list(PODS, name_of)
    with pytest.raises(Throttled, match="the API server throttles aksbot: 429") as caught:
        await kube.list("/api/v1/nodes", name_of)
    assert caught.value.unavailable.wanted == "nodes"
    assert "/api/v1/nodes" not in cluster.paths()


async def test_half_a_list_is_no_list(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(pod("a"), follows="t"), refuses(500, "InternalError", "etcd is gone"))
    with pytest.raises(ServerFault, match="etcd is gone"):
        await kube.list(PODS, name_of)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (says({"kind": "PodList", "metadata": {}}), "holds no list"),
        (says({"kind": "Status", "status": "Success"}), "holds no list"),
        (says([]), "holds no list"),
        (says({"kind": "PodList", "items": ["a"]}), "no object"),
        (says({"kind": "PodList", "items": [], "metadata": []}), "holds no list"),
        (raw(b""), "empty"),
        (raw(b'{"items": [{"metadata": {"na'), "no JSON"),
        (raw(b"<!DOCTYPE html><html>", content_type="text/html"), "web page"),
        (half(), "broke off"),
    ],
)
async def test_what_is_no_list_is_not_an_empty_one(
    cluster: LocalCluster, kube: KubeReader, answer: Any, why: str
) -> None:
    cluster.reply(PODS, answer)
    with pytest.raises(Garbled, match=why):
        await kube.list(PODS, name_of)


async def test_tokens_that_lead_in_a_circle_end(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(pod("a"), follows="same"))
    with pytest.raises(Garbled, match="circle"):
        await kube.list(PODS, name_of)


async def test_tokens_that_lead_in_a_circle_of_two_end(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, *(page(pod("a"), follows=token) for token in "ab" * 10))
    with pytest.raises(Garbled, match="circle"):
        await kube.list(PODS, name_of)
    assert len(cluster.asked) == 3


@pytest.mark.parametrize("token", [["t"], {"t": 1}, 7])
async def test_a_token_that_is_no_text_is_no_end_of_a_list(cluster: LocalCluster, kube: KubeReader, token: Any) -> None:
    cluster.reply(PODS, says({"kind": "PodList", "metadata": {"continue": token}, "items": [pod("a")]}))
    with pytest.raises(Garbled, match="next page is no text"):
        await kube.list(PODS, name_of)


async def test_a_list_too_long_for_its_deadline_is_cut_and_says_so(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(pod("a"), follows="t"), page(pod("b")))
    deadline.set(asyncio.get_running_loop().time())
    listing = await kube.list(PODS, name_of)
    assert (listing.items, listing.truncated) == (("a",), True)


async def test_kept_texts_leave_without_secrets(cluster: LocalCluster, kube: KubeReader) -> None:
    leak = "password=hunter2hunter2 was refused"
    cluster.reply(PODS, page(pod("a", message=leak), pod("b", message="fine")))
    listing = await kube.list(PODS, lambda row: Row(name_of(row), row["message"], (row["message"],)))
    assert [one.name for one in listing.items] == ["a", "b"]
    assert listing.items[0].message == "password=[redacted:password] was refused"
    assert listing.items[0].waiting == (listing.items[0].message,)


async def test_kept_mappings_leave_without_what_their_keys_promise(cluster: LocalCluster, kube: KubeReader) -> None:
    notes = {"team": "payments", "db-password": "hunter2hunter2"}
    cluster.reply(PODS, page(pod("a", metadata={"annotations": notes})))
    listing = await kube.list(PODS, lambda row: (name_of(row), row["metadata"]["annotations"]))
    assert listing.items == (("a", {"team": "payments", "db-password": "[redacted:password]"}),)


async def test_a_sum_leaves_without_secrets(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(pod("a", message="token=abcdefgh12345678")))

    def note(found: dict[str, list[str]], row: Any) -> None:
        found.setdefault("messages", []).append(row["message"])

    folded = await kube.fold(PODS, dict, note)
    assert "abcdefgh12345678" not in str(folded.value)


async def test_what_cannot_be_looked_into_is_not_kept(cluster: LocalCluster, kube: KubeReader) -> None:
    cluster.reply(PODS, page(pod("a")))
    with pytest.raises(TypeError, match="keeps texts"):
        await kube.list(PODS, lambda row: object())
