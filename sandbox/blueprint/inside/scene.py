"""Shared by all objects of one cluster: ids, timestamps, metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from ipaddress import IPv4Network

from sandbox.blueprint.clock import Clock
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.node_model import Machine
from sandbox.blueprint.places import Places
from sandbox.kube.world import stamp
from sandbox.world import Body

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Kubernetes uses no vowels in generated names, so that they never spell a word."""
_DIGITS = str.maketrans("0123456789", "456789bcdf")
IMAGE_UPGRADE = timedelta(days=5, hours=3)
"""The last node image upgrade: nothing on the nodes is older (see history.py)."""


@dataclass(frozen=True)
class Scene:
    """The context for building one cluster's objects."""

    places: Places
    clock: Clock
    machines: tuple[Machine, ...]

    @property
    def mint(self) -> Mint:
        return self.places.mint

    @property
    def cluster(self) -> str:
        return self.places.name

    @cached_property
    def created(self) -> datetime:
        return self.clock.at(self.places.spec.created)

    @property
    def pod_subnet_start(self) -> int:
        """The first address of the dedicated pod subnet."""
        vnet = self.places.fleet.vnets[self.places.spec.network.vnet or ""]
        subnet = vnet.subnets[self.places.spec.network.pod_subnet or ""]
        return int(IPv4Network(subnet.prefix).network_address) + 4

    @cached_property
    def rolled(self) -> datetime:
        """When the running pods were started."""
        return max(self.created + timedelta(minutes=12), self.clock.now - IMAGE_UPGRADE)

    def template_hash(self, *words: object) -> str:
        """The pod-template-hash: a number encoded in Kubernetes' safe letters."""
        return self.mint.digits(10, self.cluster, *words).translate(_DIGITS)

    def suffix(self, length: int, *words: object) -> str:
        """A generated name suffix, as in Kubernetes."""
        number = int(self.mint.hex(16, self.cluster, *words), 16)
        text = ""
        for _ in range(length):
            number, rest = divmod(number, len(_ALPHABET))
            text += _ALPHABET[rest]
        return text

    def meta(
        self,
        kind: str,
        name: str,
        namespace: str = "",
        *,
        born: datetime | None = None,
        labels: Mapping[str, str] | None = None,
        owner: Body | None = None,
        **more: object,
    ) -> Body:
        """An object's metadata. The same name in the same cluster always has the same uid."""
        return {
            "name": name,
            **({"namespace": namespace} if namespace else {}),
            "uid": self.uid(kind, name, namespace),
            "creationTimestamp": stamp(born or self.created),
            **({"labels": labels} if labels else {}),
            **({"ownerReferences": [owner]} if owner else {}),
            **more,
        }

    def uid(self, kind: str, name: str, namespace: str = "") -> str:
        return self.mint.guid(self.cluster, kind, namespace, name)

    def owner(self, api_version: str, kind: str, name: str, namespace: str = "") -> Body:
        """An ownerReference to the controller."""
        return {
            "apiVersion": api_version,
            "kind": kind,
            "name": name,
            "uid": self.uid(kind, name, namespace),
            "controller": True,
            "blockOwnerDeletion": True,
        }
