"""Does a pod name a config map, a secret or a key that does not exist?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.workload_findings import WITHOUT_AZURE, facts_of, harmed, named, pods_of
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable
from runbooks.linear import compile_linear

CODE = "config-missing"
_KINDS = {"secret": "Secret", "configmap": "ConfigMap", "config": "ConfigMap"}
_OBJECT = compile_linear(r'(?i)(?P<kind>secret|configmap)s? "(?P<name>[^"]+)" not found')
_KEY = compile_linear(r"(?i)couldn't find key (?P<key>[^ ]+) in (?P<kind>secret|configmap) [^/ ]+/(?P<name>[^ ]+)")
_UNNAMED_KEY = compile_linear(r"(?i)references non-existent (?P<kind>secret|config) key: ?(?P<key>[^ ]+)")


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no pod waits for a config map, a secret or a key that does not exist",
)
def config_missing(symptoms: Symptoms, calls: Calls | Unavailable) -> Iterator[Judgement]:
    """A pod names a config map, a secret or one of their keys that does not exist."""
    seen: dict[tuple[str, str, str], Finding] = {}
    for symptom in symptoms.of(Sign.WAITING, Sign.STUCK):
        found = _missing(symptom)
        if found:
            finding = _finding(symptom, *found, calls)
            seen.setdefault((symptom.owner, found[0], found[1]), finding)
    yield from named(seen.values())


def _missing(symptom: Symptom) -> tuple[str, str, str] | None:
    """(kind, name, key) in the kubelet's words; secrets are never read."""
    for pattern in (_KEY, _OBJECT, _UNNAMED_KEY):
        found = pattern.search(symptom.message)
        if found:
            groups = found.groupdict()
            kind = _KINDS[str(groups["kind"]).lower()]
            return kind, groups.get("name") or _mounted(symptom, kind), groups.get("key") or ""
    return None


def _mounted(symptom: Symptom, kind: str) -> str:
    """Of a key in a volume the kubelet says which, and not of what: its volume does."""
    volumes = [
        volume.source
        for pod in symptom.pods
        for volume in pod.spec.volumes
        if volume.kind.lower() == kind.lower() and volume.source
    ]
    return volumes[0] if len(set(volumes)) == 1 else ""


def _finding(symptom: Symptom, kind: str, name: str, key: str, calls: Calls | Unavailable) -> Finding:
    what = f"key {key} of {kind} {name}".strip() if key else f"{kind} {name}"
    workload = symptom.owner.partition("/")[2]
    return Finding(
        code=CODE,
        subject=symptom.owner,
        affects=harmed(symptom.owner, symptom.pods, calls),
        because=(
            f"{workload} names {what}, which does not exist in namespace {symptom.namespace}",
            f"{pods_of(len(symptom.pods))} waiting: {symptom.reason}: {symptom.message}",
        ),
        facts=facts_of(symptom) | {"kind": kind, "name": name, "key": key, "message": symptom.message},
        began=symptom.since,
    )
