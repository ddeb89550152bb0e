"""Scale sets, their instances and their interfaces, as in a node resource group."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.blueprint.clock import wire_offset
from sandbox.blueprint.node_model import Machine, NodeModel, first_address
from sandbox.world import Body


class ScaleSetMachines(NodeModel):
    """The instances of a scale set node pool."""

    @property
    def id(self) -> str:
        return self.places.scale_set(self.name)

    def shared(self) -> Iterator[Body]:
        yield self.scale_set()

    def machines(self) -> Iterator[tuple[Machine, tuple[Body, ...]]]:
        for number in self.places.machine_numbers(self.name):
            born = self.born(f"{self.stem}_{number}")
            instance = self.places.machine_id(self.name, number)
            interface = self.interface(f"{instance}/networkInterfaces/{self.stem}", instance)
            configuration, address = first_address(interface)
            name = self.places.node_name(self.name, number)
            machine = Machine(
                instance, name, self.name, self.spec.size, self.zone(number), configuration, address, born
            )
            yield machine, (self._instance(number, machine, interface["id"]), interface)

    def scale_set(self) -> Body:
        """The scale set itself."""
        profile: Body = {
            "osProfile": {"computerNamePrefix": self.stem, **self.os_profile()},
            "storageProfile": self.storage(),
            "networkProfile": {"networkInterfaceConfigurations": [self.interface_model()]},
            "extensionProfile": {
                "extensions": [
                    {"name": name, "properties": {"autoUpgradeMinorVersion": True, **of, "settings": {}}}
                    for name, of in self.extensions().items()
                ],
                "extensionsTimeBudget": "PT16M",
            },
            "timeCreated": wire_offset(self.created),
        }
        if self.spec.spot:
            profile |= {"priority": "Spot", "evictionPolicy": "Delete", "billingProfile": {"maxPrice": -1}}
        return {
            "name": self.stem,
            "id": self.id,
            "type": "Microsoft.Compute/virtualMachineScaleSets",
            "location": self.places.spec.location,
            "tags": self.tags(),
            "identity": self.identity(),
            "sku": {"name": self.spec.size, "tier": "Standard", "capacity": self.spec.count},
            **({"zones": list(self.spec.zones)} if self.spec.zones else {}),
            "etag": f'"{self.places.mint.number(2, 90, self.stem)}"',
            "properties": {
                "singlePlacementGroup": False,
                "orchestrationMode": "Uniform",
                "upgradePolicy": {"mode": "Manual"},
                "virtualMachineProfile": profile,
                "provisioningState": "Succeeded",
                "overprovision": False,
                "doNotRunExtensionsOnOverprovisionedVMs": False,
                "uniqueId": self.places.mint.guid(self.stem),
                "platformFaultDomainCount": 1,
                "timeCreated": wire_offset(self.created),
            },
        }

    def _instance(self, number: int, machine: Machine, interface: str) -> Body:
        """One instance, with the instance view that Compute returns with `$expand`."""
        name, disk = f"{self.stem}_{number}", self._disk(number)
        return {
            "name": name,
            "id": machine.id,
            "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
            "location": self.places.spec.location,
            "tags": self.tags(),
            "identity": self.identity(),
            **({"zones": [machine.zone]} if machine.zone else {}),
            "instanceId": str(number),
            "sku": {"name": self.spec.size, "tier": "Standard"},
            "properties": {
                "latestModelApplied": True,
                "modelDefinitionApplied": "VirtualMachineScaleSet",
                "instanceView": self.view(number, machine.name, disk, machine.born),
                "networkProfileConfiguration": {"networkInterfaceConfigurations": [self.interface_model()]},
                "provisioningState": "Succeeded",
                "hardwareProfile": {"vmSize": self.spec.size},
                "resilientVMDeletionStatus": "Disabled",
                "vmId": self.places.mint.guid(name),
                "storageProfile": self.storage(disk),
                "osProfile": {"computerName": machine.name, **self.os_profile()},
                "networkProfile": {"networkInterfaces": [{"id": interface}]},
                "timeCreated": wire_offset(machine.born),
            },
            "etag": '"1"',
            "resources": self.extension_resources(
                f"{self.places.node_group}/providers/Microsoft.Compute/virtualMachines/{name}"
            ),
        }

    def _disk(self, number: int) -> str:
        return f"{self.stem[:20]}{self.stem[:20]}{number}OS__1_{self.places.mint.hex(32, self.stem, number)}"
