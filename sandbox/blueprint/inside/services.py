"""Services and their endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.workload import Workload
from sandbox.world import Body

MOST_ENDPOINTS = 100
"""Of one slice: the default of kube-controller-manager's --max-endpoints-per-slice."""


def service_bodies(scene: Scene, work: Workload, port: int, addresses: Iterable[tuple[str, Body]]) -> Iterator[Body]:
    """The Service of a workload and its EndpointSlices."""
    prefix = scene.places.spec.network.service_cidr.rsplit(".", 2)[0]
    third, fourth = (scene.mint.number(1, 250, scene.cluster, work.namespace, work.name, at) for at in (0, 1))
    address = f"{prefix}.{third}.{fourth}"
    ports = [{"name": "main", "port": port, "protocol": "TCP"}]
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": scene.meta("Service", work.name, work.namespace),
        "spec": {
            "clusterIP": address,
            "clusterIPs": [address],
            "ports": [{**entry, "targetPort": port} for entry in ports],
            "selector": dict(work.selector),
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
        "status": {"loadBalancer": {}},
    }
    # A service without a pod has an empty slice.
    behind = [_endpoint(address, pod) for address, pod in addresses]
    for first in range(0, max(1, len(behind)), MOST_ENDPOINTS):
        seed = (work.namespace, work.name, "slice", *((str(first),) if first else ()))
        yield {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": scene.meta(
                "EndpointSlice",
                f"{work.name}-{scene.suffix(5, *seed)}",
                work.namespace,
                labels={"kubernetes.io/service-name": work.name},
                owner=scene.owner("v1", "Service", work.name, work.namespace),
            ),
            "addressType": "IPv4",
            "endpoints": behind[first : first + MOST_ENDPOINTS],
            "ports": ports,
        }


def api_server_bodies(scene: Scene) -> Iterator[Body]:
    """The service `kubernetes`, maintained by the API server itself: no selector, and its endpoints are not pods."""
    address = scene.places.spec.network.service_cidr.rsplit(".", 1)[0] + ".1"
    behind = (
        f"20.{scene.mint.number(33, 250, scene.cluster, 'api')}.{scene.mint.number(1, 250, scene.cluster, 'api-2')}.17"
    )
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": scene.meta(
            "Service", "kubernetes", "default", labels={"component": "apiserver", "provider": "kubernetes"}
        ),
        "spec": {
            "clusterIP": address,
            "clusterIPs": [address],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
        "status": {"loadBalancer": {}},
    }
    labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
    yield {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": scene.meta("Endpoints", "kubernetes", "default", labels=labels),
        "subsets": [{"addresses": [{"ip": behind}], "ports": [{"name": "https", "port": 443, "protocol": "TCP"}]}],
    }
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": scene.meta(
            "EndpointSlice", "kubernetes", "default", labels={"kubernetes.io/service-name": "kubernetes"}
        ),
        "addressType": "IPv4",
        "endpoints": [{"addresses": [behind], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": 443, "protocol": "TCP"}],
    }


def _endpoint(address: str, pod: Body) -> Body:
    metadata = pod["metadata"]
    return {
        "addresses": [address],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": {
            "kind": "Pod",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
    }
