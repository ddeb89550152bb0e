"""Services and what is behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.workload import Workload
from sandbox.world import Body


def service_bodies(scene: Scene, work: Workload, port: int, addresses: Iterable[tuple[str, Body]]) -> Iterator[Body]:
    """The service of a workload, and the addresses that it leads to."""
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
            "ports": [{**one, "targetPort": port} for one in ports],
            "selector": dict(work.selector),
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
        "status": {"loadBalancer": {}},
    }
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": scene.meta(
            "EndpointSlice",
            f"{work.name}-{scene.suffix(5, work.namespace, work.name, 'slice')}",
            work.namespace,
            labels={"kubernetes.io/service-name": work.name},
            owner=scene.owner("v1", "Service", work.name, work.namespace),
        ),
        "addressType": "IPv4",
        "endpoints": [_endpoint(address, pod) for address, pod in addresses],
        "ports": ports,
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
