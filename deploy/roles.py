"""Generates the roles from what collectors and remedies declare: `make roles`.

`azure/aksbot-reader.json` lets the bot read Azure, `azure/aksbot-writer.json` lets it carry out fixes there. Inside the
clusters `kubernetes/writer.yaml` does, also where Azure RBAC for Kubernetes decides: its roles know neither namespaces
nor `create` without `update`, so its data actions would let the writer change every pod of a subscription.
`kubernetes/pod-proxy.yaml` is for the namespaces in which people let aksbot ask pods whether they listen.
`kubernetes/reader.yaml` is for clusters that use Kubernetes RBAC. Where Azure RBAC for Kubernetes decides, the data
actions of the reader do. Azure has one for custom resources of every kind and none for a single kind;
`azure/aksbot-reader-condition.txt` limits it to the API groups that are read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

import handlers.diagnose
import handlers.evidence
from handlers.engine.graph import Graph
from handlers.evidence.detectors import ON_REQUEST
from handlers.evidence.support import ON_REQUEST as FOR_SUPPORT
from handlers.fleet.clusters import SEARCHED
from handlers.remedy.inside import IN
from handlers.remedy.offers import Remedies

AZURE = Path(__file__).with_name("azure") / "aksbot-reader.json"
CONDITION = Path(__file__).with_name("azure") / "aksbot-reader-condition.txt"
WRITER = Path(__file__).with_name("azure") / "aksbot-writer.json"
KUBERNETES = Path(__file__).with_name("kubernetes") / "reader.yaml"
POD_PROXY = Path(__file__).with_name("kubernetes") / "pod-proxy.yaml"
KUBERNETES_WRITER = Path(__file__).with_name("kubernetes") / "writer.yaml"

FINDING_CLUSTERS = (
    "Microsoft.ResourceGraph/resources/read",
    "Microsoft.Resources/subscriptions/read",
    *(f"{kind}/read" for kind in SEARCHED),
)
"""What turns a name into a cluster; no collector declares it."""

FOLLOWING_WRITES = (
    "Microsoft.Authorization/permissions/read",
    "Microsoft.Compute/locations/operations/read",
    "Microsoft.Compute/virtualMachineScaleSets/read",
    "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read",
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.ContainerService/locations/operationresults/read",
    "Microsoft.ContainerService/locations/operations/read",
    "Microsoft.ContainerService/managedClusters/agentPools/read",
    "Microsoft.ContainerService/managedClusters/read",
    "Microsoft.Resources/subscriptions/providers/read",
)
"""What is sent again is read first, and how a write ends is read until it has."""

GETTING_IN = "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action"
"""What leads the writer to the API server of a cluster."""

_IN_CLUSTER = "Microsoft.ContainerService/managedClusters"
AZURES_GROUPS = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "flowcontrol.apiserver.k8s.io",
        "metrics.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)
"""The API groups that Microsoft.ContainerService has data actions for, by Azure's list of resource provider operations.
Whatever else is read inside a cluster is a custom resource."""
CUSTOM = f"{_IN_CLUSTER}/customresources/read"
"""Azure's data action for all of those. `managedClusters/*/read` would cover every Secret, too."""
_RBAC = "rbac.authorization.k8s.io"
_HEADER = """\
# What aksbot may see inside a cluster, written by `make roles` from what its collectors declare.
# Azure's own "RBAC Reader" role cannot read nodes. Bind this to the object id of the bot's identity.
"""
_POD_PROXY_HEADER = """\
# Lets aksbot ask, through the API server, whether the pods of one namespace listen, written by `make roles`: it allows
# a GET on everything that they serve. Bind it in those namespaces alone that AKSBOT_POD_PROXY names.
"""
_WRITER_HEADER = """\
# What aksbot may do inside a cluster when a fix was approved, written by `make roles` from what its remedies declare.
# Bind this to the object id of the writer's identity. Leave out what you never want to be done.
"""


def azure_role(graph: Graph) -> dict[str, Any]:
    """A role definition as `az role definition create` takes it."""
    return {
        "Name": "aksbot-reader",
        "IsCustom": True,
        "Description": "What aksbot reads to diagnose clusters. It changes nothing.",
        "Actions": _sorted({*FINDING_CLUSTERS, *_reads(graph)}),
        "NotActions": [],
        "DataActions": _sorted({_data_action(sight) for sight in _sees(graph)}),
        "NotDataActions": [],
        "AssignableScopes": ["/subscriptions/00000000-0000-0000-0000-000000000000"],
    }


def condition_text(graph: Graph) -> str:
    """A condition for the role assignment: of custom resources, the groups that are read and no others."""
    groups = _sorted({group for sight in _sees(graph) if (group := group_of(sight)) not in AZURES_GROUPS})
    named = ", ".join(f"'{group}'" for group in groups)
    of_request = f"@Request[{_IN_CLUSTER}/customResources:group]"
    return (
        f"(\n (\n  !(ActionMatches{{'{CUSTOM}'}})\n )\n OR\n (\n"
        f"  {of_request} ForAnyOfAnyValues:StringEqualsIgnoreCase {{{named}}}\n )\n)\n"
    )


def cluster_role(graph: Graph) -> list[dict[str, Any]]:
    """A ClusterRole, and its binding to the bot's identity."""
    return _everywhere_and_in(
        "aksbot-reader",
        _sees(graph),
        "<object-id-of-the-bots-identity>",
    )


def writer_cluster_role() -> list[dict[str, Any]]:
    """What the remedies need inside: in every namespace, or (a probe pod) in a single one."""
    acts = {act for remedy in Remedies.discover().all for act in remedy.acts}
    return _everywhere_and_in("aksbot-writer", acts, "<object-id-of-the-writers-identity>")


