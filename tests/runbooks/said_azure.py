"""Sample messages for each code of the cluster and network pages."""

from __future__ import annotations

SAID: dict[str, tuple[str, ...]] = {
    "allocation-failed": (
        'Code="AllocationFailed" Message="Allocation failed. We do not have sufficient capacity for the VM."',
        "scale out of batch on prod-weu is stuck, azure says no capacity in this zone",
        "SkuNotAvailable: The requested VM size for resource 'apps' is currently not available in location 'eastus'.",
    ),
    "overconstrained-allocation": (
        (
            "(OverconstrainedZonalAllocationRequest) Allocation failed. VM(s) with the following constraints cannot be "
            "allocated, because the condition is too restrictive."
        ),
        "new pool won't come: 'remove some constraints and try again', we use a proximity placement group",
    ),
    "cluster-failed-infra": (
        "the upgrade ended with InternalServerError, An internal error has occurred, and nothing else",
        "(InternalOperationError) Internal server error",
    ),
    "cse-error": (
        (
            "VM has reported a failure when processing extension 'vmssCSE'. Enable failed: command terminated with "
            "exit status=124 + ERR_OUTBOUND_CONN_FAIL=50"
        ),
        "all new nodes die with vmssCSE exit code 51, what is that?",
        "K8SAPIServerDNSLookupFailVMExtensionError: Agents are unable to resolve Kubernetes API server name",
        "ExitCode: |31|, Output: |WINDOWS_CSE_ERROR_CHECK_API_SERVER_CONNECTIVITY|",
    ),
    "outbound-conn-fail": (
        "OutboundConnFailVMExtensionError on every new node",
        "vmssCSE failed, exit status=50 after the firewall change",
        "nodes cannot reach mcr, which hosts to open in the firewall?",
    ),
    "log-analytics-workspace-missing": (
        "Unable to get log analytics workspace info. Resource ID: /subscriptions/x",
        "upgrade of staging-neu fails since somebody deleted the log analytics workspace",
    ),
    "invalid-resource-reference": (
        "InvalidResourceReference on scale out",
        (
            "Resource /subscriptions/a/loadBalancers/kubernetes referenced by resource /subscriptions/b/aks-apps-vmss "
            "was not found."
        ),
        "we think the load balancer was deleted by hand in the MC_ group",
    ),
    "private-dns-zone": (
        "CustomPrivateDNSZoneMissingPermissionError: the identity lacks rights on the zone",
        "private cluster create fails, the private dns zone is not linked to our hub",
        'Code="InternalOperationError" Message="Private DNS zone privatelink.westeurope.azmk8s.io could not be found"',
    ),
    "public-ip-count-limit": (
        "PublicIPCountLimitReached: Cannot create more than 20 public IP addresses for this subscription",
        "new services stay pending, we hit the public ip limit again",
    ),
    "request-disallowed-by-policy": (
        "RequestDisallowedByPolicy: Resource 'aks-agentpool-1-nsg' was disallowed by policy.",
        "node pool add is blocked by policy, they want a tag on everything",
        'admission webhook "validation.gatekeeper.sh" denied the request: [azurepolicy-no-privileged] privileged',
    ),
    "subscription-not-registered": (
        'Code="SubscriptionNotRegistered" Message="Subscription is not registered."',
        "The subscription is not registered to use namespace 'Microsoft.Compute'.",
        "create fails in the new sub, resource provider is not registered they say",
    ),
    "read-only-disabled-subscription": (
        "ReadOnlyDisabledSubscription: The subscription 'x' is disabled and therefore marked as read only.",
        "dev-shared can't be scaled, the subscription got disabled over the weekend, credit card?",
        "The subscription is disabled, every write is refused",
    ),
    "vnet-blocked": (
        "since we set custom dns servers on the vnet new nodes never join",
        "the firewall blocks the api server, log shows denies to prod-weu.hcp.westeurope.azmk8s.io",
    ),
    "memory-saturation": (
        "checkout keeps getting OOMKilled every ten minutes",
        "two nodes of payments-prod are under memory pressure and evict pods",
        "Warning SystemOOM kubelet System OOM encountered, victim process: java",
        "MemoryPressure   True   KubeletHasInsufficientMemory",
    ),
    "support-packet": (
        "we'll open a support ticket for prod-weu, what do they need?",
        "what does microsoft support want from us for this support case",
    ),
    "api-server-unreachable-ip-ranges": (
        "Unable to connect to the server: dial tcp 203.0.113.9:443: i/o timeout",
        (
            "Unable to connect to the server: dial tcp 203.0.113.9:443: connectex: A connection attempt failed because "
            "the connected party did not properly respond after a period"
        ),
        "kubectl from home stopped, is my ip in the authorized ip ranges of prod-eus2?",
    ),
    "pod-ip-exhaustion": (
        "Failed to create pod sandbox: failed to allocate for range 0: no IP addresses available in range set",
        "pods stuck in ContainerCreating, pods get no ip on one node",
        "Failed to get IP address from CNS: AllocateIPConfig failed: not enough IPs available",
    ),
    "service-no-endpoints": (
        'Service "shop/checkout" does not have any active Endpoint.',
        "503 from the ingress, service has no endpoints although pods run",
        "NAME       ENDPOINTS   AGE\ncheckout   <none>      3d",
    ),
    "service-port-mismatch": (
        "targetPort 8080 does not match the container's port, it is 3000 now",
        "our app is listening on port 3000 now but the service still points to the old one",
    ),
    "service-pod-not-listening": (
        "Liveness probe failed: dial tcp 10.244.3.8:9090: connect: connection refused",
        "the app is bound to localhost, so the service gets nothing",
        "connect() failed (111: Connection refused) while connecting to upstream",
    ),
    "cni-or-route-broken": (
        "container runtime network not ready: cni plugin not initialized",
        'Failed to create pod sandbox: failed to find plugin "azure-vnet" in path [/opt/cni/bin]',
        "pods on different nodes cannot talk since the route table was detached",
    ),
    "kube-proxy-broken": (
        "kube-proxy is not running on two nodes and services time out there",
        "E0607 proxier.go:346] Failed to execute iptables-restore: exit status 4",
    ),
    "network-policy-blocking": (
        "a network policy blocks checkout from reaching postgres",
        "xx drop (Policy denied) flow 0x0 to endpoint 0: 10.244.0.9:52114 -> 10.0.0.10:53 udp",
        "since the default deny in shop nothing resolves",
    ),
    "node-cannot-reach-api-server": (
        'coredns: plugin/kubernetes: Get "https://10.0.0.1:443/api/v1/services": dial tcp 10.0.0.1:443: i/o timeout',
        "nodes can't reach the api server any more on staging-neu",
        'kubelet: Post "https://x.hcp.westeurope.azmk8s.io:443/api/v1/nodes": dial tcp 203.0.113.4:443: i/o timeout',
    ),
    "api-forbidden-rbac": (
        'configmaps is forbidden: User "system:serviceaccount:ops:bot" cannot get resource "configmaps"',
        "User does not have access to the resource in Azure. Update role assignment to allow access.",
        "our service account cannot list secrets, needs a rolebinding?",
    ),
    "api-server-logs": (
        "where do I find the kube-apiserver logs of prod-weu?",
        "who deleted the namespace? are audit logs on?",
    ),
}

