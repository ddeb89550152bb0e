"""Pods without an address, and who holds the addresses: pods that run, pods that ended, the plugin, or the subnet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import Body, at, pool_id
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked, found

CODE = "pod-ip-exhaustion"
CONFIGS = "/apis/acn.azure.com/v1alpha/namespaces/kube-system/nodenetworkconfigs"
OF_CNS = (
    'Failed to create pod sandbox: failed to setup network for sandbox "9c": plugin type="azure-vnet" failed (add): '
    "AllocateIPConfig failed: not enough IPs available for 9c6a, waiting on Azure CNS to allocate more"
)
OF_KUBENET = (
    'Failed to create pod sandbox: failed to setup network for sandbox "9c": plugin type="bridge" failed (add): '
    "failed to allocate for range 0: no IP addresses available in range set: 10.244.1.1-10.244.1.254"
)


class Addresses(Inside):
    """One node, on which some pods run, some have ended, and one waits for an address."""

    def __init__(self, live: int, ended: int = 0, message: str = OF_CNS, **network: Any) -> None:
        super().__init__()
        self.pool("apps", count=1, maxPods=30)
        self.cluster["networkProfile"] |= network
        self.room()["spec"]["podCIDR"] = "10.244.1.0/28"
        for number in range(live):
            self.pod(f"live-{number}", podIP=f"10.244.1.{number}")
        for number in range(ended):
            self.pod(f"ended-{number}", phase="Succeeded", ready=False)
        owner = {"ownerReferences": [{"kind": "ReplicaSet", "name": "web-5d9c7b8f6"}]}
        self.pod("web-5d9c7b8f6-x2", ready=False, metadata=owner, phase="Pending")
        self.event = self.add(
            "Event",
            "web.1",
            type="Warning",
            reason="FailedCreatePodSandBox",
            message=message,
            count=9,
            firstTimestamp=at(timedelta(minutes=9)),
            lastTimestamp=at(timedelta(minutes=1)),
            involvedObject={"kind": "Pod", "name": "web-5d9c7b8f6-x2", "namespace": "shop"},
        )

    def holds(self, assigned: int, requested: int) -> Addresses:
        """What azure-cns asked for and got."""
        container: Body = {"ipAssignments": [{"ip": f"10.244.1.{number}"} for number in range(assigned)]}
        status = {"assignedIPCount": assigned, "networkContainers": [container]}
        config = {"metadata": {"name": "node-0"}, "spec": {"requestedIPCount": requested}, "status": status}
        self.more_inside[CONFIGS] = [config]
        return self


KUBENET = {"networkPlugin": "kubenet", "networkPluginMode": None}


@pytest.mark.parametrize(
    ("case", "cause"),
    [
        (Addresses(14, message=OF_KUBENET, **KUBENET), "range-full"),
        (Addresses(10, ended=9, message=OF_KUBENET, **KUBENET), "churn"),
        (Addresses(3, message=OF_KUBENET, **KUBENET), "unclear"),
        (Addresses(4).holds(16, 16), "leaked"),
        (Addresses(16).holds(16, 16), "range-full"),
        (Addresses(10, ended=8).holds(16, 16), "churn"),
        (Addresses(15).holds(16, 32), "subnet"),
        (Addresses(3), "unclear"),
    ],
)
async def test_its_causes_are_told_apart(case: Addresses, cause: str) -> None:
    finding = await found(CODE, case)
    assert (finding.subject, finding.facts["cause"]) == (pool_id("apps"), cause)
    assert "shop/Deployment/web" in finding.affects


async def test_a_leak_shows_the_arithmetic_and_what_to_do() -> None:
    finding = await found(CODE, Addresses(4).holds(16, 16))
    assert finding.because[2] == "node-0: 16 addresses, held by 4 pods, waited for by 1"
    assert "az aks nodepool delete-machines" in page("Fix", finding)


async def test_on_kubenet_the_nodes_own_store_is_the_command() -> None:
    finding = await found(CODE, Addresses(3, message=OF_KUBENET, **KUBENET))
    check = page("Check it yourself", finding)
    assert "ls /var/lib/cni/networks/kubenet | wc -l; crictl pods --quiet | wc -l" in check
    assert "virtualMachines/0" in check


async def test_a_pod_that_has_its_address_by_now_is_no_problem() -> None:
    case = Addresses(3)
    case.pods[-1]["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    check = await asked(CODE, case)
    assert (check.outcome, check.why) == (Outcome.CLEAR, "no pod waits for an address")


async def test_a_plugin_that_is_not_there_is_another_problem() -> None:
    case = Addresses(3)
    case.event["message"] = 'failed to setup network for sandbox "9c": failed to find plugin "azure-vnet" in path'
    assert (await asked(CODE, case)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("denied", ["/api/v1/pods", "/api/v1/events", "/api/v1/nodes"])
async def test_where_the_proof_is_denied_it_stays_open(denied: str) -> None:
    case = Addresses(3)
    case.denied = {denied}
    check = await asked(CODE, case)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_a_config_that_may_not_be_read_leaves_the_cause_unclear_and_says_so() -> None:
    case = Addresses(3).holds(16, 16)
    case.denied = {"/nodenetworkconfigs"}
    finding = await found(CODE, case)
    assert finding.facts["cause"] == "unclear"
    assert "403" in finding.because[-1]
