"""Do probes fail because of what they ask, and not because of what they ask about?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from handlers.diagnose.container_failing import KILLED, OOM
from handlers.diagnose.workload_findings import WITHOUT_AZURE, facts_of, harmed, named, tail_of
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.containers import LIVENESS, READINESS, STARTUP, Container, Probe
from handlers.evidence.workloads.log_families import said
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.warnings import Warned
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable
from runbooks.linear import compile_linear

CODE = "probe-misconfigured"
_REFUSED = compile_linear(r"connection refused|actively refused|failed to connect service")
"""Nobody listens at the port. A gRPC probe tries again until its time is up, and then says only that."""
_ANSWERED = compile_linear(r"awaiting headers|failed with statuscode")
"""Somebody does, and is slow or unwell."""
_OF_THE_MESH = "15020"
"""Istio's agent: it asks the container on the kubelet's behalf, and no container declares it."""
_FOR_THE_MESH = "/app-health/"
_OTHER_PROTOCOL = compile_linear(
    r"malformed HTTP (?:response|status code|version)|server gave HTTP response to HTTPS client|"
    r"first record does not look like a TLS handshake|error reading server preface|http2: frame too large|"
    r"HTTP/1\.x transport connection broken|rpc error: code = Unimplemented|does not implement the grpc health|"
    r"HTTP probe failed with statuscode: (?:400|405|415|426|505)|unexpected EOF|: EOF"
)
_SLACK_S = 30
"""What the kubelet takes to end a container: its termination grace period, 30 s by default."""
_FIRST_MINUTE_S = 60
"""A container that its liveness probe kills so young has not been given the time to start."""


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no probe fails because of its own settings",
)
def probe_misconfigured(
    symptoms: Symptoms, tails: LogTails | Unavailable, calls: Calls | Unavailable
) -> Iterator[Judgement]:
    """A liveness or readiness probe fails because of itself: a wrong port, the wrong protocol, or too little time."""
    seen: dict[str, Finding] = {}
    for symptom in symptoms.of(Sign.NOT_READY, Sign.CRASHING):
        for finding in _wrong(symptom, symptoms, tails, calls):
            seen.setdefault(symptom.owner, finding)
    yield from named(seen.values())


def _wrong(
    symptom: Symptom, symptoms: Symptoms, tails: LogTails | Unavailable, calls: Calls | Unavailable
) -> Iterator[Finding]:
    container, pod = symptom.container, symptom.pod
    if not container or not pod:
        return
    failed = [warned for warned in symptoms.about(pod, "Unhealthy") if warned.container in ("", container.name)]
    for what in (LIVENESS, STARTUP, READINESS):
        probe, told = container.probe(what), _of(failed, what)
        cause = _cause(probe, told, symptom, container, symptoms.taken_at, tails) if probe and told else ""
        if probe and cause:
            yield _finding(symptom, container, probe, cause, told, calls)
            return


def _of(failed: Sequence[Warned], what: str) -> list[Warned]:
    return [warned for warned in failed if warned.message.lower().startswith(what)]


def _cause(
    probe: Probe,
    told: list[Warned],
    symptom: Symptom,
    container: Container,
    at: datetime,
    tails: LogTails | Unavailable,
) -> str:
    if probe.what == LIVENESS and not symptom.state.restarts:
        return ""
    if any(_OTHER_PROTOCOL.search(warned.message) for warned in told):
        return "protocol"
    if _is_elsewhere(probe, container) and _is_refused(told) and not _ended_by_itself(probe, symptom, at):
        return "port"
    return "timing" if probe.what != READINESS and _too_soon(probe, symptom, tails) else ""


def _is_elsewhere(probe: Probe, container: Container) -> bool:
    """The container names ports, and the probe asks at none of them."""
    if not probe.port or probe.port == _OF_THE_MESH or probe.path.startswith(_FOR_THE_MESH):
        return False
    return bool(container.ports) and container.port_of(probe.port) is None


def _is_refused(told: list[Warned]) -> bool:
    if any(_ANSWERED.search(warned.message) for warned in told):
        return False
    return any(_REFUSED.search(warned.message) for warned in told)


def _ended_by_itself(probe: Probe, symptom: Symptom, at: datetime) -> bool:
    """It was not up when it was asked: a port need not be declared, and one that has ended refuses at every port."""
    end, since = symptom.state.last_end, symptom.state.running_since
    if end is None:
        return False
    lasted_s = end.lasted_s or 0
    if symptom.sign is Sign.NOT_READY and since and (at - since).total_seconds() > lasted_s:
        return False  # It has got over that end, and is refused all the same.
    if not end.exit_code and probe.what != READINESS:
        return lasted_s < probe.fails_after_s  # Many programs exit with 0 when the kubelet ends them.
    return end.exit_code not in KILLED or end.reason == OOM


def _too_soon(probe: Probe, symptom: Symptom, tails: LogTails | Unavailable) -> bool:
    """It is killed each time about as soon as the probe may fail, in its first minute, with no word of an error."""
    end = symptom.state.last_end
    if end is None or end.exit_code not in KILLED or end.reason == OOM or end.lasted_s is None:
        return False
    bound = min(_FIRST_MINUTE_S, probe.fails_after_s + probe.timeout_s + _SLACK_S)
    tail = tail_of(symptom, tails)
    return end.lasted_s <= bound and not (tail and said(tail.lines))


def _finding(
    symptom: Symptom, container: Container, probe: Probe, cause: str, told: list[Warned], calls: Calls | Unavailable
) -> Finding:
    workload = symptom.owner.partition("/")[2]
    last = told[0]
    ports = [str(port.number) for port in container.ports]
    return Finding(
        code=CODE,
        subject=symptom.owner,
        affects=harmed(symptom.owner, symptom.pods, calls),
        because=(
            f"the {probe.what} probe of container {container.name} in {workload} {_WHY[cause](probe, ports, symptom)}",
            f"it failed {sum(warned.count for warned in told)} times: {last.message[:300]}",
        ),
        facts=facts_of(symptom)
        | {
            "probe": probe.what,
            "cause": cause,
            "how": probe.how,
            "port": probe.port,
            "ports": ports,
            "initial_delay": probe.initial_delay_s,
            "period": probe.period_s,
            "failures": probe.failures,
            "fails_after": probe.fails_after_s,
            "lasted": int(symptom.state.last_end.lasted_s or 0) if symptom.state.last_end else 0,
            "message": last.message[:300],
            "restarts": symptom.state.restarts,
        },
        began=symptom.since,
    )


def _why_port(probe: Probe, ports: list[str], _: Symptom) -> str:
    return f"asks port {probe.port}, but the container declares {', '.join(ports)}"


def _why_protocol(probe: Probe, ports: list[str], _: Symptom) -> str:
    return f"speaks {probe.how} to port {probe.port or ', '.join(ports)}, which answers in another protocol"


def _why_timing(probe: Probe, _: list[str], symptom: Symptom) -> str:
    end = symptom.state.last_end
    lasted = f"{int(end.lasted_s)} s" if end and end.lasted_s is not None else "seconds"
    sums = f"{probe.initial_delay_s} s + {probe.failures} tries, one each {probe.period_s} s"
    return f"kills it {lasted} after its start: it may take {sums}"


_WHY = {"port": _why_port, "protocol": _why_protocol, "timing": _why_timing}
