"""Can the images of workloads be pulled?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.registry_access import Access, access
from handlers.diagnose.workload_findings import WITHOUT_AZURE, facts_of, harmed, named, pods_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.registries import Registries
from handlers.evidence.workloads.images import DOCKER_HUB, failed_pulls, image_of, registry_of
from handlers.evidence.workloads.symptoms import Symptom, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, NotApplicable, Unavailable
from runbooks.linear import compile_linear

CODE = "image-pull-failed"
_REFUSALS = ("401 Unauthorized", "403 Forbidden", "unauthorized", "denied: ", "access denied", "insufficient_scope")
"""A registry that answered, and said no."""
_CAUSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    # In this order: a firewall's 403 is no missing role, a login that nobody answered is no refused one, and a registry
    # that hides what it has says both.
    ("network", ("is not allowed access", "denied: client with IP")),  # Azure Container Registry's firewall
    ("dns", ("no such host", "server misbehaving", "failure in name resolution", "lookup [^ ]+ on [^ ]+: ")),
    ("dns", ("lookup [^ ]+: i/o timeout",)),
    (
        "network",
        ("dial tcp", "proxyconnect", "i/o timeout", "connection refused", "connection reset", "no route to host"),
    ),
    ("network", ("TLS handshake", "tls: ", "x509:", "deadline exceeded", r"Client\.Timeout", r"\bEOF\b")),
    ("network", ("50[0-9] (?:Internal|Bad|Service|Gateway)", "429 Too Many Requests", "toomanyrequests:")),
    ("unauthorized", _REFUSALS),
    ("unauthorized", ("authorization failed", "failed to fetch (?:anonymous|oauth) token")),
    ("reference", ("not found", "manifest unknown", "MANIFEST_UNKNOWN", "NAME_UNKNOWN", "does not exist")),
    ("reference", ("invalid reference format", "couldn't parse image", "no match for platform")),
    ("network", ("50[0-9] ", "too ?many ?requests")),
)
_PATTERNS = tuple((cause, compile_linear(f"(?i)(?:{'|'.join(told)})")) for cause, told in _CAUSES)
_REFUSED = compile_linear(f"(?i)(?:{'|'.join(_REFUSALS)})")
_SECRETS = compile_linear(r"pull secrets \((?P<names>[^)]+)\)")
NOT_RETRIEVED = "FailedToRetrieveImagePullSecret"
_WRONG_LOGIN = compile_linear(r"(?i)incorrect username or password|401 Unauthorized")
_MEANINGS = {
    "reference": "no such image or tag",
    "unauthorized": "the registry refuses who asks",
    "pull-secret": "the pull secret does not exist",
    "dns": "the registry's name is not resolved",
    "network": "the registry is not reached",
    "unknown": "the kubelet does not say more",
}


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=ClearWithout(
        (*WITHOUT_AZURE.kinds, Registries),
        "whether images are pulled is read from the cluster; Azure only tells why one is refused",
    ),
    clear_says="no pod fails to pull its image",
)
def image_pull_failed(
    cluster: ManagedCluster,
    symptoms: Symptoms,
    calls: Calls | Unavailable,
    registries: Registries | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """The image of a workload cannot be pulled."""
    seen: dict[tuple[str, str], Symptom] = {}
    for each_symptom in failed_pulls(symptoms):  # its replicas may stand at ErrImagePull and ImagePullBackOff in turn
        seen.setdefault(
            (each_symptom.owner, each_symptom.container.name if each_symptom.container else ""), each_symptom
        )
    yield from named(_finding(cluster, symptom, symptoms, calls, registries) for symptom in seen.values())


def _finding(
    cluster: ManagedCluster,
    symptom: Symptom,
    symptoms: Symptoms,
    calls: Calls | Unavailable,
    registries: Registries | Unavailable | NotApplicable,
) -> Finding:
    image = image_of(symptom)
    told = _told(symptom, symptoms)
    secrets = _missing_secrets(symptom, symptoms)
    cause = _cause(symptom, told, secrets)
    unknown = cause == "unauthorized" and _is_refused_for_its_name(symptom, image, told)
    cause = "reference" if unknown else cause
    workload = symptom.owner.partition("/")[2]
    in_azure = access(cause, registry_of(image), told, registries)
    because = [
        f"{pods_of(len(symptom.pods))} of {workload}: {symptom.reason}: {_MEANINGS[cause]}",
        f"image {image}",
        told,
    ]
    if unknown:
        because.append(
            f"images of {DOCKER_HUB}/library are public: a registry refuses one of them that it does not have"
        )
    if secrets:
        because.append(f"the kubelet finds no pull secret named {secrets}")
    because += in_azure.told
    return Finding(
        code=CODE,
        subject=symptom.owner,
        affects=harmed(symptom.owner, symptom.pods, calls),
        because=tuple(item for item in because if item),
        facts=facts_of(symptom)
        | {"cause": cause, "image": image, "registry": registry_of(image), "secrets": secrets, "message": told}
        | _of_azure(cluster, in_azure),
        began=symptom.since,
    )


def _of_azure(cluster: ManagedCluster, seen: Access) -> dict[str, object]:
    registry = seen.registry
    return {
        "access": seen.state,
        "registry_id": registry.id if registry else "",
        "registry_name": registry.name if registry else "<registry-name>",
        "role": registry.role if registry else "AcrPull",
        "identity": seen.identity,
        "endpoints": list(registry.endpoints) if registry else [],
        "client": seen.client,
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
    }


def _told(symptom: Symptom, symptoms: Symptoms) -> str:
    """The kubelet's own words: while it backs off, only its event of the last try has them."""
    tries = [warned.message for pod in symptom.pods for warned in symptoms.about(pod, "Failed")]
    whole = next((item for item in tries if "Failed to pull image" in item or "Failed to inspect image" in item), "")
    return max(symptom.message, whole, key=len)


def _missing_secrets(symptom: Symptom, symptoms: Symptoms) -> str:
    for pod in symptom.pods:
        for warned in symptoms.about(pod, NOT_RETRIEVED):
            found = _SECRETS.search(warned.message)
            return found["names"] if found else ", ".join(pod.spec.pull_secrets)
    return ""


def _cause(symptom: Symptom, told: str, secrets: str) -> str:
    if symptom.reason == "InvalidImageName":
        return "reference"
    cause = next((cause for cause, pattern in _PATTERNS if pattern.search(told)), "unknown")
    return "pull-secret" if secrets and cause in ("unauthorized", "unknown") else cause


def _is_refused_for_its_name(symptom: Symptom, image: str, told: str) -> bool:
    """Docker Hub's own images need no login. It, and many a mirror of it, answers 403 for one that does not exist."""
    refused = _REFUSED.search(told) is not None
    logs_in = any(pod.spec.pull_secrets for pod in symptom.pods) or _WRONG_LOGIN.search(told)
    repository = image.removeprefix(f"{DOCKER_HUB}/").removeprefix("library/")
    return refused and not logs_in and "/" not in repository
