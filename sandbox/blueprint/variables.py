"""`${prod-weu.pool.apps}` in scenario files: ids of the fleet's resources, and timestamps within text."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sandbox.blueprint.clock import BadMoment, Clock, wire
from sandbox.blueprint.fleet import Fleet
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.places import Places, group_id, vnet_id
from sandbox.blueprint.site_places import site_variables
from sandbox.blueprint.strict import BadScenario, dotted
from sandbox.kube.world import KubeWorld, stamp

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_MOMENT = re.compile(r"^now(?:-[0-9dhms]+)?$")


def variables(fleet: Fleet, mint: Mint) -> dict[str, str]:
    """All variables that a scenario file may use, with their values."""
    found = {"tenant": fleet.tenant}
    for name, subscription in fleet.subscriptions.items():
        found[f"sub.{name}"] = f"/subscriptions/{subscription.id}"
        found[f"sub.{name}.id"] = subscription.id
        found[f"mg.{name}"] = f"/providers/Microsoft.Management/managementGroups/{subscription.management_group}"
        for group in subscription.groups:
            found[f"group.{group}"] = group_id(subscription.id, group)
    for name in fleet.vnets:
        found[f"vnet.{name}"] = vnet_id(fleet, name)
    for name, spec in fleet.clusters.items():
        found.update(_of_cluster(Places(name, spec, fleet, mint)))
    found.update(site_variables(fleet))
    return found


def _of_cluster(places: Places) -> Iterator[tuple[str, str]]:
    name = places.name
    yield name, places.id
    yield f"{name}.sub", places.subscription
    yield f"{name}.location", places.spec.location
    yield f"{name}.version", places.spec.version
    yield f"{name}.group", places.group
    yield f"{name}.nodes", places.node_group
    yield f"{name}.nodes.name", places.node_group_name
    yield f"{name}.subnet", places.node_subnet
    yield f"{name}.vnet", places.vnet
    yield f"{name}.nsg", places.security_group
    if places.spec.private:
        yield f"{name}.zone", places.private_zone
        yield f"{name}.record", places.private_host.partition(".")[0]
    yield f"{name}.balancer", places.load_balancer
    yield f"{name}.address", places.outbound_address
    yield f"{name}.usage", places.usages("Microsoft.Compute")
    yield f"{name}.usage.network", places.usages("Microsoft.Network")
    yield f"{name}.usage.storage", places.usages("Microsoft.Storage")
    yield f"{name}.sizes", f"/subscriptions/{places.subscription}/providers/Microsoft.Compute/skus"
    for pool, spec in places.spec.pools.items():
        yield f"{name}.pool.{pool}", places.pool(pool)
        if spec.type == "VirtualMachineScaleSets":
            yield f"{name}.set.{pool}", places.scale_set(pool)
        for ordinal, number in enumerate(places.machine_numbers(pool)):
            yield f"{name}.machine.{pool}.{ordinal}", places.machine_id(pool, number)
            yield f"{name}.node.{pool}.{ordinal}", places.node_name(pool, number)


POD_NAMES = 3
"""How many pods of each workload have a variable."""


def inside_variables(fleet: Fleet, kubes: Mapping[str, KubeWorld], mint: Mint) -> dict[str, str]:
    """Variables for pod names, by cluster, namespace and workload."""
    found: dict[str, str] = {}
    known = variables(fleet, mint)
    for name in fleet.names:
        kube = kubes.get(known[name].lower())
        seen: Counter[str] = Counter()
        for pod in kube.every("pods") if kube else ():
            metadata = pod["metadata"]
            container = pod["spec"]["containers"][0]["name"]
            work = f"{name}.pod.{metadata['namespace']}.{container}"
            if seen[work] < POD_NAMES:
                found[f"{work}.{seen[work]}"] = metadata["name"]
                found[f"{work}.{seen[work]}.node"] = pod["spec"]["nodeName"]
            seen[work] += 1
    return found


class Resolver:
    """Replaces variables and timestamps throughout a scenario file."""

    def __init__(self, values: Mapping[str, str], clock: Clock, file: Path) -> None:
        self._values, self._clock, self._file = values, clock, file

    def resolve(self, data: Any, where: tuple[int | str, ...] = ()) -> Any:
        """Replace variables in all strings. A string that is only a timestamp is left for the caller to parse."""
        if isinstance(data, dict):
            return {
                self._text(key, where) if isinstance(key, str) else key: self.resolve(value, (*where, key))
                for key, value in data.items()
            }
        if isinstance(data, list):
            return [self.resolve(item, (*where, number)) for number, item in enumerate(data)]
        return self._text(data, where) if isinstance(data, str) else data

    def moments(self, data: Any, *, inside: bool = False) -> Any:
        """Replace timestamp strings with Azure's format or, with `inside`, Kubernetes' format."""
        if isinstance(data, dict):
            return {key: self.moments(value, inside=inside) for key, value in data.items()}
        if isinstance(data, list):
            return [self.moments(item, inside=inside) for item in data]
        if not isinstance(data, str) or not _MOMENT.match(data):
            return data
        moment = self._moment(data, (data,))
        return stamp(moment) if inside else wire(moment)

    def value(self, name: str) -> str | None:
        """The value of a variable, or None."""
        return self._values.get(name)

    def _text(self, text: str, where: tuple[int | str, ...]) -> str:
        def value(found: re.Match[str]) -> str:
            name = found[1]
            if _MOMENT.match(name):
                return wire(self._moment(name, where))
            if name not in self._values:
                raise BadScenario(self._file, dotted(where), f"there is no ${{{name}}}{self._nearest(name)}")
            return self._values[name]

        return _VARIABLE.sub(value, text)

    def _moment(self, text: str, where: tuple[int | str, ...]) -> datetime:
        try:
            return self._clock.at(text)
        except BadMoment as error:
            raise BadScenario(self._file, dotted(where), str(error)) from error

    def _nearest(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._values, n=3)
        return f"; did you mean {', '.join(near)}?" if near else ""
