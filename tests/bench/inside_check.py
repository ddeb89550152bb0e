"""Checks a large cluster, and separately just downloads the same pages, in a dedicated process."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import orjson

from bot.checks.clients import Clients, clients
from handlers.clients.access import AzureAccess
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.door.direct import DirectWay
from handlers.clients.kube.paths import ApiPath
from handlers.clients.kube.reader import PAGE, KubeReader
from handlers.engine.run import Engine
from handlers.evidence.workloads.unwell import SLICES_A_PAGE
from handlers.fleet.names import resolve
from handlers.model import State, Target
from tests.bench.inside_process import CLUSTER
from tests.checking import CHECK_DEADLINE_S, GRAPH, LIBRARY, diagnose

NARROWED = {"/api/v1/events": "fieldSelector=type!%3DNormal"}
"""Lists that the check asks for in part; the API server leaves the rest out."""
PAGES = {"/apis/discovery.k8s.io/v1/endpointslices": SLICES_A_PAGE}
NO_LISTS = ("/readyz", "/version")
OK = 200
ROUNDS = 3


async def measure(environment: dict[str, str]) -> dict[str, float]:
    azure = AzureAccess(
        resource_manager=environment["AKSBOT_AZURE_RESOURCE_MANAGER"],
        authority=environment["AKSBOT_AZURE_AUTHORITY"],
        ca_bundle=Path(environment["AKSBOT_CA_BUNDLE"]),
        identity=environment,
    )
    async with clients(azure, KubeAccess()) as opened:
        await diagnose(opened, await resolve("staging-neu", opened.arm))  # imports, tokens, TLS
        target = await resolve(CLUSTER, opened.arm)
        idle_mb = _peak_mb(reset=True)
        checked = [await _checked(opened, target) for _ in range(ROUNDS)]
        peak_mb = _peak_mb(reset=False)
        lists = checked[0][2]
        plain = [await _downloaded(opened, target, lists) for _ in range(ROUNDS)]
    wall_s, judged_s, _ = min(checked)
    took = {"wall_s": wall_s, "judged_s": judged_s, "plain_s": min(plain), "idle_mb": idle_mb, "peak_mb": peak_mb}
    return {**took, "kinds": len(lists)}


async def _checked(opened: Clients, target: Target) -> tuple[float, float, tuple[str, ...]]:
    """How long it took, how much of that was judging, and the lists that were asked for."""
    began = time.perf_counter()
    async with opened.for_target(target) as given:
        engine = Engine(GRAPH, LIBRARY.explains, deadline_s=CHECK_DEADLINE_S)
        diagnosis = await engine.diagnose(target, given)
        calls = list(given[KubeReader].calls)
    wall_s = time.perf_counter() - began
    if diagnosis.state is not State.CLEAR or diagnosis.unseen:
        raise RuntimeError(f"{diagnosis.state}: {diagnosis.unseen}")
    lists = {call.path for call in calls if call.status == OK and not ApiPath.at(call.path).name}
    return wall_s, sum(check.took_ms for check in diagnosis.checks) / 1000, tuple(sorted(lists - set(NO_LISTS)))


async def _downloaded(opened: Clients, target: Target, lists: Iterable[str]) -> float:
    """Download the same lists concurrently with the same client, parsing and discarding each page."""
    way = DirectWay(target, opened.doors)
    began = time.perf_counter()
    await asyncio.gather(*(_pages(way, path) for path in lists))
    took_s = time.perf_counter() - began
    await way.close()
    return took_s


async def _pages(way: DirectWay, path: str) -> None:
    follows = ""
    limit = PAGES.get(path, PAGE)
    narrowed = f"&{NARROWED[path]}" if path in NARROWED else ""
    while True:
        more = f"&continue={follows}" if follows else ""
        reply = await way.send("GET", f"{path}?limit={limit}{narrowed}{more}", None)
        follows = orjson.loads(reply.content)["metadata"].get("continue", "")
        if not follows:
            return


def _peak_mb(*, reset: bool) -> float:
    """The peak memory of this process since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    sys.stdout.write(orjson.dumps(asyncio.run(measure(orjson.loads(sys.argv[1])))).decode())
