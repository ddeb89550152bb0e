"""The properties of a node's VM, shared by scale set instances and standalone VMs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sandbox.blueprint.fleet import PoolSpec
from sandbox.blueprint.instance_view import Seen, extensions, healthy_view
from sandbox.blueprint.network import Subnet
from sandbox.blueprint.places import Places
from sandbox.world import Body

NODE_IMAGE = "202610.27.0"
SSH_KEY = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDsandbox"
_LINUX = (
    "/subscriptions/{subscription}/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute"
    "/galleries/AKSUbuntu/images/2204gen2containerd/versions/" + NODE_IMAGE
)
_WINDOWS = (
    "/subscriptions/{subscription}/resourceGroups/AKS-Windows/providers/Microsoft.Compute"
    "/galleries/AKSWindows/images/windows-2022-containerd/versions/20348.4297.251015"
)
_GALLERY = "109a5e88-712a-48ae-9078-9ca8b3c81345"
"""The subscription of AKS's public node image gallery."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The parts of a node's VM that Kubernetes and the network need."""

    id: str
    name: str
    """The node's name in Kubernetes."""
    pool: str
    size: str
    zone: str
    ip_configuration: str
    address: str
    born: datetime
    labels: Mapping[str, str] = field(default_factory=dict)
    """The node labels set by whatever created the VM."""


