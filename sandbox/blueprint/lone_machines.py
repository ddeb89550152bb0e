"""Node pools without a scale set: standalone VMs, or VMs in an availability set as in old clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sandbox.blueprint.clock import wire_offset
from sandbox.blueprint.node_model import Machine, NodeModel, first_address
from sandbox.world import Body


class LoneMachines(NodeModel):
    """The VMs of a VirtualMachines pool, of one or more sizes."""

    def machines(self) -> Iterator[tuple[Machine, tuple[Body, ...]]]:
        for number, size in zip(self.numbers(), self.spec.machine_sizes, strict=True):
            name, machine_id = self.node_name(number), self.machine_id(number)
            interface = {
                **self.interface(self._interface_id(number), machine_id),
                "type": "Microsoft.Network/networkInterfaces",
            }
            configuration, address = first_address(interface)
            zone = self.zone(number)
            born = self.born(name)
            machine = Machine(machine_id, name, self.name, size, zone, configuration, address, born, self.node_labels())
            yield machine, (self._machine(number, machine, interface["id"]), interface)

    def _machine(self, number: int, machine: Machine, interface: str) -> Body:
        disk = f"{machine.name}_OsDisk_1_{self.places.mint.hex(32, machine.name)}"
        return {
            "name": machine.name,
            "id": machine.id,
            "type": "Microsoft.Compute/virtualMachines",
            "location": self.places.spec.location,
            "tags": self.tags(),
            "identity": self.identity(),
            **({"zones": [machine.zone]} if machine.zone else {}),
            "properties": {
                "hardwareProfile": {"vmSize": machine.size},
                "provisioningState": "Succeeded",
                "vmId": self.places.mint.guid(machine.name),
                **self.placement(),
                "storageProfile": self.storage(disk),
                "osProfile": {"computerName": machine.name, **self.os_profile()},
                "networkProfile": {"networkInterfaces": [{"id": interface}]},
                "instanceView": self.view(number, machine.name, disk, machine.born),
                "timeCreated": wire_offset(machine.born),
            },
            "resources": self.extension_resources(machine.id),
            "etag": '"2"',
        }

    def numbers(self) -> Iterable[int]:
        return self.places.machine_numbers(self.name)

    def node_name(self, number: int) -> str:
        return self.places.node_name(self.name, number)

    def machine_id(self, number: int) -> str:
        return f"{self.places.node_group}/providers/Microsoft.Compute/virtualMachines/{self.node_name(number)}"

    def node_labels(self) -> dict[str, str]:
        return {}

    def placement(self) -> Body:
        """Additional VM properties for its placement."""
        return {}

    def _interface_id(self, number: int) -> str:
        name = f"{self.node_name(number)}-nic"
        return f"{self.places.node_group}/providers/Microsoft.Network/networkInterfaces/{name}"


class AvailabilitySetMachines(LoneMachines):
    """The VMs of an old AvailabilitySet pool."""

    def shared(self) -> Iterator[Body]:
        where = f"{self.places.node_group}/providers/Microsoft.Compute/virtualMachines"
        yield {
            "name": self._set.rsplit("/", 1)[-1],
            "id": self._set,
            "type": "Microsoft.Compute/availabilitySets",
            "location": self.places.spec.location,
            "tags": self.tags(),
            "properties": {
                "platformUpdateDomainCount": 5,
                "platformFaultDomainCount": 3,
                "virtualMachines": [
                    {"id": f"{where}/{self.places.node_name(self.name, number)}"}
                    for number in self.places.machine_numbers(self.name)
                ],
            },
            "sku": {"name": "Aligned"},
        }

    def tags(self) -> dict[str, str]:
        """These VMs have the tags of acs-engine, the predecessor of AKS."""
        return {
            "creationSource": f"aks-{self.stem}",
            "orchestrator": f"Kubernetes:{self.version}",
            "poolName": self.name,
            "resourceNameSuffix": self.places.suffix,
        }

    def placement(self) -> Body:
        return {"availabilitySet": {"id": self._set}}

    @property
    def _set(self) -> str:
        name = f"{self.name}-availabilitySet-{self.places.suffix}"
        return f"{self.places.node_group}/providers/Microsoft.Compute/availabilitySets/{name}"

    def _interface_id(self, number: int) -> str:
        return f"{self.places.node_group}/providers/Microsoft.Network/networkInterfaces/{self.stem}-nic-{number}"


class AutoMachines(LoneMachines):
    """VMs auto-provisioned for pending pods: without a node pool, with random names."""

    @property
    def stem(self) -> str:
        return f"aks-{self.name}"

    def numbers(self) -> Iterable[int]:
        return range(self.spec.machine_count)

    def node_name(self, number: int) -> str:
        return f"{self.stem}-{self.places.mint.word(5, self.places.name, self.name, number)}"

    def tags(self) -> dict[str, str]:
        """Tag names cannot contain slashes, so Karpenter uses underscores."""
        return {
            "karpenter.azure.com_cluster": self.places.name,
            "karpenter.sh_nodepool": self.name,
            "compute.aks.billing": "linux",
        }

    def node_labels(self) -> dict[str, str]:
        return {
            "karpenter.sh/nodepool": self.name,
            "karpenter.sh/capacity-type": "on-demand",
            "karpenter.sh/registered": "true",
            "karpenter.sh/initialized": "true",
            "karpenter.azure.com/aksnodeclass": "default",
        }
