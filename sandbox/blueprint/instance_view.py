"""The instance view of a healthy VM: agent, extensions, disk, power state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox.blueprint.clock import wire_offset
from sandbox.world import Body

AGENT, HANDLER = "2.14.0.1", "2.1.14"
_SUCCEEDED = {"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded"}
_READY = {"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready"}


def extensions(scale_set: str, system: str = "Linux") -> dict[str, dict[str, str]]:
    """The extensions that AKS puts on every node, by name."""
    if system == "Windows":
        script = {"publisher": "Microsoft.Compute", "type": "CustomScriptExtension", "typeHandlerVersion": "1.10"}
        billing = {"publisher": "Microsoft.AKS", "type": "Compute.AKS.Windows.Billing", "typeHandlerVersion": "1.0"}
        return {"vmssCSE": script, f"{scale_set}-AKSWindowsBilling": billing}
    return {
        "vmssCSE": {"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "typeHandlerVersion": "2.0"},
        "AKSLinuxExtension": {
            "publisher": "Microsoft.AKS",
            "type": "Compute.AKS.Linux.AKSNode",
            "typeHandlerVersion": "1.0",
        },
        f"{scale_set}-AKSLinuxBilling": {
            "publisher": "Microsoft.AKS",
            "type": "Compute.AKS.Linux.Billing",
            "typeHandlerVersion": "1.0",
        },
    }


@dataclass(frozen=True, slots=True)
class Seen:
    """The inputs that differ between instance views."""

    number: int
    computer_name: str
    disk: str
    placement_group: str
    extensions: Mapping[str, Mapping[str, str]]
    born: datetime
    system: str = "Linux"


def healthy_view(seen: Seen) -> Body:
    """The instance view of a VM that started normally."""
    ready = wire_offset(seen.born + timedelta(seconds=100))
    kinds = {name: f"{of['publisher']}.{of['type']}" for name, of in seen.extensions.items()}
    return {
        "placementGroupId": seen.placement_group,
        "platformUpdateDomain": seen.number % 5,
        "platformFaultDomain": 0,
        "computerName": seen.computer_name,
        "osName": "ubuntu" if seen.system == "Linux" else "Windows Server 2022 Datacenter",
        "osVersion": "22.04" if seen.system == "Linux" else "10.0.20348.4297",
        "vmAgent": {
            "vmAgentVersion": AGENT,
            "statuses": [{**_READY, "message": "Guest Agent is running", "time": ready}],
            "extensionHandlers": [
                {"type": kind, "typeHandlerVersion": HANDLER, "status": dict(_READY)} for kind in kinds.values()
            ],
        },
        "disks": [{"name": seen.disk, "statuses": [{**_SUCCEEDED, "time": wire_offset(seen.born)}]}],
        "extensions": [
            {
                "name": name,
                "type": kind,
                "typeHandlerVersion": HANDLER,
                "statuses": [{**_SUCCEEDED, "message": "Enable succeeded: \n[stdout]\n\n[stderr]\n"}],
            }
            for name, kind in kinds.items()
        ],
        "hyperVGeneration": "V2",
        "statuses": [
            {**_SUCCEEDED, "time": ready},
            {"code": "PowerState/running", "level": "Info", "displayStatus": "VM running"},
        ],
    }
