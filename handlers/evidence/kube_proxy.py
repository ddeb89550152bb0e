"""What kube-proxy wrote last: where it does not run, and on the nodes on which workloads are unwell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Nodes, Pod
from handlers.evidence.gather import each
from handlers.evidence.system import SystemPods
from handlers.evidence.system_namespaces import KUBE_SYSTEM
from handlers.evidence.wire import dig, moment, need_text, text
from handlers.evidence.workloads.symptoms import Sign, Symptoms
from handlers.model import Evidence, NotApplicable, Unavailable
from runbooks.linear import Pattern, compile_linear

KUBE_PROXY = "kube-proxy"
OWNER = f"{KUBE_SYSTEM}/DaemonSet/{KUBE_PROXY}"
LABELS = "component=kube-proxy"
"""How AKS labels its pods."""
MOST_PODS = 3
"""Whose lines are read: what breaks kube-proxy breaks it in the same way on every node."""
MOST_LINES = 200
LONGEST_TAIL = 60_000
LATELY_S = 600
"""It writes its rules anew every 30 s at the latest while they fail: what failed longer ago has passed."""
REPEATED = 2
"""One failed write is repeated at once and passes: another program held the lock for a moment."""
HEARS_AGAIN = timedelta(minutes=2)
"""client-go asks again after a minute at the latest, and says so where that fails: then it hears of services again."""
_UNWRITTEN = compile_linear(
    r"Failed to execute iptables-restore|iptables-restore: line [0-9]+ failed|xtables lock|"
    r"[Cc]an't initialize ip6?tables table|Could not (?:fetch rule set generation|modify iptables)|"
    r"Failed to (?:ensure|initialize|list|sync)[^\n]{0,60}(?:iptables|ipset|chain|nftables|nodeIP)|Sync failed"
)
"""kube-proxy (pkg/proxy): its rules are not written."""
_UNHEARD = compile_linear(r"[Ff]ailed to (?:list|watch) \*v1\.(?:Service|EndpointSlice)")
"""client-go: it does not hear of services. The API server is away for a moment in each upgrade."""
_HEARD = compile_linear(r"Caches populated[^*]{0,20}\*v1\.(?:Service|EndpointSlice)")
_WHEN = compile_linear(r"^[IWEF](?P<when>[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2})")
"""How klog begins a line; it leaves the year out."""
_FATAL = compile_linear(
    r"^F[0-9]{4} |permission denied|Error: |Error running ProxyServer|panic: |unable to create proxier"
)
_ATTEMPT = "Reloading service iptables data"
"""Written before each write of the rules; behind the last failure it says that a later write went through."""


@dataclass(frozen=True, slots=True)
class ProxyTail:
    """What one pod of kube-proxy says of what is wrong with it."""

    pod: str
    node: str
    runs: bool
    line: str
    """The last line that says why; empty where none does."""
    count: int


@dataclass(frozen=True, kw_only=True)
class KubeProxyLogs(Evidence):
    """The last lines of kube-proxy where it does not run, and where workloads are unwell."""

    tails: tuple[ProxyTail, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    pod: str
    node: str
    runs: bool


@collector(reads=(), sees=("list pods", "get pods/log"), deadline_s=15)
async def kube_proxy_logs(
    cluster: ManagedCluster, nodes: Nodes, pods: SystemPods, symptoms: Symptoms | Unavailable, kube: KubeReader
) -> KubeProxyLogs | NotApplicable:
    """the last lines of kube-proxy"""
    without = why_without(cluster)
    if without:
        return NotApplicable(without)
    ready = {node.name for node in nodes.nodes if node.is_ready}
    broken = [_of(pod) for pod in pods.pods if is_proxy(pod) and _has_ended(pod) and pod.node in ready]
    others = (_unwell_nodes(symptoms) & ready) - {wanted.node for wanted in broken}
    running = await _running_on(kube, others) if others and len(broken) < MOST_PODS else []

    async def read(wanted: _Wanted) -> ProxyTail:
        return await _tail(kube, wanted, pods.taken_at)

    wanted = [*broken, *running][:MOST_PODS]
    tails, gaps = await each(wanted, read) if wanted else ([], ())
    return KubeProxyLogs(source=pods.source, taken_at=pods.taken_at, gaps=gaps, tails=tuple(tails))


def why_without(cluster: ManagedCluster) -> str:
    """Why this cluster has no kube-proxy by design; empty where it should have one."""
    if cluster.stopped:
        return f"{cluster.name} is stopped: nothing runs in it"
    if text(cluster.network, "networkDataplane").lower() == "cilium":
        return "the network dataplane is Cilium, which serves services without kube-proxy"
    if dig(cluster.network, "kubeProxyConfig", "enabled") is False:
        return "kubeProxyConfig turns kube-proxy off in this cluster"
    return ""


def is_proxy(pod: Pod) -> bool:
    return (pod.namespace, pod.owner_kind, pod.owner) == (KUBE_SYSTEM, "DaemonSet", KUBE_PROXY)


def _has_ended(pod: Pod) -> bool:
    """A container that never ran has written nothing; pods that are well stand here where their node is emptied."""
    return pod.restarts > 0 and not pod.deleting and (not pod.ready or pod.ended is not None)


def _of(pod: Pod) -> _Wanted:
    return _Wanted(pod.name, pod.node, pod.ready)


def _unwell_nodes(symptoms: Symptoms | Unavailable) -> set[str]:
    """Where a container that runs, or ends by itself, is unwell."""
    if isinstance(symptoms, Unavailable):
        return set()
    unwell = symptoms.of(Sign.CRASHING, Sign.NOT_READY)
    return {pod.node for symptom in unwell for pod in symptom.pods if pod.node}


async def _running_on(kube: KubeReader, nodes: set[str]) -> list[_Wanted]:
    def keep(body: Mapping[str, Any]) -> _Wanted | None:
        node = text(body, "spec", "nodeName")
        return _Wanted(need_text(body, "metadata", "name"), node, True) if node in nodes else None

    listing = await kube.list(f"/api/v1/namespaces/{KUBE_SYSTEM}/pods", keep, labels=LABELS)
    return sorted(listing.items, key=lambda wanted: wanted.node)


async def _tail(kube: KubeReader, wanted: _Wanted, now: datetime) -> ProxyTail:
    params = {"tailLines": str(MOST_LINES)}
    if wanted.runs:
        params["sinceSeconds"] = str(LATELY_S)
    path = f"/api/v1/namespaces/{KUBE_SYSTEM}/pods/{wanted.pod}/log"
    lines = [line.strip() for line in (await kube.text(path, params, most=LONGEST_TAIL)).splitlines() if line.strip()]
    told = _not_synced(lines, now) if wanted.runs else _last_words(lines)
    return ProxyTail(wanted.pod, wanted.node, wanted.runs, told[-1][:400] if told else "", len(told))


def _not_synced(lines: list[str], now: datetime) -> list[str]:
    """The failures of the last minutes; none where a later write of the rules went through."""
    failed = sorted({*_lines_of(_UNWRITTEN, lines), *_deaf(lines, now)})
    written = max((number for number, line in enumerate(lines) if _ATTEMPT in line), default=-1)
    if len(failed) < REPEATED or written > failed[-1]:
        return []
    return [lines[number] for number in failed]


def _deaf(lines: list[str], now: datetime) -> list[int]:
    """Where it did not hear of services; nowhere if it does again. A quiet cluster gives it nothing to write then."""
    failed = _lines_of(_UNHEARD, lines)
    since = _moment_of(lines[failed[-1]], now) if failed else None
    passed = since is None or now - since >= HEARS_AGAIN
    return [] if passed or max(_lines_of(_HEARD, lines), default=-1) > failed[-1] else failed


def _lines_of(pattern: Pattern, lines: list[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if pattern.search(line)]


def _moment_of(line: str, now: datetime) -> datetime | None:
    """When a line was written: within the year before now, by a clock that may be ahead."""
    found = _WHEN.search(line)
    if found is None:
        return None
    told = f"{found['when'][:2]}-{found['when'][2:4]}T{found['when'][5:]}Z"
    said = (moment(f"{year}-{told}") for year in (now.year, now.year - 1))
    return next((at for at in said if at and at - now < timedelta(days=1)), None)


def _last_words(lines: list[str]) -> list[str]:
    """What a process that ended said of why."""
    return [line for line in lines if _FATAL.search(line) or _UNWRITTEN.search(line) or _UNHEARD.search(line)]
