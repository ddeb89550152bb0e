"""Whether the API server reaches the kubelets: it is asked for the last log line of a system pod on a few nodes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Node, Nodes
from handlers.evidence.gather import each
from handlers.evidence.wire import need_text, number, rows, text
from handlers.model import CannotSee, Evidence, Unavailable, Why

PODS = "/api/v1/namespaces/kube-system/pods"
AGENT = "konnectivity-agent"
MOST_NODES = 3
"""One node with an agent, two without: where the nodes cannot reach each other, only the former answers."""
LONGEST_ANSWER = 4000
OF_THE_WAY = ("no agent available", "error dialing backend", "dial tcp", "dial timeout", ": eof")
"""What the API server says when a call to a kubelet does not get there."""
DIAL_S = 20
"""A konnectivity-agent gives up dialing a kubelet after 5 s, and says so."""


@dataclass(frozen=True, slots=True)
class SystemPod:
    """A running pod of kube-system, and one container of it."""

    name: str
    node: str
    container: str
    ready: bool
    is_agent: bool


@dataclass(frozen=True, slots=True)
class Call:
    """What the API server answered when it was asked for a log on one node."""

    pod: str
    node: Node
    refusal: str
    """Why the API server did not reach the kubelet; empty where it did."""
    has_agent: bool

    @property
    def says(self) -> str:
        """The refusal without the address that was asked for: `No agent available`."""
        _, found, rest = self.refusal.partition('": ')
        return rest if found and 'Get "' in self.refusal else self.refusal

    @property
    def no_agent(self) -> bool:
        return "no agent available" in self.refusal.lower()


@dataclass(frozen=True, kw_only=True)
class KubeletCalls(Evidence):
    """What came of the API server's calls to a few kubelets."""

    calls: tuple[Call, ...]
    agents: tuple[SystemPod, ...]
    """The pods of konnectivity-agent; none where the API server is in the cluster's own network."""

    @property
    def refused(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if call.refusal)

    @property
    def answered(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if not call.refusal)


@collector(reads=(), sees=("list pods", "get pods/log"), deadline_s=DIAL_S)
async def kubelet_calls(cluster: ManagedCluster, nodes: Nodes, kube: KubeReader) -> KubeletCalls:
    """the API server's way to the kubelets"""
    listed = await kube.list(PODS, read_system_pod, labels=f"app={AGENT}")
    agents = tuple(pod for pod in listed.items if pod.is_agent)
    chosen = _chosen(nodes, {agent.node for agent in agents})
    if not chosen:
        raise CannotSee(Unavailable(kubelet_calls.title, Why.ABSENT, "no node is Ready whose kubelet could answer"))

    async def call(node: Node) -> Call | None:
        listing = await kube.list(PODS, read_system_pod, fields=f"spec.nodeName={node.name},status.phase=Running")
        ready = next((pod for pod in listing.items if pod.ready and pod.node == node.name), None)
        return await _call(kube, ready, node, agents) if ready else None

    answers, gaps = await each(chosen, call)
    calls = tuple(answer for answer in answers if answer)
    if not calls:
        raise CannotSee(Unavailable(kubelet_calls.title, Why.ABSENT, "no pod of kube-system is Ready on a Ready node"))
    return KubeletCalls(
        source="; ".join(f"kubectl logs {call.pod} --namespace kube-system --tail 1" for call in calls),
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=gaps,
        calls=calls,
        agents=agents,
    )


def _chosen(nodes: Nodes, with_agents: set[str]) -> list[Node]:
    """Ready nodes: one that has an agent, and others."""
    ready = [node for node in nodes.nodes if node.is_ready and not node.virtual and not node.deleting]
    first = [node for node in ready if node.name in with_agents][:1]
    others = [node for node in ready if node.name not in with_agents]
    rest = [node for node in ready if node.name in with_agents and node not in first]
    return [*first, *others, *rest][:MOST_NODES]


async def _call(kube: KubeReader, pod: SystemPod, node: Node, agents: Iterable[SystemPod]) -> Call:
    """An answer of status 500 is one of the API server itself: it says what became of its call to the kubelet."""
    path, params = f"{PODS}/{pod.name}/log", {"container": pod.container, "tailLines": "1"}
    told = await kube.text(path, params, also=(500,), most=LONGEST_ANSWER)
    refusal = await asyncio.to_thread(read_refusal, told)
    return Call(pod.name, node, refusal, any(agent.node == node.name for agent in agents))


def read_refusal(told: str) -> str:
    """Why the API server did not reach the kubelet, from a Status; empty where the text is a log."""
    if not told.startswith('{"kind":"Status"'):
        return ""
    try:
        status = json.loads(told)
    except ValueError:
        return ""
    if number(status, "code") != 500 or text(status, "status") != "Failure":
        return ""
    message = text(status, "message")
    if not _is_of_the_way(message):
        raise CannotSee(Unavailable(kubelet_calls.title, Why.FAILED, message or "500 without a message"))
    return message


def _is_of_the_way(message: str) -> bool:
    """A kubelet without a serving certificate (`tls: internal error`) was reached."""
    told = message.lower()
    return "tls:" not in told and "x509" not in told and any(sign in told for sign in OF_THE_WAY)


def read_system_pod(body: Mapping[str, Any]) -> SystemPod | None:
    """A pod that has a node; None before that."""
    container = next(_names(body), "")
    node = text(body, "spec", "nodeName")
    if not node or not container:
        return None
    ready = any(
        text(row, "type") == "Ready" and text(row, "status") == "True" for row in rows(body, "status", "conditions")
    )
    leaving = bool(text(body, "metadata", "deletionTimestamp"))
    is_agent = text(body, "metadata", "labels", "app") == AGENT
    return SystemPod(need_text(body, "metadata", "name"), node, container, ready and not leaving, is_agent)


def _names(body: Mapping[str, Any]) -> Iterator[str]:
    yield from (text(row, "name") for row in rows(body, "spec", "containers"))
