"""What people and alert bots may write: for each code a few wordings.

They were written from the reference documents, not from the symptom lists, and may not be copied into those.
"""

from __future__ import annotations

SPOKEN: dict[str, tuple[str, ...]] = {
    "allocation-failed": (
        (
            "GPU pool on dev-shared won't grow, Azure says it simply doesn't have that machine type in "
            "our zone right now"
        ),
        "West Europe seems to be out of D8s again, third evening in a row that we can't get workers",
        (
            "(ZonalAllocationFailed) Allocation failed. We do not have sufficient capacity for the "
            "requested VM size in this zone."
        ),
    ),
    "overconstrained-allocation": (
        "new pool with ultra disks + proximity group in zone 2 can't be placed, azure tells us to drop a constraint",
        (
            "Allocation failed. VM(s) with the following constraints cannot be allocated, because the "
            "condition is too restrictive"
        ),
    ),
    "api-forbidden-rbac": (
        (
            'Error from server (Forbidden): deployments.apps is forbidden: User "jo@shop.example" '
            'cannot list resource "deployments"'
        ),
        "our new colleague can log in to prod-weu but every kubectl get ends with a 403",
        "the backup job's service account isn't permitted to read secrets in ns vault",
    ),
    "api-server-logs": (
        "is there any way to see what the kube-apiserver logged last night?",
        "who removed the ingress in prod-weu? do we keep audit logs of the control plane",
    ),
    "api-server-unavailable": (
        "kubectl against prod-weu just hangs, same for everybody in the room, apps themselves are fine",
        "net/http: TLS handshake timeout from every box we try, portal too",
        (
            "The connection to the server prod-weu-dns-1.hcp.westeurope.azmk8s.io was refused - did "
            "you specify the right host or port?"
        ),
        "control plane of staging-neu acts up: half of our API requests come back with 504",
    ),
    "api-server-unreachable-ip-ranges": (
        "from the new office I get i/o timeout with kubectl, from the old office it works. whitelist?",
        "GitHub-hosted runners can't talk to the cluster any more since we limited which addresses may use the API",
        "Unable to connect to the server: dial tcp 20.1.2.3:443: i/o timeout",
    ),
    "cluster-failed": (
        "after last night's change prod-weu sits there with provisioning state Failed",
        'az aks show -n staging-neu: provisioningState "Failed"',
    ),
    "cluster-failed-infra": (
        "upgrade of dev-shared stopped with 'Internal server error', no further detail, tried twice",
        "prod-eus2 turned Failed at 4am all on its own, none of us did a thing",
    ),
    "cni-or-route-broken": (
        (
            "pods on the two fresh nodes can't talk to anything on the old nodes, looks like the "
            "kubenet routes never got written"
        ),
        (
            "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
            "message:cni plugin not initialized"
        ),
        "azure-cns daemonset is crashlooping and nothing gets wired up on that node",
    ),
    "cse-error": (
        "vmssCSE exited with 41 on the new machines, what's that mean",
        "every node we add gets stuck because the custom script extension errors out",
        "VMExtensionProvisioningError: VM has reported a failure when processing extension 'vmssCSE'",
    ),
    "drain-error": (
        "the node upgrade has been sitting on draining aks-apps-12345678-vmss000003 for 50 min",
        "pod orders-7 is Terminating since this morning and its node can't be emptied",
        "Drain did not complete pods remaining on aks-apps-12345678-vmss000001",
    ),
    "pdb-blocks-drain": (
        "upgrade refuses to go on: the redis PDB has 0 disruptions allowed",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        "team checkout set minAvailable 100% and now we can't roll the nodes",
    ),
    "invalid-resource-reference": (
        "somebody cleaned up the kubernetes LB in the MC_ group, scaling errors out since",
        (
            "InvalidResourceReference: Resource "
            ".../loadBalancers/kubernetes/backendAddressPools/aksOutboundBackendPool referenced by resource "
            ".../aks-x-vmss was not found"
        ),
    ),
    "kube-proxy-broken": (
        "on one worker none of the ClusterIPs answer, kube-proxy there keeps restarting",
        "iptables-restore: exit status 1, kube-proxy can't sync its rules",
    ),
    "kube-system-not-running": (
        "DNS inside the cluster is dead, both coredns replicas in CrashLoopBackOff",
        "kubectl exec and logs just give 'error dialing backend: dial tcp 10.240.0.4:10250: i/o timeout'",
        "metrics-server and konnectivity are stuck Pending in kube-system",
    ),
    "log-analytics-workspace-missing": (
        "AKS upgrade bombs because the Log Analytics workspace was removed with its resource group",
        "Unable to get log analytics workspace info. Resource ID: /subscriptions/x/resourceGroups/y",
    ),
    "memory-saturation": (
        "payments-api keeps getting OOMKilled on prod-weu",
        "nodes at 97% RAM, kubelet started evicting things",
        "kernel killed our java process again, out of memory on the node",
    ),
    "network-policy-blocking": (
        "after the security team rolled out default-deny netpols the frontend can't reach the backend",
        "calico is dropping the traffic from ns web to ns db",
    ),
    "node-cannot-reach-api-server": (
        "every controller logs dial tcp 10.0.0.1:443: i/o timeout",
        "kubelets on the gpu pool can't get through to the control plane",
        (
            'Failed to list *v1.Pod: Get "https://10.0.0.1:443/api/v1/pods": dial tcp 10.0.0.1:443: '
            "connect: no route to host"
        ),
    ),
    "node-not-ready": (
        "2 of 6 workers on staging-neu went NotReady around 03:10",
        "one of the agents dropped off, kubelet doesn't post status any more",
        "node is in unknown state since the reboot and won't rejoin",
        "[FIRING:1] KubeNodeNotReady prod-weu aks-apps-12345678-vmss000002",
    ),
    "node-vm-failed": (
        "instance 7 of the scale set shows provisioning failed, a disk didn't detach",
        "VM aks-apps-12345678-vmss_4 is in a failed state",
    ),
    "nodepool-failed": (
        "agent pool batch on prod-eus2 reads Failed in the portal after the scale",
        "nodepool add errored and the pool is left in failed",
    ),
    "outbound-conn-fail": (
        "nodes come up but can't reach mcr.microsoft.com, the hub firewall drops it",
        "OutboundConnFailVMExtensionError when adding a pool",
        "vmssCSE exit status=50 since the NSG change",
        "nothing in the cluster has internet since the NAT gateway was taken away",
    ),
    "pod-ip-exhaustion": (
        "pods stay in ContainerCreating: failed to allocate for range 0: no IP addresses available in range set",
        "no more pod IPs on aks-apps-12345678-vmss000000, IPAM is empty",
    ),
    "private-cluster-unreachable": (
        "kubectl to the private cluster from my notebook says no such host",
        "ADO hosted agent can't deploy to payments-prod, it's a private one",
        "dial tcp: lookup pay-1.privatelink.westeurope.azmk8s.io: no such host",
    ),
    "private-dns-zone": (
        "creating the private cluster dies, its identity isn't allowed to write into our privatelink DNS zone",
        "the private dns zone isn't linked to the spoke vnet",
    ),
    "provisioning-in-progress": (
        "prod-weu is Updating since 5 hours and refuses everything else",
        "Operation is not allowed: Another operation (Upgrading) is in progress",
        "can I stop an upgrade that's been running since noon?",
    ),
    "public-ip-count-limit": (
        "PublicIPCountLimitReached: Cannot create more than 20 public IP addresses",
        "LB service has no external address, we've used every public IP our subscription may have there",
    ),
    "quota-exceeded": (
        "autoscaler can't add workers, we've used up all DSv5 vCPUs in northeurope",
        "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota.",
        "how much core quota do we need to ask for? scale-out of prod-weu is blocked on it",
    ),
    "read-only-disabled-subscription": (
        "ReadOnlyDisabledSubscription: The subscription 'x' is disabled and therefore marked as read only.",
        "finance forgot to pay, the whole subscription is disabled and we can't touch dev-shared",
    ),
    "request-disallowed-by-policy": (
        "RequestDisallowedByPolicy on node pool create",
        "governance rolled out a new Azure Policy that wants cost tags, and AKS can't make its VMs any more",
    ),
    "resource-lock": (
        "scale down fails with ScopeLocked",
        "some admin put a delete lock on MC_rg-prod-weu and the autoscaler can't remove machines",
    ),
    "service-no-endpoints": (
        "kubectl get endpoints checkout -> <none>, the svc selects nothing",
        "ingress gives 503, service has zero endpoints because someone renamed the app label",
    ),
    "service-pod-not-listening": (
        "curl to the pod IP on 8080: connection refused though the pod is Running",
        "our app only binds 127.0.0.1 so the service gets connection refused",
    ),
    "service-port-mismatch": (
        "service targetPort is 80 but the container serves on 8080",
        "svc points at the wrong container port after the refactoring",
    ),
    "subnet-full": (
        "Subnet snet-aks with address prefix 10.1.0.0/24 does not have enough capacity for 30 IP addresses.",
        "the AKS subnet has no free addresses any more, surge nodes can't start",
        "our /26 is too tiny, node 50 doesn't fit",
    ),
    "subscription-not-registered": (
        (
            "MissingSubscriptionRegistration: The subscription is not registered to use namespace "
            "'Microsoft.ContainerService'"
        ),
        "brand-new subscription, create fails because nobody registered the compute provider",
    ),
    "upgrade-half-done": (
        "upgrade died in the middle: three nodes on 1.29, two still on 1.28",
        "a surge node from last week's failed upgrade is still hanging around",
    ),
    "vnet-blocked": (
        "someone pointed the vnet at the on-prem DNS servers and now new nodes can't look up the API server",
        "our firewall eats the traffic between the nodes and the AKS control plane",
    ),
    "support-packet": ("we're opening a ticket with Microsoft for prod-weu, what information do they want?",),
    "aso-creation-failed": (
        "ASO can't create the redis: BadRequest, sku not valid",
        "azure service operator: our StorageAccount CR is Ready=False Severity=Error",
    ),
    "aso-auth-error": (
        "ASO gets AuthorizationFailed when it tries to write the roleAssignment",
        "azureserviceoperator pod logs a 403 for its managed identity",
    ),
    "aso-waiting-precondition": (
        "ASO: Reason WaitingForOwner on our vnet",
        "aso keeps failing on the db, a few minutes later it's fine by itself, why?",
    ),
    "aso-transient-cluster-state": (
        "ASO agentpool isn't applied as long as the managed cluster is in state Updating",
        'reconciliation blocked: managed cluster "prod-weu" is in provisioning state "Upgrading"',
    ),
    "hybrid-cluster-failed": (
        "az hybridaks create for edge-nexus-01 ended as Failed",
        "our AKS hybrid cluster on Nexus didn't provision",
    ),
    "hybrid-cluster-offline": (
        "edge-nexus-02 shows Succeeded but Offline, lastConnectivityTime null",
        "the Nexus cluster isn't connected to Azure, status says offline",
    ),
    "hybrid-concurrent-creation": (
        "we kicked off three hybrid clusters in parallel and all of them failed",
        "terraform started both Nexus clusters at the same moment, both ended Failed",
    ),
    "hybrid-vnet-id-case-mismatch": (
        "the aods-vnet-id in the hybrid vnet has a different upper/lower case than the real network id",
        "network id is the same but the casing differs, resourcegroups vs resourceGroups",
    ),
    "hybrid-network-not-wrapped": (
        "we forgot to wrap the cloud services network into a hybridaks vnet",
        "there's no AKS hybrid virtual network for our default CNI network",
    ),
    "isolation-domain-missing": (
        "nobody created the L3 isolation domain for the CNI network",
        "l3 domain exists but has no internal network",
    ),
    "isolation-domain-disabled": (
        "the L3 isolation domain's administrativeState is Disabled",
        "isolation domain was never enabled on edge-nexus-01",
    ),
    "network-failed": (
        "default CNI network for edge-nexus-02 went Failed",
        "az networkcloud cloudservicesnetwork show: provisioningState Accepted since an hour, stuck",
    ),
    "network-prefix-overlap": (
        "the IPv4 prefix of our new CNI network is already used by another L3 network",
        "two default cni networks share 10.20.0.0/24, overlapping prefix",
    ),
    "network-vlan-mismatch": (
        "vlan of the cni network isn't the one of the internal network",
        "VLAN 501 on the network vs 510 on the L3 isolation domain, mismatch",
    ),
    "default-cni-network-missing": (
        "edge-nexus-01 has no default CNI network at all",
        "we skipped the defaultcninetwork and now the create doesn't work",
    ),
    "cloud-services-network-missing": (
        "there is no cloud services network in that Nexus instance",
        "forgot the CSN before creating the cluster",
    ),
    "cloud-services-network-limit": (
        "can't add another cloud services network, the cluster has 200",
        "CSN limit reached on the Nexus cluster",
    ),
    "extended-location-mismatch": (
        "we used the custom location of the other site for the network",
        "extendedLocation in the template is wrong, it's the one of site B",
    ),
    "hybrid-memory-saturation": (
        "azure-arc pods eat the memory of our edge node and the CNF can't start",
        "arc agents hog RAM on edge-nexus-02",
    ),
    "arc-bridge-offline-providers": (
        "bridge deployed fine but it's Offline and Failed, we hadn't registered the providers",
        "Microsoft.ResourceConnector was not registered before deploying arc-bridge-hq",
    ),
    "arc-waitforheartbeat": (
        "arc-bridge-hq is in WaitForHeartbeat since the deployment",
        "the appliance status says waiting for heartbeat",
    ),
    "arc-bridge-unreachable": (
        "management machine can't reach the appliance VM of arc-bridge-hq",
        "DHCP gave the arc bridge a different IP after the power cut",
        "the bridge got slow, etcd on it needs more than 10 ms per write",
    ),
    "arc-expired-credentials": (
        "vCenter password got rotated and the Arc bridge still logs in with the old one",
        "the credentials stored in the resource bridge expired",
    ),
    "arc-connection-closed-preface": (
        "arcappliance: connection closed before server preface received",
        "do I have to delete the .wssd folder before trying again?",
    ),
    "arc-token-expired": (
        "The refresh token has expired or is invalid due to sign-in frequency checks by conditional access",
        "az arcappliance upgrade: token expired, asks me to az login once more",
    ),
    "arc-backoff-pulling-image": (
        'Back-off pulling image "ecpacr.azurecr.io/x": FailFastPodCondition',
        "the appliance can't download its images, pull backs off",
    ),
    "arc-url-unreachable": (
        "Not able to connect to https://mcr.microsoft.com. Error returned: action failed after 5 attempts",
        "our firewall blocks a URL the arc bridge needs",
    ),
    "arc-dot-local": (
        "lookup vcenter.corp.local: no such host when deploying the bridge",
        "does the resource bridge support .local names for the datastore?",
    ),
    "arc-ssl-proxy": (
        "corporate SSL inspection breaks the appliance deployment, its certs aren't trusted",
        "proxy re-signs TLS and the Arc bridge doesn't accept the certificate",
    ),
    "arc-kva-timeout": (
        "deploying arc-bridge-hq ended with KVA timeout error",
        "Appliance deploy ran for an hour, then: Context timed out during phase WaitingForAPIServer",
    ),
    "arc-x509-handshake": (
        "az arcappliance: authentication handshake failed: x509: certificate signed by unknown authority",
        "I ran arcappliance from my laptop, not on a cluster node, and got an x509 handshake error",
    ),
    "arc-remote-powershell": (
        "started az arcappliance in an Enter-PSSession on the host and it fails strangely",
        "is it allowed to deploy the bridge via remote PowerShell",
    ),
    "arc-host-resource-pool": (
        "the wizard doesn't list our host's default resource pool",
        "resource pool isn't offered when I create the bridge config",
    ),
    "arc-ova-32bit": (
        'strconv.ParseInt: parsing "3670409216": value out of range',
        "Unable to import ova of size 6GB using govc",
    ),
    "arc-host-configuration": (
        "appliance deployment: An error occurred during host configuration",
        "bridge deploy fails configuring the host, there's an old template in vCenter",
    ),
    "arc-folder-not-found": (
        "unable to find folder, though the vSphere folder exists",
        "bridge config says the folder can't be found, it is a host-and-cluster folder",
    ),
    "arc-vmware-permissions": (
        "account of the bridge has too few privileges in vSphere",
        "InsufficientPrivilegesError when validating the vCenter account",
    ),
    "arc-move-unsupported": (
        "can we move arc-bridge-hq to another resource group?",
        "someone vMotioned the appliance VM, is moving the bridge OK?",
    ),
    "arc-logs": (
        "how do I get the logs off the appliance VM of the bridge",
        "az arcappliance logs vmware wants a logkey, where is it?",
    ),
}
