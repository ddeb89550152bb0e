"""Do volumes fail to attach or mount, or may a container not write to one?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.workload_findings import WITHOUT_AZURE, facts_of, harmed, named, pods_of, tail_of
from handlers.engine.declare import diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.workloads.log_families import Cause, said
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable
from runbooks.linear import compile_linear

CODE = "volume-mount-failed"
_REASONS = frozenset({"FailedMount", "FailedAttachVolume", "FailedMapVolume"})
_CONFIG = compile_linear(r'(?i)(?:secret|configmap)s? "[^"]+" not found|references non-existent (?:secret|config) key')
_SECRETS_STORE = "secrets-store.csi.k8s.io"
_NO_DRIVER = compile_linear(
    r"(?i)(?:driver name|does not contain driver) (?P<driver>[\w.-]{1,100})|"
    r"provider not found|failed to find provider binary"
)
"""The kubelet, the attach-detach controller, and the Secrets Store driver, whose part for Azure is a pod of its own."""
_CAUSES = tuple(
    (cause, compile_linear(f"(?i){pattern}"))
    for cause, pattern in (
        # Azure's provider for the Secrets Store, before the words that storage accounts use, too.
        (
            "key-vault",
            (
                r"key ?vault|\bvault\.(?:azure|usgovcloudapi)\.|SecretNotFound|secretproviderclass|"
                r"failed to mount objects|secrets[ -]store.*StatusCode[=:] ?403"
            ),
        ),
        ("attached-elsewhere", r"Multi-Attach error|already attached to node|already exclusively attached"),
        ("too-many-disks", r"maximum number of data disks|exceed max volume count|MaxDataDisks"),
        ("permission", r"permission denied|\(13\)|access denied|\b403\b|AuthorizationFailed|Forbidden"),
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
    cluster: ManagedCluster, symptoms: Symptoms, tails: LogTails | Unavailable, calls: Calls | Unavailable
) -> Iterator[Judgement]:
    """A pod cannot use its volume: it is not attached or mounted, or its files are refused."""
    found: dict[str, Finding] = {}
    for symptom in symptoms.of(Sign.STUCK):
        if symptom.reason in _REASONS and not _CONFIG.search(symptom.message):
            found.setdefault(symptom.owner, _not_mounted(cluster, symptom, calls))
    for symptom in symptoms.of(Sign.CRASHING):
        finding = _refused(cluster, symptom, tails, calls)
        if finding:
            found.setdefault(symptom.owner, finding)
    yield from named(found.values())


def _not_mounted(cluster: ManagedCluster, symptom: Symptom, calls: Calls | Unavailable) -> Finding:
    no_driver = _NO_DRIVER.search(symptom.message)
    driver = (no_driver["driver"] or _SECRETS_STORE) if no_driver else ""
    told = next((cause for cause, pattern in _CAUSES if pattern.search(symptom.message)), "unknown")
    workload = symptom.owner.partition("/")[2]
    because = (
        f"{pods_of(len(symptom.pods))} of {workload} cannot start: its volume is not mounted",
        f"{symptom.reason}, {symptom.count} times: {symptom.message[:400]}",
    )
    facts = {"cause": "driver" if driver else told, "driver": driver, "path": "", "message": symptom.message[:400]}
    return _finding(cluster, symptom, facts, because, calls)


def _refused(
    cluster: ManagedCluster, symptom: Symptom, tails: LogTails | Unavailable, calls: Calls | Unavailable
) -> Finding | None:
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
    facts = {"cause": "permission", "driver": "", "path": mount.path, "message": words.line}
    return _finding(cluster, symptom, facts, because, calls)


def _finding(
    cluster: ManagedCluster,
    symptom: Symptom,
    facts: dict[str, str],
    because: tuple[str, ...],
    calls: Calls | Unavailable,
) -> Finding:
    azure = {"cluster": cluster.name, "group": cluster.group, "subscription": cluster.subscription}
    return Finding(
        code=CODE,
        subject=symptom.owner,
        affects=harmed(symptom.owner, symptom.pods, calls),
        because=because,
        facts=facts_of(symptom) | facts | azure | {"node": symptom.pod.node if symptom.pod else ""},
        began=symptom.since,
    )