ANOTHERS: tuple[tuple[str, str], ...] = (
    # A code, and a similar text about a related code that must not match.
    ("outbound-conn-fail", "vmssCSE exit status=124, trace: + ERR_OUTBOUND_CONN_FAIL=50"),
    ("outbound-conn-fail", "vmssCSE failed with exit status=51"),
    (
        "cse-error",
        '"code": "VMExtensionProvisioningTimeout", "message": "VM extension installscript_jumpbox timed out"',
    ),
    ("api-server-unreachable-ip-ranges", "Unable to connect to the server: net/http: TLS handshake timeout"),
    ("api-server-unreachable-ip-ranges", "dial tcp: lookup x.privatelink.westeurope.azmk8s.io: no such host"),
    ("cni-or-route-broken", "FailedCreatePodSandBox: Failed to allocate address: No available addresses"),
    ("request-disallowed-by-policy", "OperationNotAllowed: exceeding approved Total Regional Cores quota"),
    ("api-forbidden-rbac", "(AuthorizationFailed) The client does not have authorization to perform action x"),
    ("allocation-failed", "QuotaExceeded: exceeding approved standardDSv5Family Cores quota"),
    ("read-only-disabled-subscription", "ScopeLocked: the following scope(s) are locked: /subscriptions/x"),
    ("memory-saturation", "node has DiskPressure"),
    ("public-ip-count-limit", "subnet nodes is full"),
)
