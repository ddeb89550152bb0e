"""Do volumes fail to attach or mount, or may a container not write to one?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.workload_findings import WITHOUT_AZURE, facts_of, harmed, named, pods_of, tail_of
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.log_families import Cause, said
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable
from runbooks.linear import compile_linear

CODE = "volume-mount-failed"
_REASONS = frozenset({"FailedMount", "FailedAttachVolume", "FailedMapVolume"})
_CONFIG = compile_linear(r'(?i)(?:secret|configmap)s? "[^"]+" not found|references non-existent (?:secret|config) key')
_CAUSES = tuple(
    (cause, compile_linear(f"(?i){pattern}"))
    for cause, pattern in (
        ("attached-elsewhere", r"Multi-Attach error|already attached to node|already exclusively attached"),
        ("too-many-disks", r"maximum number of data disks|exceed max volume count|MaxDataDisks"),
        ("permission", r"permission denied|\(13\)|access denied|403|AuthorizationFailed|Forbidden"),
        (
            "network",
            r"could not resolve address|no such host|connection timed out|Host is down|\(11[0-9]\)|i/o timeout",
        ),
        ("missing", r"not found|no such file or directory|does not exist|\(2\)"),
    )
)
_SYSTEM_MOUNTS = ("/var/run/secrets/", "/etc/istio", "/var/lib/istio", "/etc/podinfo")


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no pod waits for a volume to be attached or mounted",
)
def volume_mount_failed(
    symptoms: Symptoms, tails: LogTails | Unavailable, calls: Calls | Unavailable
) -> Iterator[Judgement]:
    """A pod cannot use its volume: it is not attached or mounted, or its files are refused."""
    found: dict[str, Finding] = {}
    for symptom in symptoms.of(Sign.STUCK):
        if symptom.reason in _REASONS and not _CONFIG.search(symptom.message):
            found.setdefault(symptom.owner, _not_mounted(symptom, calls))
    for symptom in symptoms.of(Sign.CRASHING):
        finding = _refused(symptom, tails, calls)
        if finding:
            found.setdefault(symptom.owner, finding)
    yield from named(found.values())


def _not_mounted(symptom: Symptom, calls: Calls | Unavailable) -> Finding:
    cause = next((cause for cause, pattern in _CAUSES if pattern.search(symptom.message)), "unknown")
    workload = symptom.owner.partition("/")[2]
    because = (
        f"{pods_of(len(symptom.pods))} of {workload} cannot start: its volume is not mounted",
        f"{symptom.reason}, {symptom.count} times: {symptom.message[:400]}",
    )
    return _finding(symptom, cause, "", symptom.message[:400], because, calls)


def _refused(symptom: Symptom, tails: LogTails | Unavailable, calls: Calls | Unavailable) -> Finding | None:
    """Mounted, but the files belong to somebody else: the process says so and ends."""
    container, tail = symptom.container, tail_of(symptom, tails)
    words = said(tail.lines) if tail else None
    if not container or not words or words.cause not in (Cause.PERMISSION, Cause.READ_ONLY):
        return None
    claimed = {
        volume.name
        for pod in symptom.pods
        for volume in pod.spec.volumes
        if volume.kind not in ("secret", "configMap", "projected", "downwardAPI")
    }
    mounts = [
        mount for mount in container.mounts if mount.volume in claimed and not mount.path.startswith(_SYSTEM_MOUNTS)
    ]
    if not mounts:
        return None
    mount = next((mount for mount in mounts if mount.path in words.line), mounts[0])
    workload = symptom.owner.partition("/")[2]
    because = (
        f"container {container.name} of {workload} may not use the files of volume {mount.volume} at {mount.path}",
        f"its last lines: {words.line}",
    )
    return _finding(symptom, "permission", mount.path, words.line, because, calls)


def _finding(
    symptom: Symptom, cause: str, path: str, message: str, because: tuple[str, ...], calls: Calls | Unavailable
) -> Finding:
    return Finding(
        code=CODE,
        subject=symptom.owner,
        affects=harmed(symptom.owner, symptom.pods, calls),
        because=because,
        facts=facts_of(symptom) | {"cause": cause, "path": path, "message": message},
        began=symptom.since,
    )
