"""Does kube-proxy turn service addresses into pod addresses on every node?"""

from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.unwell import Unwell
from tests.handlers.diagnose.wire import asked, diagnosed, found

CODE = "kube-proxy-broken"
OWNER = "kube-system/DaemonSet/kube-proxy"
PODS = "/api/v1/namespaces/kube-system/pods"
LOG = f"{PODS}/kube-proxy-x2x4z/log"
REFUSED = "E1118 03:01:40.301177 1 proxier.go:1484] Failed to execute iptables-restore: exit status 4 (xtables lock)"
WRITES = "I1118 03:01:50.100000 1 proxier.go:1500] Reloading service iptables data"


def proxy(unwell: Unwell, state: Body, *, ready: bool, restarts: int = 0, last: Body | None = None) -> Unwell:
    """The pod of kube-proxy on the only node."""
    unwell.daemon_set("kube-proxy", wanted=1, ready=int(ready))
    since = at(timedelta(hours=1))
    status = {"name": "kube-proxy", "ready": ready, "restartCount": restarts, "state": state, "lastState": last or {}}
    unwell.add(
        "Pod",
        "kube-proxy-x2x4z",
        "kube-system",
        metadata={
            "labels": {"component": "kube-proxy"},
            "ownerReferences": [{"kind": "DaemonSet", "name": "kube-proxy"}],
        },
        spec={"nodeName": "node-0", "containers": [{"name": "kube-proxy"}]},
        status={
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": since}],
            "containerStatuses": [status],
        },
    )
    return unwell


def crashing() -> Unwell:
    end = {"exitCode": 1, "reason": "Error", "finishedAt": at(timedelta(minutes=2))}
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
    return proxy(Unwell(), waiting, ready=False, restarts=9, last={"terminated": end})


def running(unwell: Unwell, *lines: str) -> Unwell:
    unwell.logs[LOG] = "\n".join(lines)
    return proxy(unwell, {"running": {"startedAt": at(timedelta(hours=1))}}, ready=True)


def unanswered() -> Unwell:
    """Deployment/web ends because a service does not answer."""
    return Unwell().crashes().says("dial tcp 10.0.71.8:80: i/o timeout")


async def test_a_kube_proxy_that_crashes_is_found_with_its_node_and_its_last_lines() -> None:
    unwell = crashing()
    unwell.logs[LOG] = "F0619 03:20:55.118264 1 server.go:490] open nf_conntrack_max: permission denied"
    finding = await found(CODE, unwell)
    assert (finding.subject, finding.severity, finding.facts["cause"]) == (OWNER, Severity.ERROR, "crashing")
    assert finding.because == (
        "kube-proxy-x2x4z on node-0 is CrashLoopBackOff, restarted 9 times: back-off 5m0s restarting failed container",
        "its last lines: F0619 03:20:55.118264 1 server.go:490] open nf_conntrack_max: permission denied",
    )
    assert "kubectl delete pod kube-proxy-x2x4z --namespace kube-system" in page("Fix", finding)


async def test_it_explains_that_a_pod_of_kube_system_does_not_run() -> None:
    diagnosis = await diagnosed(crashing())
    assert [one.finding.code for one in diagnosis.findings if one.root] == [CODE]
    assert "kube-system-not-running" in {one.finding.code for one in diagnosis.findings}


async def test_the_twin_whose_pod_runs_is_clear() -> None:
    assert (await asked(CODE, running(Unwell()))).outcome is Outcome.CLEAR


async def test_a_crash_is_found_without_its_log() -> None:
    unwell = crashing()
    unwell.denied = {"/log"}
    assert (await asked(CODE, unwell)).outcome is Outcome.FOUND


async def test_a_daemon_set_that_somebody_deleted_is_found() -> None:
    unwell = Unwell()
    del unwell.daemon_sets["kube-proxy"]
    finding = await found(CODE, unwell)
    assert finding.facts["cause"] == "deleted"
    assert finding.because[0].startswith("kube-system has no DaemonSet/kube-proxy")
    assert "az resource update --ids" in page("Fix", finding)


@pytest.mark.parametrize(
    "network", [{"networkDataplane": "cilium"}, {"kubeProxyConfig": {"enabled": False}}], ids=["cilium", "off"]
)
async def test_a_cluster_that_does_without_it_is_not_asked(network: Body) -> None:
    unwell = Unwell()
    del unwell.daemon_sets["kube-proxy"]
    unwell.cluster["networkProfile"] |= network
    assert (await asked(CODE, unwell)).outcome is Outcome.NOT_APPLICABLE