@dataclass(frozen=True)
class NodeModel:
    """The VMs of one node pool: the parts that do not depend on the pool type."""

    places: Places
    name: str
    spec: PoolSpec
    subnet: Subnet
    created: datetime

    @property
    def stem(self) -> str:
        """The name prefix of this pool's VMs."""
        return self.places.machine_stem(self.name)

    @property
    def version(self) -> str:
        return self.spec.version or self.places.spec.version

    def shared(self) -> Iterator[Body]:
        """The resources that contain the VMs."""
        yield from ()

    def machines(self) -> Iterator[tuple[Machine, tuple[Body, ...]]]:
        """Every VM with its bodies: the VM and its network interface."""
        raise NotImplementedError

    # -- parts --

    def born(self, name: str) -> datetime:
        return self.created + timedelta(seconds=self.places.mint.number(30, 90, name))

    def zone(self, number: int) -> str:
        return self.spec.zones[number % len(self.spec.zones)] if self.spec.zones else ""

    def os_profile(self) -> Body:
        if self.spec.os == "Windows":
            windows = {"provisionVMAgent": True, "enableAutomaticUpdates": False}
            return {"windowsConfiguration": windows, "secrets": [], "adminUsername": "azureuser"}
        key = {"path": "/home/azureuser/.ssh/authorized_keys", "keyData": SSH_KEY}
        linux = {"disablePasswordAuthentication": True, "ssh": {"publicKeys": [key]}, "provisionVMAgent": True}
        return {
            "linuxConfiguration": linux,
            "secrets": [],
            "allowExtensionOperations": True,
            "requireGuestProvisionSignal": True,
            "adminUsername": "azureuser",
        }

    def storage(self, disk_name: str | None = None) -> Body:
        """The disks of one VM; without a name, those of the scale set model."""
        image: Body = {"id": (_WINDOWS if self.spec.os == "Windows" else _LINUX).format(subscription=_GALLERY)}
        disk: Body = {
            "osType": self.spec.os,
            "createOption": "FromImage",
            "caching": "ReadOnly",
            "diffDiskSettings": {"option": "Local", "placement": "CacheDisk"},
            "managedDisk": {"storageAccountType": "Standard_LRS"},
            "diskSizeGB": 128,
        }
        if disk_name is None:
            return {"osDisk": disk, "imageReference": image, "diskControllerType": "SCSI"}
        disk["name"] = disk_name
        image["exactVersion"] = image["id"].rsplit("/", 1)[-1]
        return {"imageReference": image, "osDisk": disk, "dataDisks": [], "diskControllerType": "SCSI"}

    def view(self, number: int, name: str, disk: str, born: datetime) -> Body:
        placement = self.places.mint.guid(self.stem, "placement")
        return healthy_view(Seen(number, name, disk, placement, self.extensions(), born, self.spec.os))

    def extensions(self) -> dict[str, dict[str, str]]:
        return extensions(self.stem, self.spec.os)

    def extension_resources(self, machine: str) -> list[Body]:
        """The extensions as child resources of the VM."""
        return [
            {
                "name": extension,
                "id": f"{machine}/extensions/{extension}",
                "type": "Microsoft.Compute/virtualMachines/extensions",
                "location": self.places.spec.location,
                "properties": {"autoUpgradeMinorVersion": True, "provisioningState": "Succeeded", **of},
            }
            for extension, of in self.extensions().items()
        ]

    def identity(self) -> Body:
        mint, name = self.places.mint, self.places.name
        who = {"principalId": self.places.kubelet_principal, "clientId": mint.guid(name, "kubelet", "client")}
        return {"type": "UserAssigned", "userAssignedIdentities": {self.places.kubelet_identity: who}}

    def tags(self) -> dict[str, str]:
        mint, pool = self.places.mint, self.name
        tags = {
            "aks-managed-consolidated-additional-properties": mint.guid(self.stem, "properties"),
            "aks-managed-createOperationID": mint.guid(self.stem, "operation"),
            "aks-managed-creationSource": f"vmssclient-{self.stem}",
            "aks-managed-enable-imds-restriction": "false",
            "aks-managed-kubeletIdentityClientID": mint.guid(self.places.name, "kubelet", "client"),
            "aks-managed-orchestrator": f"Kubernetes:{self.version}",
            "aks-managed-poolName": pool,
            "aks-managed-resourceNameSuffix": self.places.suffix,
            "aks-managed-ssh-access": "LocalUser",
            "compute.aks.billing": self.spec.os.lower(),
            "aks-managed-coordination": "true",
        }
        overlay = {"aks-managed-azure-cni-overlay": "true"}
        return {**(overlay if self.places.spec.network.mode == "overlay" else {}), **tags}

    def interface_model(self) -> Body:
        """The network interface model; with flat Azure CNI it includes the pods' addresses."""
        pods = self.spec.max_pods if self.places.spec.network.mode == "flat" else 0
        properties: Body = {
            "primary": True,
            "enableAcceleratedNetworking": True,
            "disableTcpStateTracking": False,
            "dnsSettings": {"dnsServers": []},
            "enableIPForwarding": True,
            "ipConfigurations": [self._configuration_model(number) for number in range(1, pods + 2)],
        }
        if self.places.spec.network.vnet:
            properties["networkSecurityGroup"] = {"id": self.places.security_group}
        return {"name": self.stem, "properties": properties}

    def interface(self, interface: str, machine: str) -> Body:
        """The network interface of one VM, with addresses allocated from the subnet."""
        mint = self.places.mint
        configurations = [
            {
                "name": model["name"],
                "id": f"{interface}/ipConfigurations/{model['name']}",
                "properties": {
                    "provisioningState": "Succeeded",
                    "privateIPAddress": self.subnet.take(f"{interface}/ipConfigurations/{model['name']}"),
                    "privateIPAllocationMethod": "Dynamic",
                    **model["properties"],
                },
            }
            for model in self.interface_model()["properties"]["ipConfigurations"]
        ]
        octets = mint.hex(6, interface).upper()
        return {
            "name": interface.rsplit("/", 1)[-1],
            "id": interface,
            "etag": f'W/"{mint.guid(interface)}"',
            "properties": {
                "provisioningState": "Succeeded",
                "resourceGuid": mint.guid(interface, "guid"),
                "ipConfigurations": configurations,
                "dnsSettings": {"dnsServers": [], "appliedDnsServers": []},
                "macAddress": f"00-22-48-{octets[:2]}-{octets[2:4]}-{octets[4:]}",
                "enableAcceleratedNetworking": True,
                "enableIPForwarding": True,
                "primary": True,
                "virtualMachine": {"id": machine},
                "nicType": "Standard",
            },
            "location": self.places.spec.location,
            "kind": "Regular",
        }

    def _configuration_model(self, number: int) -> Body:
        properties: Body = {"primary": number == 1, "subnet": {"id": self.subnet.id}, "privateIPAddressVersion": "IPv4"}
        if number == 1:
            backends = f"{self.places.load_balancer}/backendAddressPools"
            names = ("aksOutboundBackendPool", "kubernetes")
            properties["loadBalancerBackendAddressPools"] = [{"id": f"{backends}/{name}"} for name in names]
        return {"name": f"ipconfig{number}", "properties": properties}


def first_address(interface: Body) -> tuple[str, str]:
    """The id and address of an interface's first IP configuration."""
    first = interface["properties"]["ipConfigurations"][0]
    return first["id"], first["properties"]["privateIPAddress"]
