"""Pods that stand on a node and get no network, by what the kubelet says: no address, or a plugin that fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from handlers.evidence.cluster import Pod, Pods
from handlers.evidence.workloads.warnings import Warned, WarningEvents

FAILED = "FailedCreatePodSandBox"
STILL = timedelta(minutes=5)
"""The kubelet tries a sandbox again after some seconds, and renews the event."""
OFTEN = 2
"""One failure while a plugin starts anew is nothing."""
NO_ADDRESS = (
    "no available addresses",
    "no addresses available",
    "no ip addresses available",
    "no more ips available",
    "no ips available",
    "not enough ips available",
    "failed to allocate address",
    "failed to allocate for range",
    "range is full",
)
"""Of host-local (kubenet), azure-vnet-ipam, azure-cns and Cilium, in lower case."""
OF_THE_NETWORK = (
    "failed to setup network for sandbox",
    "failed to set up pod",
    "failed to find plugin",
    "cni plugin not initialized",
    "cni config uninitialized",
    "network plugin is not ready",
    "networkplugin",
    "plugin type=",
)


@dataclass(frozen=True, slots=True)
class SandboxFailure:
    """A pod without a network, and the kubelet's last word about it."""

    pod: Pod
    told: Warned

    @property
    def says(self) -> str:
        """What the plugin said, without what containerd and the kubelet put before it."""
        return self.told.message.rpartition("failed (add): ")[2]

    @property
    def lacks_address(self) -> bool:
        return any(sign in self.told.message.lower() for sign in NO_ADDRESS)

    @property
    def of_network(self) -> bool:
        return not self.lacks_address and any(sign in self.told.message.lower() for sign in OF_THE_NETWORK)


def sandbox_failures(pods: Pods, warnings: WarningEvents) -> Iterator[SandboxFailure]:
    """Those that fail now: the pod still waits on its node, and the kubelet has said so in the last minutes."""
    told: dict[str, Warned] = {}
    for warned in sorted(warnings.saying(FAILED), key=lambda warned: warned.last):
        told[warned.subject] = warned
    for pod in pods.pods:
        last = told.get(pod.subject)
        if last is None or pod.ready or pod.deleting or not pod.node:
            continue
        times = sum(warned.count for warned in warnings.about(pod.subject) if warned.reason == FAILED)
        if last.last >= pods.taken_at - STILL and times >= OFTEN:
            yield SandboxFailure(pod, last)


def by_node(failures: Iterator[SandboxFailure] | list[SandboxFailure]) -> dict[str, list[SandboxFailure]]:
    """The nodes with the most first."""
    grouped: dict[str, list[SandboxFailure]] = {}
    for failure in failures:
        grouped.setdefault(failure.pod.node, []).append(failure)
    return dict(sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0])))