def _everywhere_and_in(name: str, acts: set[str], who: str) -> list[dict[str, Any]]:
    bound = _bound(name, _rules(_sorted({act for act in acts if IN not in act})), who)
    for namespace in sorted({act.partition(IN)[2] for act in acts if IN in act}):
        of_it = _sorted({act.partition(IN)[0] for act in acts if act.endswith(f"{IN}{namespace}")})
        bound += _bound(name, _rules(of_it), who, namespace)
    return bound


def _bound(name: str, rules: list[dict[str, Any]], who: str, namespace: str = "") -> list[dict[str, Any]]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    kind = "Role" if namespace else "ClusterRole"
    role = {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "rules": rules}
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": name},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": who}],
    }
    return [role, binding]


def azure_text(graph: Graph) -> str:
    return json.dumps(azure_role(graph), indent=2) + "\n"


def kubernetes_text(graph: Graph) -> str:
    return _HEADER + yaml.safe_dump_all(cluster_role(graph), sort_keys=False)


def pod_proxy_text(graph: Graph) -> str:
    """A Role and its binding, for each namespace in which pods may be asked."""
    sights = {sight for collector in graph.wanted for sight in collector.opt_in}
    role = _bound("aksbot-pod-proxy", _rules(_sorted(sights)), "<object-id-of-the-bots-identity>", "<namespace>")
    return _POD_PROXY_HEADER + yaml.safe_dump_all(role, sort_keys=False)


def kubernetes_writer_text() -> str:
    return _WRITER_HEADER + yaml.safe_dump_all(writer_cluster_role(), sort_keys=False)


def writer_role() -> dict[str, Any]:
    """What all remedies need in Azure, and no more. Remove what you never want to be done."""
    remedies = Remedies.discover().all
    return {
        "Name": "aksbot-writer",
        "IsCustom": True,
        "Description": "What aksbot writes in Azure when a fix was approved. Inside clusters Kubernetes grants it.",
        "Actions": _sorted(
            {*FOLLOWING_WRITES, GETTING_IN, *(action for remedy in remedies for action in remedy.writes)}
        ),
        "NotActions": [],
        "DataActions": [],
        "NotDataActions": [],
        "AssignableScopes": ["/subscriptions/00000000-0000-0000-0000-000000000000"],
    }


def writer_text() -> str:
    return json.dumps(writer_role(), indent=2) + "\n"


def _reads(graph: Graph) -> set[str]:
    """What the checks need, also on request, and what is read before a fix is offered."""
    planning = graph.facts(need for remedy in Remedies.discover().all for need in remedy.needs)
    wanted = (*graph.wanted, *planning.wanted, *graph.facts((*ON_REQUEST, *FOR_SUPPORT)).wanted)
    return {action for collector in wanted for action in collector.reads}


def _sees(graph: Graph) -> set[str]:
    return {sight for collector in graph.wanted for sight in collector.sees}


def group_of(sight: str) -> str:
    """The API group that `list leases.coordination.k8s.io` is about; a path has none."""
    seen = sight.partition(IN)[0].split(" ")[1].partition(":")[0]
    return "" if seen.startswith("/") else seen.partition(".")[2]


def _rules(sights: list[str]) -> list[dict[str, Any]]:
    by_group: dict[tuple[str, str, str], list[str]] = {}
    every_kind: dict[str, list[str]] = {}
    paths: dict[str, list[str]] = {}
    for sight in sights:
        verb, seen = sight.split(" ")
        if seen.startswith("/"):
            paths.setdefault(verb, []).append(seen)
            continue
        kind, _, name = seen.partition(":")
        resource, _, group = kind.partition(".")
        if resource == "*":
            every_kind.setdefault(verb, []).append(group)
            continue
        by_group.setdefault((group, verb, name), []).append(resource)
    grouped = [
        {
            "apiGroups": [group],
            "resources": resources,
            **({"resourceNames": [name]} if name else {}),
            "verbs": [verb],
        }
        for (group, verb, name), resources in sorted(by_group.items())
    ]
    grouped += [{"apiGroups": groups, "resources": ["*"], "verbs": [verb]} for verb, groups in every_kind.items()]
    return grouped + [{"nonResourceURLs": urls, "verbs": [verb]} for verb, urls in paths.items()]


def _data_action(sight: str) -> str:
    """`list leases.coordination.k8s.io` as Azure calls it. It knows no single objects and no namespaces (those are a
    matter of the scope that the role is assigned at), and no parts but `pods/exec`: who may read pods may read logs."""
    if group_of(sight) not in AZURES_GROUPS:
        return CUSTOM
    verb, seen = sight.partition(IN)[0].split(" ")
    resource, _, group = seen.partition(":")[0].strip("/").partition(".")
    does = "write" if verb == "create" else "read"
    return "/".join(filter(None, (_IN_CLUSTER, group, resource.partition("/")[0], does)))


def _sorted(words: set[str]) -> list[str]:
    return sorted(words, key=str.lower)


def main() -> None:
    graph = Graph.discover(handlers.evidence, handlers.diagnose).whole()
    AZURE.write_text(azure_text(graph), encoding="utf-8")
    CONDITION.write_text(condition_text(graph), encoding="utf-8")
    WRITER.write_text(writer_text(), encoding="utf-8")
    KUBERNETES.write_text(kubernetes_text(graph), encoding="utf-8")
    POD_PROXY.write_text(pod_proxy_text(graph), encoding="utf-8")
    KUBERNETES_WRITER.write_text(kubernetes_writer_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
