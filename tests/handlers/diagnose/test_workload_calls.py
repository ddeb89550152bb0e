"""Workloads that call what is not there: asleep, under another name, in another protocol, without DNS, unscheduled."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import at
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.unwell import POD, Unwell
from tests.handlers.diagnose.wire import asked, diagnosed, found

ZERO, PROTOCOL, ADDRESS = "scaled-to-zero", "service-protocol-mismatch", "service-address-wrong"
DNS, SCHEDULER = "dns-broken", "scheduler-unavailable"
RUNNING = {"running": {"startedAt": at(timedelta(minutes=9))}}
NO_CART = "dial tcp: lookup cart on 10.0.0.10:53: no such host"
TIMED_OUT = "dial tcp 10.0.80.17:80: i/o timeout"


def calling(value: str = "cart:80", line: str = TIMED_OUT) -> Unwell:
    """Deployment/web runs, names service cart in its environment, and complains."""
    unwell = Unwell(env=[{"name": "CART_ADDR", "value": value}]).stands(RUNNING, ready=True)
    return unwell.says(line)


def cart(unwell: Unwell, replicas: int = 1, protocol: str = "TCP", **template: Any) -> Unwell:
    """Deployment/cart behind its service."""
    labels, box = {"app": "cart"}, {"name": "cart", "ports": [{"containerPort": 8080, "protocol": "TCP"}]}
    spec = {
        "replicas": replicas,
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [box], **template}},
    }
    conditions = [{"type": "Available", "status": "True", "lastTransitionTime": at(timedelta(days=3))}]
    unwell.add("Deployment", "cart", spec=spec, status={"readyReplicas": replicas, "conditions": conditions})
    ports = [{"port": 80, "targetPort": 8080, "protocol": protocol}]
    unwell.add("Service", "cart", spec={"selector": labels, "ports": ports, "clusterIP": "10.0.80.17"})
    if replicas:
        unwell.runs("cart-6f5d8c7b9-aaaa0", labels=labels, spec={"containers": [box]})
        slice_labels = {"kubernetes.io/service-name": "cart"}
        ends = [{"addresses": ["10.244.0.7"], "conditions": {"ready": True}}]
        unwell.add("EndpointSlice", "cart-1", metadata={"labels": slice_labels}, endpoints=ends, ports=[{"port": 8080}])
    return unwell


async def test_a_service_whose_workload_sleeps_and_that_is_missed_is_found() -> None:
    finding = await found(ZERO, cart(calling(), replicas=0))
    assert (finding.subject, finding.severity) == ("shop/Deployment/cart", Severity.ERROR)
    assert f"Deployment/web calls it: {TIMED_OUT}" in finding.because


async def test_the_same_with_one_replica_is_clear() -> None:
    assert (await asked(ZERO, cart(calling()))).outcome is Outcome.CLEAR


async def test_a_sleeping_workload_that_nobody_misses_is_as_it_should_be() -> None:
    unwell = cart(Unwell().stands(RUNNING, ready=True), replicas=0)
    assert (await asked(ZERO, unwell)).outcome is Outcome.CLEAR


def slept(made: timedelta) -> Unwell:
    """Deployment/cart was created this long ago; its conditions are 20 minutes old, and nothing calls it."""
    unwell = cart(Unwell().stands(RUNNING, ready=True), replicas=0)
    deployment = next(
        one for one in unwell.objects if one["kind"] == "Deployment" and one["metadata"]["name"] == "cart"
    )
    deployment["metadata"]["creationTimestamp"] = at(made)
    deployment["status"]["conditions"][0]["lastTransitionTime"] = at(timedelta(minutes=20))
    return unwell


async def test_a_workload_that_had_pods_within_the_hour_was_put_to_sleep() -> None:
    finding = await found(ZERO, slept(made=timedelta(days=3)))
    assert (finding.severity, finding.subject) == (Severity.WARNING, "shop/Deployment/cart")


async def test_a_workload_that_was_made_with_no_replicas_never_had_pods() -> None:
    assert (await asked(ZERO, slept(made=timedelta(minutes=20)))).outcome is Outcome.CLEAR


KEDA = "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects"


def with_keda(unwell: Unwell, least: int = 0, target: str = "cart", **metadata: Any) -> Unwell:
    """KEDA is installed, and a ScaledObject scales this Deployment."""
    unwell.serves("keda.sh", "v1alpha1")
    spec = {"scaleTargetRef": {"name": target}, "minReplicaCount": least, "triggers": []}
    metadata |= {"name": "cart-queue", "namespace": "shop"}
    unwell.more_inside[KEDA] = [{"kind": "ScaledObject", "metadata": metadata, "spec": spec}]
    return unwell


async def test_what_keda_took_down_to_zero_and_nobody_misses_is_as_it_should_be() -> None:
    assert (await asked(ZERO, with_keda(slept(made=timedelta(days=3))))).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    "keda",
    [
        {"least": 1},
        {"target": "web"},
        {"annotations": {"autoscaling.keda.sh/paused-replicas": "0"}},
    ],
    ids=["keeps one", "scales another", "paused by somebody"],
)
async def test_what_keda_would_not_have_taken_down_was_taken_down_by_somebody(keda: dict[str, Any]) -> None:
    assert (await found(ZERO, with_keda(slept(made=timedelta(days=3)), **keda))).severity is Severity.WARNING


async def test_what_keda_took_down_and_somebody_calls_is_found_with_what_keeps_a_replica() -> None:
    finding = await found(ZERO, with_keda(cart(calling(), replicas=0)))
    assert "ScaledObject cart-queue of KEDA scales it, down to 0 (minReplicaCount)" in finding.because
    assert "patch scaledobject cart-queue" in page("Fix", finding)


async def test_a_pause_of_keda_is_ended_where_it_was_set() -> None:
    paused = with_keda(cart(calling(), replicas=0), annotations={"autoscaling.keda.sh/paused-replicas": "0"})
    finding = await found(ZERO, paused)
    assert "ScaledObject cart-queue is paused at 0 replicas" in finding.because
    assert "paused-replicas-" in page("Fix", finding)


@pytest.mark.parametrize("denied", ["/scaledobjects", "/apis$"])
async def test_where_keda_could_not_be_asked_who_scaled_it_down_stays_open(denied: str) -> None:
    unwell = with_keda(slept(made=timedelta(days=3)))
    unwell.denied = {denied}
    assert (await asked(ZERO, unwell)).outcome is Outcome.INCONCLUSIVE
    missed = with_keda(cart(calling(), replicas=0))
    missed.denied = {denied}
    assert (await found(ZERO, missed)).severity is Severity.ERROR


async def test_a_service_in_another_protocol_than_its_pods_is_found() -> None:
    finding = await found(PROTOCOL, cart(calling(), protocol="UDP"))
    assert finding.because[:2] == (
        "service cart forwards port 80 as UDP",
        "its pods listen on 8080 as TCP: Deployment/cart",
    )


async def test_a_service_in_the_protocol_of_its_pods_is_clear() -> None:
    assert (await asked(PROTOCOL, cart(calling()))).outcome is Outcome.CLEAR


async def test_an_address_that_names_no_service_is_found_with_the_nearest() -> None:
    line = "dial tcp: lookup cart-v2 on 10.0.0.10:53: no such host"
    finding = await found(ADDRESS, cart(calling("cart-v2:80", line)))
    assert (finding.subject, finding.facts["nearest"]) == ("shop/Deployment/web", "cart")
    assert "Deployment/web: CART_ADDR=cart-v2:80, but no service is called cart-v2" in finding.because


async def test_an_address_with_a_port_that_the_service_does_not_have_is_found() -> None:
    finding = await found(ADDRESS, cart(calling("cart:8081", "dial tcp 10.0.80.17:8081: connect: connection refused")))
    assert finding.facts["ports"] == ["80"]


async def test_an_address_of_something_that_nobody_deployed_and_nobody_misses_is_no_problem() -> None:
    assert (await asked(ADDRESS, cart(calling("assistant:80", "ready")))).outcome is Outcome.CLEAR


async def test_an_address_outside_of_the_cluster_is_not_judged() -> None:
    line = "dial tcp: lookup db.example.com on 10.0.0.10:53: no such host"
    assert (await asked(ADDRESS, cart(calling("db.example.com:5432", line)))).outcome is Outcome.CLEAR


async def test_a_workload_that_asks_a_dns_server_of_its_own_is_found() -> None:
    unwell = Unwell()
    unwell.template |= {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.9.9.9"]}}
    cart(unwell.crashes().says(NO_CART))
    finding = await found(DNS, unwell)
    assert finding.facts["nameservers"] == ["10.9.9.9"]


def asks(**dns: Any) -> Unwell:
    """Web does not resolve cart."""
    unwell = Unwell()
    unwell.template |= dns
    return cart(unwell.crashes().says(NO_CART))


@pytest.mark.parametrize(
    "dns",
    [
        {"dnsPolicy": "ClusterFirst", "dnsConfig": {"nameservers": ["1.1.1.1"]}},
        {"dnsPolicy": "ClusterFirstWithHostNet", "hostNetwork": True, "dnsConfig": {"nameservers": ["1.1.1.1"]}},
        {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.10"], "options": [{"name": "ndots"}]}},
        {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.10", "1.1.1.1"]}},
    ],
    ids=["more servers behind the cluster's", "in the node's network", "the cluster's by its address", "and another"],
)
async def test_who_asks_the_clusters_dns_beside_others_is_not_said_to_ask_elsewhere(dns: dict[str, Any]) -> None:
    assert (await asked(DNS, asks(**dns))).outcome is Outcome.CLEAR


@pytest.mark.parametrize("server", ["169.254.20.10", "169.254.10.11", "10.0.44.3"])
async def test_a_server_on_the_node_or_behind_a_service_may_forward_to_the_clusters_dns(server: str) -> None:
    check = await asked(DNS, asks(dnsPolicy="None", dnsConfig={"nameservers": [server]}))
    assert check.outcome is Outcome.INCONCLUSIVE
    assert f"{server} may be a cache of the cluster's DNS" in check.why


async def test_a_name_outside_of_the_cluster_is_no_proof_against_a_server_of_ones_own() -> None:
    unwell = Unwell()
    unwell.template |= {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.9.9.9"]}}
    unwell.crashes().says("dial tcp: lookup db.example.com on 10.9.9.9:53: no such host")
    assert (await asked(DNS, cart(unwell))).outcome is Outcome.CLEAR


async def test_a_pod_in_the_nodes_network_asks_the_nodes_servers() -> None:
    finding = await found(DNS, asks(dnsPolicy="ClusterFirst", hostNetwork=True))
    assert finding.facts["nameservers"] == ["the node's DNS servers"]
    assert "dnsPolicy: ClusterFirstWithHostNet" in page("Fix", finding)


async def test_the_same_words_of_a_workload_with_the_clusters_dns_are_no_proof() -> None:
    assert (await asked(DNS, cart(Unwell().crashes().says(NO_CART)))).outcome is Outcome.CLEAR


async def test_coredns_without_a_ready_pod_is_found() -> None:
    unwell = Unwell()
    unwell.deployment("coredns", wanted=2, ready=0)
    assert (await found(DNS, unwell)).subject == "kube-system/Deployment/coredns"


async def test_without_coredns_or_the_logs_dns_is_not_called_clear() -> None:
    unwell = Unwell().crashes()
    unwell.denied = {"/log"}
    assert (await asked(DNS, unwell)).outcome is Outcome.INCONCLUSIVE


def pending(**pod: Any) -> Unwell:
    unwell = Unwell()
    unwell.deploys()
    waiting = unwell.waits(POD, **pod)
    waiting["status"]["conditions"] = []
    return unwell


async def test_a_pod_that_nobody_has_looked_at_is_found() -> None:
    finding = await found(SCHEDULER, pending())
    assert finding.facts["scheduler"] == "default-scheduler"
    assert "no scheduler has looked at 1 pending pods: no PodScheduled condition (Deployment/web)" in finding.because


async def test_a_pod_that_is_held_back_on_purpose_is_not_forgotten() -> None:
    unwell = pending(schedulingGates=[{"name": "example.com/quota"}])
    assert (await asked(SCHEDULER, unwell)).outcome is Outcome.CLEAR


async def test_a_pod_that_the_scheduler_has_refused_has_been_looked_at() -> None:
    unwell = Unwell()
    unwell.deploys()
    unwell.waits(POD)
    assert (await asked(SCHEDULER, unwell)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("code", [ZERO, PROTOCOL, ADDRESS])
async def test_without_the_services_nothing_is_called_clear(code: str) -> None:
    unwell = cart(calling(), replicas=0)
    unwell.denied = {"/services"}
    assert (await asked(code, unwell)).outcome is Outcome.INCONCLUSIVE


async def test_why_coredns_does_not_run_comes_before_what_follows_from_it() -> None:
    unwell = Unwell()
    unwell.deployment("coredns", wanted=2, ready=0)
    findings = (await diagnosed(unwell)).findings
    roots = [one.finding.code for one in findings if one.root]
    assert DNS in {one.finding.code for one in findings}
    assert DNS not in roots
