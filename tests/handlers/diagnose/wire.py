"""A healthy cluster as wire bodies for a test to modify: raw responses go in, a verdict comes out.

`asked(question, azure)` runs the real collectors and client over a transport that returns these responses.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import handlers.diagnose
import handlers.evidence
from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.engine.graph import Graph
from handlers.engine.rank import Explains
from handlers.engine.run import Engine
from handlers.model import Check, Diagnosis, Finding, Outcome, Target
from handlers.question import Question, read_question
from handlers.resource_id import ResourceId, within
from runbooks.library import Library
from sandbox.blueprint.usage import network_usages
from tests.handlers.diagnose.bodies import (
    AUTOSCALER,
    CLUSTER,
    GROUP,
    LOCATION,
    LOCKS,
    MANAGED_VNET,
    NETWORKS,
    NODE_GROUP,
    NODE_GROUP_ID,
    NOW,
    NSG,
    PROVIDERS,
    SUB,
    SUBNET,
    VNET,
    Body,
    at,
    endpoint,
    lone_machine,
    machine,
    pool_id,
    resource,
    rows,
    scale_set_id,
    sku,
    subscription,
    usage,
)
from tests.runbooks.first_lines import wrong_first_lines
from tests.transports import Answers

GRAPH = Graph.discover(handlers.evidence, handlers.diagnose)
LIBRARY = Library.load()
CHECKED = {code for one in GRAPH.diagnostics for code in one.codes}
PROVEN = {code: below for code, below in LIBRARY.explains.items() if code in CHECKED}
"""Treats every code as covered by a check, because uncovered codes leave some verdicts inconclusive."""


class Azure:
    """Azure's responses. A test changes one thing, then runs a diagnostic."""

    def __init__(self) -> None:
        self.cluster: Body = {
            "provisioningState": "Succeeded",
            "powerState": {"code": "Running"},
            "kubernetesVersion": "1.33",
            "currentKubernetesVersion": "1.33.6",
            "nodeResourceGroup": NODE_GROUP,
            "networkProfile": {
                "networkPlugin": "azure",
                "networkPluginMode": "overlay",
                "podCidr": "10.244.0.0/16",
                "serviceCidr": "10.0.0.0/16",
                "dnsServiceIP": "10.0.0.10",
            },
            "identityProfile": {"kubeletidentity": {"objectId": "0b000000-0000-4000-8000-000000000002"}},
        }
        self.pools: dict[str, Body] = {}
        self.machines: dict[str, list[Body]] = {}
        self.subnets: dict[str, Body] = {}
        self.taken: dict[str, int] = {}
        """How many addresses of each subnet are in use, as reported by the virtual network."""
        self.usages: list[Body] = [usage("cores", 100, 300), usage("lowPriorityCores", 0, 100)]
        self.usages += [usage("standardDSv5Family", 40, 100), usage("standardESv5Family", 0, 10)]
        self.locks: list[Body] = []
        self.roles: list[Body] = []
        self.zone_roles: list[Body] = []
        """Role assignments on a custom private DNS zone."""
        self.identity: Body = {"principalId": "0c"}
        self.set_settings: list[Body] = []
        """The diagnostic settings of every scale set."""
        self.closed: list[Body] = []
        """Locations where Standard_D4s_v5 is restricted."""
        self.events: dict[str, list[Body]] = {GROUP: [], NODE_GROUP: []}
        self.health = "Available"
        self.service_events: list[Body] = []
        """Service Health events of the subscription."""
        self.tag = "aks-managed-poolName"
        self.virtual_machines: list[Body] = []
        """VMs in the node resource group outside any scale set."""
        self.nodes: dict[str, Body] = {}
        self.leases: dict[str, datetime] = {}
        self.pods: list[Body] = []
        self.budgets: list[Body] = []
        self.deployments: dict[str, Body] = {}
        self.daemon_sets: dict[str, Body] = {}
        for name in ("coredns", "metrics-server", "konnectivity-agent"):
            self.deployment(name)
        self.daemon_set("kube-proxy")
        self.readyz: tuple[int, str] = (200, "[+]ping ok\n[+]etcd ok\nreadyz check passed")
        self.claims: list[Body] = []
        """The NodeClaims of node auto-provisioning."""
        self.node_classes: list[Body] = []
        self.autoscaler = ""
        """The cluster autoscaler's status text; if empty, there is no ConfigMap."""
        self.kube_trouble = ""
        """Why the API server is unreachable, as the client words it."""
        self.subscription = "Enabled"
        """The state of the cluster's subscription."""
        self.registered: dict[str, str] = {}
        """The registration of resource providers that are not Registered, by namespace."""
        self.denials: list[Body] = []
        """Deny assignments of the node resource group."""
        self.writer_may: Body = {"actions": ["*"], "notActions": []}
        self.writer_may_at: dict[str, Body] = {}
        """The writer's permissions at scopes where they differ from the default."""
        self.api_service: Body = {
            "metadata": {"name": "kubernetes", "namespace": "default"},
            "spec": {"clusterIP": "10.0.0.1", "ports": [{"name": "https", "port": 443}]},
        }
        self.api_slices: list[Body] = [
            {
                "metadata": {"name": "kubernetes", "namespace": "default"},
                "endpoints": [{"addresses": ["20.101.44.17"], "conditions": {"ready": True}}],
                "ports": [{"name": "https", "port": 443}],
            }
        ]
        self.node_memory: dict[str, str] | None = None
        """Metrics server data of each node; None if there is no metrics server."""
        self.pod_memory: dict[str, str] = {}
        """Metrics server data of pods, by `namespace/name`."""
        self.kube_events: list[Body] = []
        self.writer_may_inside = True
        """The cluster's answer to the writer's access reviews."""
        self.network: Body = {}
        """Additional properties of the custom virtual network: DNS servers, peerings."""
        self.rules: list[Body] = []
        """Rules of the NSG that AKS attaches to the nodes' network interfaces."""
        self.endpoints: list[Body] = [
            endpoint("images", "mcr.microsoft.com"),
            endpoint("azure-resource-management", "management.azure.com"),
            endpoint("time-sync", "ntp.ubuntu.com", 123, "UDP"),
            endpoint("ubuntu-optional", "security.ubuntu.com", 80),
        ]
        """The required outbound endpoints that Azure lists."""
        self.more: dict[str, Body] = {}
        """Responses for any other paths."""
        self.denied: set[str] = set()
        """Substrings of paths that return 403; one that ends with `$` must match the end of the path."""

    def pool(self, name: str = "apps", count: int = 3, machines: int | None = None, **properties: Any) -> Body:
        self.pools[name] = {
            "count": count,
            "vmSize": "Standard_D4s_v5",
            "maxPods": 30,
            "type": "VirtualMachineScaleSets",
            "provisioningState": "Succeeded",
            "powerState": {"code": "Running"},
            "orchestratorVersion": "1.33",
            "currentOrchestratorVersion": "1.33.6",
            "mode": "User",
            "osType": "Linux",
            "upgradeSettings": {"maxSurge": "1"},
            "eTag": f"tag-of-{name}",
            **properties,
        }
        self.machines[name] = [machine(name, number) for number in range(count if machines is None else machines)]
        return self.pools[name]

    def pool_of_machines(self, name: str, scale: Body, *running: tuple[str, int], **properties: Any) -> Body:
        """A VirtualMachines pool: without `count` and `vmSize`. Its VMs match its status."""
        body = self.pool(name, count=0, machines=0, type="VirtualMachines", **properties)
        del body["count"], body["vmSize"]
        body["virtualMachinesProfile"] = {"scale": scale}
        body["virtualMachineNodesStatus"] = [{"size": size, "count": count} for size, count in running]
        sizes = [size for size, count in running for _ in range(count)]
        self.virtual_machines += [
            lone_machine(f"aks-{name}-12345678-vms{number}", size=size, tags={"aks-managed-poolName": name})
            for number, size in enumerate(sizes)
        ]
        return body

    def subnet(self, prefix: str, used: int, subnet_id: str = SUBNET) -> Body:
        self.subnets[subnet_id] = {"addressPrefix": prefix}
        self.taken[subnet_id] = used
        return self.subnets[subnet_id]

    def node(self, name: str = "node-0", pool: str = "apps", machine: int = 0, **status: Any) -> Body:
        """A Ready node with a recent kubelet heartbeat."""
        conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": at(timedelta(days=2))}]
        body: Body = {
            "metadata": {"name": name, "labels": {"agentpool": pool}, "creationTimestamp": at(timedelta(days=2))},
            "spec": {"providerID": f"azure://{scale_set_id(pool)}/virtualMachines/{machine}"},
            "status": {"nodeInfo": {"kubeletVersion": "v1.33.6"}, "conditions": conditions, **status},
        }
        self.nodes[name] = body
        self.leases[name] = NOW - timedelta(seconds=7)
        return body

    def not_ready(self, name: str = "node-0", status: str = "Unknown", message: str = "", **more: Any) -> Body:
        """A node that has been NotReady for 15 minutes."""
        body = self.node(name, **more)
        since = at(timedelta(minutes=15))
        ready = {"type": "Ready", "status": status, "message": message, "lastTransitionTime": since}
        body["status"]["conditions"] = [ready]
        self.leases[name] = NOW - timedelta(minutes=15)
        return body

    def pod(self, name: str, node: str = "node-0", namespace: str = "shop", *, ready: bool = True, **more: Any) -> Body:
        labels = more.pop("labels", {"app": name})
        body: Body = {
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": labels,
                "creationTimestamp": at(timedelta(days=1)),
                **more.pop("metadata", {}),
            },
            "spec": {"nodeName": node},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}], **more},
        }
        self.pods.append(body)
        return body

    def deployment(self, name: str, wanted: int = 2, ready: int | None = None, **more: Any) -> Body:
        """A kube-system Deployment whose pods are Ready but in no list: tests add the pods they need."""
        ready = wanted if ready is None else ready
        metadata = {
            "name": name,
            "namespace": "kube-system",
            "generation": 3,
            "creationTimestamp": at(timedelta(days=9)),
        }
        self.deployments[name] = {
            "metadata": metadata | more.pop("metadata", {}),
            "spec": {"replicas": wanted},
            "status": {"observedGeneration": 3, "replicas": ready, "readyReplicas": ready, **more},
        }
        return self.deployments[name]

    def daemon_set(self, name: str, wanted: int = 1, ready: int | None = None, **more: Any) -> Body:
        ready = wanted if ready is None else ready
        metadata = {
            "name": name,
            "namespace": "kube-system",
            "generation": 1,
            "creationTimestamp": at(timedelta(days=9)),
        }
        counts = {"desiredNumberScheduled": wanted, "currentNumberScheduled": ready, "numberReady": ready}
        self.daemon_sets[name] = {
            "metadata": metadata | more.pop("metadata", {}),
            "spec": {},
            "status": {"observedGeneration": 1, **counts, **more},
        }
        return self.daemon_sets[name]

    def budget(self, name: str, app: str, allowed: int = 0, namespace: str = "shop", **spec: Any) -> Body:
        selector = {"matchLabels": {"app": app}}
        counts = {"disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 2 - allowed, "expectedPods": 2}
        body: Body = {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": selector, "minAvailable": 2 - allowed, **spec},
            "status": counts,
        }
        self.budgets.append(body)
        return body

    def lock(self, scope: str, level: str = "CanNotDelete", name: str = "keep") -> Body:
        lock_id = f"{scope}{LOCKS}/{name}"
        self.locks.append({"id": lock_id, "name": name, "properties": {"level": level, "notes": ""}})
        return self.locks[-1]

    def locks_at(self, scope: str) -> Body:
        """The locks that a list at this scope returns: its own, inherited ones and those below."""
        scopes = [(lock["id"].rpartition(f"{LOCKS}/")[0], lock) for lock in self.locks]
        return rows(lock for at, lock in scopes if within(at, scope) or within(scope, at))

    def answer(self, path: str) -> tuple[int, Any]:
        """The response to a GET of this path."""
        if path.startswith("/kube:"):
            return self.inside(path.removeprefix("/kube:"))
        answers = {known.lower(): answer for known, answer in self.answers().items()}
        if any(part.lower() in f"{path.lower()}$" for part in self.denied):
            message = f"no authorization to perform action on {path}"
            return 403, {"error": {"code": "AuthorizationFailed", "message": message}}
        if path.lower().endswith(LOCKS.lower()):
            return 200, self.locks_at(path[: -len(LOCKS)])
        if path.lower() not in answers and (listed := _of_subscription(path)):
            return 200, listed
        if path.lower() not in answers:
            return 404, {"error": {"code": "ResourceNotFound", "message": f"{path} was not found"}}
        return 200, answers[path.lower()]

    def inside(self, path: str) -> tuple[int, Any]:
        """The API server's response (JSON or text); status 0 and a reason if it is unreachable."""
        if self.kube_trouble:
            return 0, self.kube_trouble
        if any(part in f"{path}$" for part in self.denied):
            return 403, {
                "kind": "Status",
                "reason": "Forbidden",
                "message": f'User "bot" cannot list {path}',
                "code": 403,
            }
        leases = {name: {"renewTime": moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")} for name, moment in self.leases.items()}
        lists = {
            "/api/v1/nodes": list(self.nodes.values()),
            "/api/v1/pods": self.pods,
            "/api/v1/events": self.kube_events,
            "/apis/policy/v1/poddisruptionbudgets": self.budgets,
            "/apis/karpenter.sh/v1/nodeclaims": self.claims,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": [],
            "/apis/karpenter.azure.com/v1beta1/aksnodeclasses": self.node_classes,
            **self._workloads(),
            **self._measured(),
            "/api/v1/namespaces/default/services": [self.api_service] if self.api_service else [],
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": self.api_slices,
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases": [
                {"metadata": {"name": name}, "spec": spec} for name, spec in leases.items()
            ],
        }
        if not path:
            return 200, {"reached": "directly", "trouble": ""}
        if path == "/readyz":
            return self.readyz
        if path == AUTOSCALER and self.autoscaler:
            return 200, {"metadata": {"name": "cluster-autoscaler-status"}, "data": {"status": self.autoscaler}}
        if path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
            return 201, {"status": {"allowed": self.writer_may_inside}}
        return (
            (200, {"metadata": {}, "items": lists[path]}) if path in lists else (404, {"kind": "Status", "code": 404})
        )

    def _measured(self) -> dict[str, list[Body]]:
        if self.node_memory is None:
            return {}
        nodes = [{"metadata": {"name": name}, "usage": {"memory": used}} for name, used in self.node_memory.items()]
        pods = []
        for key, used in self.pod_memory.items():
            namespace, _, name = key.partition("/")
            containers = [{"name": "main", "usage": {"memory": used}}]
            pods.append({"metadata": {"namespace": namespace, "name": name}, "containers": containers})
        return {"/apis/metrics.k8s.io/v1beta1/nodes": nodes, "/apis/metrics.k8s.io/v1beta1/pods": pods}

    def warning(self, reason: str, message: str, node: str = "node-0", ago: timedelta = timedelta(minutes=10)) -> Body:
        """A warning event about a node."""
        body: Body = {
            "metadata": {"name": f"{node}.{len(self.kube_events)}", "namespace": "default"},
            "involvedObject": {"kind": "Node", "name": node},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "firstTimestamp": at(ago),
            "lastTimestamp": at(ago),
            "count": 1,
        }
        self.kube_events.append(body)
        return body

    def _workloads(self) -> dict[str, list[Body]]:
        """Responses by path; the list of a nonexistent namespace is empty."""
        kinds = {"deployments": self.deployments, "daemonsets": self.daemon_sets}
        spaces = ("kube-system", "calico-system", "tigera-operator", "gatekeeper-system", "app-routing-system")
        return {
            f"/apis/apps/v1/namespaces/{space}/{plural}": [
                one for one in bodies.values() if one["metadata"]["namespace"] == space
            ]
            for space in (*spaces, "aks-istio-system")
            for plural, bodies in kinds.items()
        }

    def answers(self) -> dict[str, Any]:
        """Responses by path; anything else counts as not recorded."""
        hub = "/providers/Microsoft.Authorization"
        insights = f"/subscriptions/{SUB}/providers/Microsoft.Insights/eventtypes/management/values"
        found: dict[str, Any] = {
            CLUSTER: resource(CLUSTER, self.cluster, location="westeurope", identity=self.identity, eTag="tag-of-one"),
            f"{CLUSTER}/agentPools": rows(resource(pool_id(name), body) for name, body in self.pools.items()),
            f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachineScaleSets": rows(
                self._scale_set(name) for name, body in self.pools.items() if body["type"] == "VirtualMachineScaleSets"
            ),
            f"{LOCATION}/usages": rows(self.usages),
            f"/subscriptions/{SUB}/providers/Microsoft.Compute/skus": rows(
                [
                    sku("Standard_D4s_v5", "standardDSv5Family", 4) | {"restrictions": self.closed},
                    sku("Standard_E4s_v5", "standardESv5Family", 4),
                ]
            ),
            f"{NODE_GROUP_ID}{hub}/roleAssignments": rows(self.roles),
            f"{SUBNET}{hub}/roleAssignments": rows(self.roles),
            f"{NODE_GROUP_ID}{hub}/policyAssignments": rows([]),
            f"{NODE_GROUP_ID}{hub}/policyExemptions": rows([]),
            f"{NODE_GROUP_ID}/providers/Microsoft.PolicyInsights/policyStates/latest/queryResults": rows([]),
            f"{CLUSTER}/providers/Microsoft.Insights/diagnosticSettings": rows([]),
            f"{CLUSTER}/providers/Microsoft.ResourceHealth/availabilityStatuses/current": {
                "properties": {"availabilityState": self.health, "summary": "as seen by Azure"}
            },
        }
        settings = "providers/Microsoft.Insights/diagnosticSettings"
        found |= {f"{scale_set_id(name)}/{settings}": rows(self.set_settings) for name in self.pools}
        namespaces = dict.fromkeys(PROVIDERS, "Registered") | self.registered
        above = f"/subscriptions/{SUB}"
        found |= {
            f"{above}/providers/{one}": {"namespace": one, "registrationState": state}
            for one, state in namespaces.items()
        }
        found[above] = subscription(SUB, self.subscription)
        found[f"{above}/providers/Microsoft.ResourceHealth/events"] = rows(self.service_events)
        found[f"{NODE_GROUP_ID}{hub}/denyAssignments"] = rows(self.denials)
        found |= {
            f"{place}{hub}/permissions": rows([self.writer_may])
            for place in (above, CLUSTER, NODE_GROUP_ID, *self.subnets)
        }
        found |= {f"{place}{hub}/permissions": rows([held]) for place, held in self.writer_may_at.items()}
        zone = self.cluster.get("apiServerAccessProfile", {}).get("privateDNSZone", "")
        found |= {f"{zone}{hub}/roleAssignments": rows(self.zone_roles)}
        machines = "providers/Microsoft.Compute/virtualMachines"
        found[f"{NODE_GROUP_ID}/{machines}"] = rows(_without_view(one) for one in self.virtual_machines)
        # The response to `statusOnly=true`: ids and statuses, without tags and extensions.
        found[f"{above}/{machines}"] = rows(_status_only(one) for one in self.virtual_machines)
        found |= {
            f"{one['id']}/instanceView": one["properties"].get("instanceView", {}) for one in self.virtual_machines
        }
        found |= {f"{scale_set_id(name)}/virtualMachines": rows(self.machines[name]) for name in self.pools}
        found |= {subnet_id: resource(subnet_id, body) for subnet_id, body in self.subnets.items()}
        counted = [{"id": one, "name": {"value": "SubnetSpace"}, "currentValue": n} for one, n in self.taken.items()]
        found[f"{VNET}/usages"] = rows(counted)
        found |= {f"{insights}#{group}": rows(events) for group, events in self.events.items()}
        found[f"{CLUSTER}/outboundNetworkDependenciesEndpoints"] = rows(self.endpoints)
        found[NSG] = resource(NSG, {"securityRules": self.rules, "defaultSecurityRules": []})
        found[VNET] = self._network(VNET, self.subnets, "10.0.0.0/14")
        managed = {f"{MANAGED_VNET}/subnets/aks-subnet": {"addressPrefix": "10.224.0.0/16"}}
        found[f"{NETWORKS}/virtualNetworks"] = rows([self._network(MANAGED_VNET, managed, "10.224.0.0/12")])
        return found | self.more

    def _network(self, vnet: str, subnets: dict[str, Body], space: str) -> Body:
        inside = [resource(one, body) for one, body in subnets.items() if within(vnet, one)]
        return resource(vnet, {"addressSpace": {"addressPrefixes": [space]}, "subnets": inside, **self.network})

    def _scale_set(self, pool: str) -> Body:
        interface = {"name": "nic", "properties": {"primary": True, "networkSecurityGroup": {"id": NSG}}}
        profile = {"networkProfile": {"networkInterfaceConfigurations": [interface]}}
        body = resource(scale_set_id(pool), {"provisioningState": "Succeeded", "virtualMachineProfile": profile})
        capacity = len(self.machines[pool])
        return body | {"tags": {self.tag: pool}, "sku": {"name": "Standard_D4s_v5", "capacity": capacity}}


_EVERY_ONE = re.compile(rf"/subscriptions/{SUB}/providers/Microsoft\.[A-Za-z]+/[A-Za-z]+", re.IGNORECASE)
NETWORK = f"/subscriptions/{SUB}/providers/Microsoft.Network/locations/westeurope"


def _of_subscription(path: str) -> Body | None:
    """Default responses of a subscription: network quotas with capacity, and empty lists."""
    if path.lower() == f"{NETWORK}/usages".lower():
        return rows(network_usages(NETWORK, {}, {}))
    return rows([]) if _EVERY_ONE.fullmatch(path) else None


def _without_view(body: Body) -> Body:
    kept = {key: value for key, value in body["properties"].items() if key != "instanceView"}
    return body | {"properties": kept}


def _status_only(body: Body) -> Body:
    statuses = body["properties"].get("instanceView", {}).get("statuses", [])
    properties = {"provisioningState": body["properties"]["provisioningState"], "instanceView": {"statuses": statuses}}
    return {"id": body["id"].upper(), "name": body["name"], "properties": properties}


async def asked(question: str, azure: Azure, explains: Explains = LIBRARY.explains) -> Check:
    """The verdict of one diagnostic for these responses."""
    diagnostic = next(one for one in GRAPH.diagnostics if one.id == question)
    return (await diagnosed(azure, GRAPH.only([diagnostic]), explains)).checks[0]


async def asked_about(
    words: str, azure: Azure, *, only: str = "", access: KubeAccess | None = None, explains: Explains = LIBRARY.explains
) -> Check:
    """The answer to one question (`path shop/web shop/cart:80`); or of the check `only`."""
    about = read_question(words.split()) if words else None
    every = GRAPH.whole().diagnostics
    chosen = [one for one in every if (one.id == only if only else about and one.word is about.word)]
    return (await diagnosed(azure, GRAPH.only(chosen), explains, about=about, access=access)).checks[0]


async def diagnosed(
    azure: Azure,
    graph: Graph = GRAPH,
    explains: Explains = LIBRARY.explains,
    *,
    about: Question | None = None,
    access: KubeAccess | None = None,
) -> Diagnosis:
    """The diagnosis of all diagnostics together."""
    engine = Engine(graph, explains)
    target = Target(ResourceId.parse(CLUSTER), NOW, about)
    transport = Answers(azure.answer, NOW)
    async with (
        ArmReader(AzureAccess(), transport=transport) as arm,
        KubeReader(target, arm, access or KubeAccess(), transport=transport) as kube,
    ):
        diagnosis = await engine.diagnose(target, {ArmReader: arm, KubeReader: kube})
    assert not (wrong := wrong_first_lines(diagnosis)), wrong
    return diagnosis


async def found(question: str, azure: Azure, explains: Explains = LIBRARY.explains) -> Finding:
    """The finding of a case that has exactly one."""
    check = await asked(question, azure, explains)
    assert check.outcome is Outcome.FOUND, check.why
    assert len(check.findings) == 1
    return check.findings[0]