async def test_a_network_plugin_of_ones_own_may_do_its_work() -> None:
    unwell = Unwell()
    del unwell.daemon_sets["kube-proxy"]
    unwell.cluster["networkProfile"]["networkPlugin"] = "none"
    assert (await asked(CODE, unwell)).outcome is not Outcome.FOUND


async def test_missing_pods_are_counted_and_the_controller_is_quoted() -> None:
    unwell = Unwell()
    unwell.room("node-1")
    refusal = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "denied by webhook"}
    unwell.daemon_set("kube-proxy", wanted=2, ready=0, conditions=[refusal])
    finding = await found(CODE, unwell)
    assert finding.facts["cause"] == "missing"
    assert finding.because == (
        "DaemonSet/kube-proxy wants 2 pods and has 0",
        "its controller says FailedCreate: denied by webhook",
    )


async def test_rules_that_are_not_written_are_found_where_a_workload_gets_no_answer() -> None:
    unwell = running(unanswered(), WRITES, REFUSED, REFUSED)
    finding = await found(CODE, unwell)
    assert (finding.facts["cause"], finding.facts["node"]) == ("rules", "node-0")
    assert finding.because == (f"kube-proxy-x2x4z on node-0 runs and failed 2 times in the last 10 minutes: {REFUSED}",)
    assert "shop/Deployment/web" in finding.affects
    roots = [one.finding.code for one in (await diagnosed(unwell)).findings if one.root]
    assert roots == [CODE]


@pytest.mark.parametrize("lines", [(REFUSED, REFUSED, WRITES), (REFUSED,), ()], ids=["written since", "once", "well"])
async def test_rules_that_were_written_after_all_are_no_finding(lines: tuple[str, ...]) -> None:
    assert (await asked(CODE, running(unanswered(), *lines))).outcome is Outcome.CLEAR


def unheard(minute: int, kind: str = "Service") -> str:
    """What client-go says at 03:MM while the API server is away; it is asked at 03:07."""
    why = 'Get "https://10.0.0.1:443/api/v1/services?watch=true": dial tcp 10.0.0.1:443: connect: connection refused'
    return f"E1118 03:{minute:02}:30.100000 1 reflector.go:200] Failed to watch *v1.{kind}: {why}"


def heard(minute: int, kind: str = "Service") -> str:
    return f'I1118 03:{minute:02}:31.200000 1 reflector.go:430] "Caches populated" type="*v1.{kind}"'


async def test_a_kube_proxy_that_does_not_hear_of_services_is_found() -> None:
    finding = await found(CODE, running(unanswered(), unheard(5), unheard(6)))
    assert (finding.facts["cause"], finding.facts["says"]) == ("rules", unheard(6))


@pytest.mark.parametrize(
    "lines",
    [
        (unheard(1), unheard(2), unheard(2, "EndpointSlice")),
        (unheard(5), unheard(6), heard(6)),
        (unheard(5), unheard(6, "EndpointSlice"), heard(6, "EndpointSlice")),
        tuple(unheard(minute).replace("E1118", "E1231") for minute in (5, 6)),
        tuple(unheard(minute).partition("] ")[2] for minute in (5, 6)),
    ],
    ids=["minutes ago", "lists again", "lists the other again", "last year", "at nobody knows when"],
)
async def test_an_outage_of_the_api_server_that_has_passed_is_no_finding(lines: tuple[str, ...]) -> None:
    assert (await asked(CODE, running(unanswered(), *lines))).outcome is Outcome.CLEAR


async def test_other_lists_do_not_show_that_it_hears_of_services() -> None:
    unwell = running(unanswered(), unheard(5), unheard(6), heard(6, "Node"))
    assert (await asked(CODE, unwell)).outcome is Outcome.FOUND


async def test_rules_that_are_not_written_are_found_after_an_outage_too() -> None:
    unwell = running(unanswered(), REFUSED, REFUSED, unheard(2), unheard(3))
    assert (await found(CODE, unwell)).facts["says"] == REFUSED


async def test_a_crash_of_the_workloads_own_is_not_laid_at_kube_proxys_door() -> None:
    unwell = running(Unwell().crashes().says("panic: no route table"), REFUSED, REFUSED)
    assert "shop/Deployment/web" not in (await found(CODE, unwell)).affects


@pytest.mark.parametrize("denied", ["daemonsets", "/kube-system/pods", "/log"])
async def test_what_may_not_be_seen_leaves_it_open(denied: str) -> None:
    unwell = running(unanswered())
    unwell.denied = {denied}
    assert (await asked(CODE, unwell)).outcome is Outcome.INCONCLUSIVE


async def test_where_no_node_is_ready_kube_proxy_is_not_what_is_wrong() -> None:
    unwell = crashing()
    unwell.not_ready("node-0")
    assert (await asked(CODE, unwell)).outcome is Outcome.NOT_APPLICABLE
