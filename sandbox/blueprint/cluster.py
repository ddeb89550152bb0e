"""The managed cluster and its node pools, as AKS returns them."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from sandbox.blueprint.clock import ticks
from sandbox.blueprint.fleet import PoolSpec
from sandbox.blueprint.node_model import NODE_IMAGE, SSH_KEY
from sandbox.blueprint.places import Places
from sandbox.world import Body


def cluster_body(places: Places, tenant: str, created: datetime) -> Body:
    """The cluster; its agentPoolProfiles are filled in by the World."""
    spec, mint = places.spec, places.mint
    prefix = f"{places.name}-{spec.group}-{places.subscription[:6]}"
    host = f"{prefix}-{mint.word(8, places.name, 'host')}"
    properties: Body = {
        "provisioningState": "Succeeded",
        "powerState": {"code": "Running"},
        "kubernetesVersion": spec.version,
        "currentKubernetesVersion": spec.version,
        "dnsPrefix": prefix,
        "fqdn": f"{host}.hcp.{spec.location}.azmk8s.io",
        "azurePortalFQDN": f"{host}.portal.hcp.{spec.location}.azmk8s.io",
        "agentPoolProfiles": [],
        "linuxProfile": {"adminUsername": "azureuser", "ssh": {"publicKeys": [{"keyData": SSH_KEY}]}},
        "servicePrincipalProfile": {"clientId": "msi"},
        "nodeResourceGroup": places.node_group_name,
        "enableRBAC": True,
        "supportPlan": "KubernetesOfficial",
        "networkProfile": _network_profile(places),
        "maxAgentPools": 100,
        **(_private_parts(places) if spec.private else {}),
        "identityProfile": {
            "kubeletidentity": {
                "resourceId": places.kubelet_identity.replace("/resourceGroups/", "/resourcegroups/"),
                "clientId": mint.guid(places.name, "kubelet", "client"),
                "objectId": places.kubelet_principal,
            }
        },
        "autoUpgradeProfile": {"upgradeChannel": "none", "nodeOSUpgradeChannel": "NodeImage"},
        **({"aadProfile": _entra(places, tenant)} if spec.entra else {}),
        "disableLocalAccounts": not spec.local_accounts,
        "securityProfile": {},
        "storageProfile": {
            "diskCSIDriver": {"enabled": True},
            "fileCSIDriver": {"enabled": True},
            "snapshotController": {"enabled": True},
        },
        "oidcIssuerProfile": {
            "enabled": True,
            "issuerURL": f"https://{spec.location}.oic.prod-aks.azure.com/{tenant}/{mint.guid(places.name, 'oidc')}/",
        },
        "workloadAutoScalerProfile": {},
        "resourceUID": f"{ticks(created) % 16**8:08x}{mint.hex(16, places.name, 'uid')}",
        "metricsProfile": {"costAnalysis": {"enabled": False}},
        "nodeProvisioningProfile": {"mode": "Auto" if spec.auto or spec.sku == "Automatic" else "Manual"},
        "bootstrapProfile": {"artifactSource": "Direct"},
    }
    return {
        "id": places.id,
        "location": spec.location,
        "name": places.name,
        "type": "Microsoft.ContainerService/ManagedClusters",
        **({"tags": spec.tags} if spec.tags else {}),
        "kind": "Base",
        "properties": properties,
        "identity": _identity(places, tenant),
        "sku": {"name": spec.sku, "tier": spec.tier},
        "eTag": mint.guid(places.id, "etag"),
    }


def pool_body(places: Places, name: str, spec: PoolSpec) -> Body:
    """One node pool."""
    version = spec.version or places.spec.version
    spot = {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}
    limits = {"minCount": spec.autoscale[0], "maxCount": spec.autoscale[1]} if spec.autoscale else {}
    subnets = {"vnetSubnetID": places.node_subnet} if places.spec.network.vnet else {}
    if places.pod_subnet:
        subnets["podSubnetID"] = places.pod_subnet
    surge = {} if spec.spot else {"maxSurge": spec.max_surge, "maxUnavailable": "0"}
    properties: Body = {
        **({} if spec.type == "VirtualMachines" else {"count": spec.count, "vmSize": spec.size}),
        "osDiskSizeGB": 128,
        "osDiskType": "Ephemeral",
        "kubeletDiskType": "OS",
        "workloadRuntime": "OCIContainer",
        **subnets,
        "maxPods": spec.max_pods,
        "type": spec.type,
        **({"availabilityZones": spec.zones} if spec.zones else {}),
        **limits,
        "enableAutoScaling": spec.autoscale is not None,
        "scaleDownMode": "Delete",
        "provisioningState": "Succeeded",
        "powerState": {"code": "Stopped" if spec.stopped else "Running"},
        "orchestratorVersion": version,
        "currentOrchestratorVersion": version,
        "enableNodePublicIP": False,
        **({"nodeLabels": spec.labels} if spec.labels else {}),
        **({"nodeTaints": spec.taints} if spec.taints else {}),
        **(spot if spec.spot else {}),
        "mode": spec.mode,
        "enableEncryptionAtHost": False,
        "enableUltraSSD": False,
        "osType": spec.os,
        "osSKU": "Windows2022" if spec.os == "Windows" else "Ubuntu",
        "nodeImageVersion": node_image(spec),
        "upgradeStrategy": "Rolling",
        "upgradeSettings": surge,
        "upgradeSettingsBlueGreen": {},
        "enableFIPS": False,
        "networkProfile": {},
        "securityProfile": {"sshAccess": "LocalUser", "enableVTPM": False, "enableSecureBoot": False},
        **(_machines_by_size(spec) if spec.type == "VirtualMachines" else {}),
        "eTag": places.mint.guid(places.pool(name), "etag"),
    }
    return {
        "id": places.pool(name),
        "name": name,
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "properties": properties,
    }


def _machines_by_size(spec: PoolSpec) -> Body:
    """Node counts of a VirtualMachines pool: by size, desired and actual."""
    by_size = [{"size": size, "count": count} for size, count in Counter(spec.machine_sizes).items()]
    return {
        "virtualMachinesProfile": {"scale": {"manual": by_size}},
        "virtualMachineNodesStatus": [dict(size) for size in by_size],
    }


def node_image(spec: PoolSpec) -> str:
    """The node image version of a pool."""
    if spec.os == "Windows":
        return "AKSWindows-2022-containerd-20348.4297.251015"
    return f"AKSUbuntu-2204gen2containerd-{NODE_IMAGE}"


def _entra(places: Places, tenant: str) -> Body:
    return {
        "managed": True,
        "adminGroupObjectIDs": [places.administrators],
        "adminUsers": None,
        "enableAzureRBAC": False,
        "tenantID": tenant,
    }


def _network_profile(places: Places) -> Body:
    network = places.spec.network
    cidr = network.pod_cidr or ("10.244.0.0/16" if network.mode in ("overlay", "kubenet") else None)
    dns = network.service_cidr.rsplit(".", 1)[0] + ".10"
    return {
        "networkPlugin": "kubenet" if network.mode == "kubenet" else "azure",
        **({"networkPluginMode": "overlay"} if network.mode == "overlay" else {}),
        "networkPolicy": network.policy,
        "networkDataplane": "cilium" if network.policy == "cilium" else "azure",
        "loadBalancerSku": "standard",
        "loadBalancerProfile": {
            "managedOutboundIPs": {"count": 1},
            "effectiveOutboundIPs": [{"id": places.outbound_address}],
            "backendPoolType": "nodeIPConfiguration",
        },
        **({"podCidr": cidr} if cidr else {}),
        "serviceCidr": network.service_cidr,
        "dnsServiceIP": dns,
        "outboundType": "loadBalancer",
        **({"podCidrs": [cidr]} if cidr else {}),
        "serviceCidrs": [network.service_cidr],
        "ipFamilies": ["IPv4"],
    }


def _private_parts(places: Places) -> Body:
    return {
        "privateFQDN": places.private_host,
        "privateLinkResources": [
            {
                "id": f"{places.id}/privateLinkResources/management",
                "name": "management",
                "type": "Microsoft.ContainerService/managedClusters/privateLinkResources",
                "groupId": "management",
                "requiredMembers": ["management"],
            }
        ],
        "apiServerAccessProfile": {
            "enablePrivateCluster": True,
            "privateDNSZone": "system",
            "enablePrivateClusterPublicFQDN": True,
        },
    }


def _identity(places: Places, tenant: str) -> Body:
    if places.own_identity is None:
        return {"type": "SystemAssigned", "principalId": places.principal, "tenantId": tenant}
    who = {"principalId": places.principal, "clientId": places.mint.guid(places.name, "client")}
    return {"type": "UserAssigned", "userAssignedIdentities": {places.own_identity: who}}
