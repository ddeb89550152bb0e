"""Ask the API server from inside the cluster, from a restricted pod that is removed afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from shlex import join
from typing import Any

from handlers.evidence.azure import ManagedCluster
from handlers.evidence.endpoints import ProbeImage
from handlers.evidence.permissions_inside import PROBED_IN, WriterMayInside
from handlers.model import Finding
from handlers.remedy.declare import remedy
from handlers.remedy.inside import IN, doubts_inside, may_not_inside
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.reasons import is_stopped

NAME = "aksbot-probe"
ACTS = ("get pods", "create pods", "get pods/log", "delete pods")
DEADLINE_S = 90
"""Three questions of ten seconds, and a slow start. The pod ends by then whatever becomes of the bot."""
LIMITS = {"cpu": "100m", "memory": "64Mi", "ephemeral-storage": "16Mi"}
"""Python and one TLS connection take half of it."""
SCRIPT = """\
import http.client, socket, ssl, sys
from urllib.parse import urlsplit
anybody = ssl.create_default_context()
anybody.check_hostname = False
anybody.verify_mode = ssl.CERT_NONE
for url in sys.argv[1:]:
    at = urlsplit(url)
    try:
        asking = http.client.HTTPSConnection(at.hostname, at.port or 443, timeout=10, context=anybody)
        asking.request("GET", at.path or "/")
        status = asking.getresponse().status
        says = f"{status}: the way is open" if status < 500 else f"{status}: reached, but in trouble"
    except socket.gaierror as error:
        says = f"the name cannot be looked up ({error.strerror})"
    except TimeoutError:
        says = "no answer within 10 s"
    except (OSError, http.client.HTTPException) as error:
        says = f"no connection ({getattr(error, 'strerror', None) or error})"
    print(f"{url} {says}", flush=True)
"""
"""It sends no secret, so it need not know whom it talks to. It ends well whatever it finds: that is the answer."""


@remedy(codes=("node-cannot-reach-api-server",), acts=tuple(f"{act}{IN}{PROBED_IN}" for act in ACTS))
def probe_from_pod(
    finding: Finding, cluster: ManagedCluster, inside: WriterMayInside, image: ProbeImage
) -> Iterator[Plan | Forbidden]:
    """Ask the API server from a small pod; 401 or 403 proves that the way is open. It repairs nothing."""
    yield from is_stopped(cluster)
    yield from may_not_inside(ACTS, PROBED_IN, inside)
    urls = _urls(cluster, str(finding.facts.get("service_address", "")))
    yield Plan(
        remedy="probe-from-pod",
        title="Ask the API server from a pod",
        cluster=cluster.id,
        target=f"{PROBED_IN}/Pod/{NAME}",
        steps=(_step(cluster, urls, image.name),),
        before={"what is asked": list(urls), "image of the probe pod": image.name},
        undo="the pod is removed by itself; nothing else is changed",
        verify=Verify(finding.code, finding.subject, settle=timedelta()),
        risk=Risk.LOW,
        could_go_wrong=(
            "it repairs nothing: what it says tells which way is blocked",
            "a policy may refuse the pod, or its image may not be pulled: then nothing is learned",
        ),
        eta=timedelta(minutes=1),
        limit=timedelta(minutes=10),
        warnings=doubts_inside(ACTS, PROBED_IN, inside),
        effect=f"A pod in namespace {PROBED_IN} of {cluster.name} asks for the API server, for {DEADLINE_S} s at most, "
        "and is removed: it repairs nothing",
    )


def _urls(cluster: ManagedCluster, address: str) -> tuple[str, ...]:
    """By the service's name, by its IP (to tell DNS from the network), and by the API server's FQDN."""
    outside = cluster.private_fqdn if cluster.private and cluster.private_fqdn else cluster.fqdn
    hosts = ("kubernetes.default.svc", f"[{address}]" if ":" in address else address, outside)
    return tuple(f"https://{host}/" for host in hosts if host and host != "None")


def _step(cluster: ManagedCluster, urls: tuple[str, ...], image: str) -> Step:
    words = ["kubectl", "run", NAME, "--namespace", PROBED_IN, "--rm", "--stdin", "--restart", "Never"]
    return Step(
        verb=Verb.PROBE_FROM_POD,
        target=f"{PROBED_IN}/Pod/{NAME}",
        says=f"Ask {', '.join(urls)} from a pod in {cluster.name}, and remove the pod",
        request=f"POST /api/v1/namespaces/{PROBED_IN}/pods ({image}), GET its log, DELETE it",
        command=join([*words, "--image", image, "--", "python3", "-c", SCRIPT, *urls]),
        arguments={"namespace": PROBED_IN, "name": NAME, "manifest": manifest(urls, image)},
    )


def manifest(urls: tuple[str, ...], image: str) -> dict[str, Any]:
    """A pod that passes the restricted Pod Security Standard."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": NAME,
            "namespace": PROBED_IN,
            "labels": {"app.kubernetes.io/name": NAME, "app.kubernetes.io/managed-by": "aksbot"},
        },
        "spec": {
            "activeDeadlineSeconds": DEADLINE_S,
            "automountServiceAccountToken": False,
            "containers": [
                {
                    "name": "probe",
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["python3", "-c", SCRIPT, *urls],
                    "resources": {"limits": dict(LIMITS), "requests": dict(LIMITS)},
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                        "readOnlyRootFilesystem": True,
                    },
                }
            ],
            "enableServiceLinks": False,
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "restartPolicy": "Never",
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65532,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "terminationGracePeriodSeconds": 0,
            # If every pool has taints, the pod may run on the system pool.
            "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
        },
    }
