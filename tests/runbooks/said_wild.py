"""Sample messages about problems not in the reference documents, and similar ones that must not match."""

from __future__ import annotations

SAID: dict[str, tuple[str, ...]] = {
    "identity-permission-missing": (
        (
            "LinkedAuthorizationFailed: it does not have permission to perform action(s) "
            "'Microsoft.Network/virtualNetworks/subnets/join/action' on the linked scope(s) '/subscriptions/x'"
        ),
        "role assignment of the cluster identity was removed, the load balancer stays pending",
        "Error syncing load balancer: failed to ensure load balancer: HTTPStatusCode: 403, AuthorizationFailed",
    ),
    "service-principal-expired": (
        "The credentials in ServicePrincipalProfile were invalid. Details: AADSTS7000222",
        "our aks service principal expired tonight",
        "failed to ensure load balancer: Failed to refresh the Token: AADSTS7000215: Invalid client secret",
    ),
    "arm-throttled": (
        "Number of requests for action 'Microsoft.Compute/virtualMachines/read' exceeded the limit of '150'",
        "RawError: azure cloud provider rate limited(read) for operation VMSSGet",
        "we are throttled by azure resource manager since an hour",
    ),
    "operation-preempted": (
        'Code="OperationPreempted" Message="Operation has been preempted by another operation"',
        "my update was preempted by another operation, what now",
    ),
    "workload-identity-mismatch": (
        "AADSTS700213: No matching federated identity record found for subject 'system:serviceaccount:shop:cart'",
        "pods fail to authenticate to key vault with workload identity",
        "WorkloadIdentityCredential: the workload options are not fully configured",
    ),
    "certificates-expired": (
        "Unable to connect to the server: x509: certificate has expired or is not yet valid",
        "all nodes are gone, the kubelet certificate expired",
    ),
    "version-unsupported": (
        "(AgentPoolK8sVersionNotSupported) Version 1.26.3 is not supported in this region.",
        "Upgrading Kubernetes version 1.24.9 to 1.27.3 is not allowed. Available upgrades: [1.25.15]",
        "cannot create node pool, version not supported",
    ),
    "upgrade-blocked-deprecated-api": (
        "Control Plane upgrade is blocked due to recent usage of a Kubernetes API deprecated in the specified version",
        "who uses the deprecated api version that blocks the upgrade?",
    ),
    "node-repaired-or-evicted": (
        "Node auto-repair is initiating a reboot action due to NotReady status persisting for more than 5 minutes.",
        "all spot nodes were evicted and pods are pending",
        "Warning  PreemptScheduled  node/aks-spot-12345678-vmss00000a",
    ),
    "node-claim-failed": (
        "nodeclaim default-x7kcp condition Launched False reason LaunchFailed",
        "node auto provisioning does not create nodes since this morning",
    ),
    "snat-exhausted": (
        "SNAT port exhaustion on loadBalancers/kubernetes",
        "we ran out of SNAT ports on the outbound load balancer",
    ),
    "network-delay": (
        "qdisc netem 8001: root refcnt 9 limit 1000 delay 300ms",
        "pod to pod latency is high since noon",
    ),
}

ANOTHERS: tuple[tuple[str, str], ...] = (
    ("identity-permission-missing", "az network vnet show: AuthorizationFailed, I have only Reader in that group"),
    ("identity-permission-missing", "RequestDisallowedByPolicy: the subnet was disallowed by policy"),
    ("service-principal-expired", "az login: AADSTS700082: The refresh token has expired due to inactivity"),
    ("arm-throttled", "toomanyrequests: You have reached your pull rate limit on docker hub"),
    ("arm-throttled", "Cannot evict pod as it would violate the pod's disruption budget (429)"),
    ("operation-preempted", "there's an in progress upgrade operation on the managed cluster"),
    (
        "workload-identity-mismatch",
        "AADSTS700213: No matching federated identity record for subject 'repo:shop/web:ref'",
    ),
    ("certificates-expired", 'failed calling webhook "x.y": x509: certificate has expired or is not yet valid'),
    ("version-unsupported", "SkuNotAvailable: the size is not supported in this region"),
    ("upgrade-blocked-deprecated-api", "UnsatisfiablePDB: the upgrade is blocked by a disruption budget"),
    ("node-claim-failed", "EKS karpenter: could not launch nodeclaim, UnfulfillableCapacity from ec2"),
)
