"""One plan per verb with a matching scenario, by name, so that other processes can build it too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handlers.remedy.plan import Plan, Verb
from tests.remedy_execution.inside import a_pod, change, drain, probe
from tests.remedy_execution.stage import Body, Stage, step


@dataclass(frozen=True)
class Case:
    """A fix and its scenario."""

    scenario: str
    cluster: str
    make: Callable[[Stage], Plan]


def _failed(stage: Stage, kind: str) -> Body:
    found = (
        body
        for key, body in stage.azure.world.resources.items()
        if key.rsplit("/", 2)[-2] == "virtualmachines"
        and kind in key
        and body["properties"].get("provisioningState") == "Failed"
    )
    return next(found)


def _pool(stage: Stage) -> Plan:
    return stage.plan(stage.put_pool("general"))


def _cluster_and_pool(stage: Stage) -> Plan:
    above = f"{stage.cluster}/agentpools/".lower()
    name = next(body["name"] for key, body in stage.azure.world.resources.items() if key.startswith(above))
    return stage.plan(stage.put_pool(name), stage.put_cluster(etag="", without=(name,)))


def _instance(stage: Stage) -> Plan:
    return stage.plan(stage.update(_failed(stage, "virtualmachinescalesets")))


def _machine(stage: Stage) -> Plan:
    machine = _failed(stage, "/providers/microsoft.compute/virtualmachines/")
    node = machine["properties"]["osProfile"]["computerName"]
    return stage.plan(step(Verb.REAPPLY_MACHINE, machine["id"], node=node))


def _provider(stage: Stage) -> Plan:
    subscription = stage.cluster.split("/resource")[0]
    return stage.plan(step(Verb.REGISTER_PROVIDER, subscription, namespace="Microsoft.OperationalInsights"))


def _domain(stage: Stage) -> Plan:
    domain = next(key for key in stage.azure.world.resources if key.endswith("/l3isolationdomains/l3isd-edge-nexus-01"))
    return stage.plan(step(Verb.ENABLE_ISOLATION_DOMAIN, stage.azure.world.resources[domain]["id"]))


def _abort(stage: Stage) -> Plan:
    return stage.plan(step(Verb.ABORT_LATEST, stage.cluster))


def _pod(stage: Stage) -> Plan:
    name = without_finalizers(stage)
    change(stage, name, {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}})
    return stage.plan(a_pod(stage, name))


def stuck_pod(stage: Stage) -> str:
    """The pod stuck in Terminating."""
    pods = stage.azure.world.kubes[stage.cluster.lower()].every("pods", "orders", group="")
    return next(f"orders/Pod/{pod['metadata']['name']}" for pod in pods if pod["metadata"].get("deletionTimestamp"))


def without_finalizers(stage: Stage) -> str:
    name = stuck_pod(stage)
    change(stage, name, {"metadata": {"finalizers": None}})
    return name


CASES = {
    "reconcile-pool": Case("nodepool-failed", "staging-neu", _pool),
    "reconcile-cluster": Case("cluster-failed", "prod-eus2", _cluster_and_pool),
    "update-instances": Case("node-vm-failed", "prod-weu", _instance),
    "reapply-machine": Case("node-vm-failed-availability-set", "staging-neu", _machine),
    "register-provider": Case("subscription-not-registered", "prod-weu", _provider),
    "enable-isolation-domain": Case("isolation-domain-disabled", "edge-nexus-01", _domain),
    "relax-budget": Case("pdb-blocks-drain", "prod-weu", drain),
    "delete-stuck-pod": Case("drain-error", "staging-neu", _pod),
    "probe-from-pod": Case("drain-error", "staging-neu", probe),
    "abort-operation": Case("upgrade-runs-long", "payments-prod", _abort),
}
