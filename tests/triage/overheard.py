"""More wordings, oblique ones among them: of each, the codes that are right.

The concepts were widened after these had been missed, so what is recognised here says little about what comes next.
"""

from __future__ import annotations

OVERHEARD: dict[str, tuple[str, ...]] = {
    "allocation-failed": (
        (
            "cannot start staging-neu again after the night stop, azure tells me there's no room for "
            "Standard_E8s_v5 in northeurope"
        ),
        "SkuNotAvailable for NC24ads in swedencentral, anyone has a contact at MS?",
        "zone 1 in germanywestcentral has no Standard_D16ads_v5 for us, zones 2+3 fine",
        ('{"code":"AKSCapacityHeavyUsage","message":"AKS is currently experiencing high demand in eastus"}'),
        "stopped cluster can't be started: no capacity in uksouth",
    ),
    "api-forbidden-rbac": (
        ("I can `az aks get-credentials` fine but then: Error from server (Forbidden): pods is forbidden"),
        "our flux SA lost its rights in ns monitoring, can't patch helmreleases",
        (
            'helm says: configmaps is forbidden: User "system:serviceaccount:ci:deployer" cannot '
            'create resource "configmaps"'
        ),
        ("made myself Contributor on the AKS resource and still can't list namespaces with kubectl, aad enabled"),
        (
            "gm, since we flipped azure rbac on, the devs of team cart get 'forbidden' on everything "
            "in their ns. they have the Writer role"
        ),
    ),
    "api-server-unavailable": (
        ("anyone else? `kubectl get po` -> Unable to connect to the server: net/http: TLS handshake timeout"),
        "etcdserver: request timed out all over the place",
        "apiserver of prod-eus2 unresponsive, 5xx spikes in the last 20min",
        "portal: 'Unable to reach the api server'. kubectl: EOF. staging-neu",
        "all our kubectl calls time out randomly since 14:00, api latency p99 30s",
        "cluster seems up, ingress serves traffic, but api is dead? kubectl/k9s/lens all spin",
        "helm install just sits there and k get ns gives EOF, no idea since when",
        "every few minutes our operators lose leader election, calls to the api take 10+ s",
    ),
    "api-server-unreachable-ip-ranges": (
        "our ISP changed my home address and since then no kubectl, need somebody to add it",
        "after az aks update --api-server-authorized-ip-ranges our jenkins is locked out",
        ("kubectl ok from the VPN, dead from the train wifi (timeout). is there a whitelist on payments-prod?"),
        "terraform cloud agents can't get at the api since we limited authorized IPs",
        ("new egress IP of the proxy (203.0.113.9) must go on the list of payments-prod, deploys fail with timeouts"),
        (
            "azure pipelines can deploy to dev-shared but not to prod-weu. prod-weu has the ip "
            "restriction. agents are MS hosted"
        ),
    ),
    "arc-bridge-offline-providers": ("arc-bridge-hq provisioningState=Failed status=Offline",),
    "arc-bridge-unreachable": (
        "appliance vm of arc-bridge-hq not pingable any more, its reserved address got lost",
        "can't ssh to the appliance, no route to host",
    ),
    "arc-connection-closed-preface": ("upgrade of the arc bridge: connection closed before server preface received",),
    "arc-dot-local": ("bridge can't resolve esx01.lab.local",),
    "arc-expired-credentials": ("svc account pw for vcenter was rotated on friday, arc-bridge-hq disconnected since",),
    "arc-host-resource-pool": ("createconfig vmware doesn't show the resource pool of esx07",),
    "arc-kva-timeout": (
        ("az arcappliance deploy vmware -> Deployment of the Arc resource bridge appliance VM timed out"),
        "arcappliance create hangs, then 'KVA timeout error'",
    ),
    "arc-logs": ("support wants the appliance logs, how to collect them",),
    "arc-move-unsupported": ("want to put arc-bridge-hq into another subscription, supported?",),
    "arc-ova-32bit": ("our az cli is the 32-bit one, ova import dies",),
    "arc-ssl-proxy": ("zscaler swaps certs and arc appliance says certificate signed by unknown authority",),
    "arc-token-expired": ("AADSTS700082: The refresh token has expired due to inactivity",),
    "arc-url-unreachable": ("bridge preflight: Not able to connect to https://msk8s.api.cdp.microsoft.com",),
    "arc-vmware-permissions": ("Missing required vSphere privileges: [Resource.AssignVMToPool]",),
    "arc-waitforheartbeat": (
        "bridge status: WaitingForHeartbeat for 3 days",
        "appliance stuck waiting for a heartbeat, I changed its region in the yaml afterwards",
    ),
    "aso-auth-error": (
        (
            "serviceoperator: AuthorizationFailed does not have authorization to perform action "
            "Microsoft.Authorization/roleAssignments/write, kind RoleAssignment"
        ),
        "ASO identity got 403 on Microsoft.KeyVault/vaults/write",
    ),
    "aso-creation-failed": (
        "ASO refuses to delete our storage account, Reason=Failed Severity=Error",
        "ASO PostgreSQL flexible server: Ready False, Error, InvalidParameterValue",
        "ASO VirtualNetwork stays Ready=False with BadRequest",
    ),
    "aso-waiting-precondition": (
        "redis CR in ASO: owner rg not found yet, WaitingForOwner",
        "vnet CR says owner not found though I applied the RG second",
    ),
    "cloud-services-network-missing": ("cluster create on Nexus complains there's no CSN",),
    "cluster-failed,cluster-failed-infra": (
        "portal banner on dev-shared: cluster is in a failed state. apps are running though",
    ),
    "cluster-failed-infra": ("whole cluster says Failed, every update attempt answers InternalOperationError",),
    "cluster-failed-infra,cluster-failed": (
        "az aks update: Internal server error, 3 times in a row",
        "staging-neu failed during cert rotation, error is just 'an internal error has occurred'",
        ("stop/start of dev-shared left it Failed. no error anywhere, activity log just says internal error"),
    ),
    "cni-or-route-broken": (
        "cross node pod traffic is dead, same node works. route table was recreated by terraform",
        "new node: 'network: cni config uninitialized', stays like this",
        ("after we moved the subnet to another route table pods can't reach each other across nodes (kubenet)"),
    ),
    "cse-error": (
        "new workers never join, extension says 'Enable failed' exit status=52",
        "Agents are unable to resolve Kubernetes API server name. vmssCSE ExitCode 52",
        ("bringing up the windows pool ends in 'VM has reported a failure when processing extension vmssCSE', exit 1"),
        ("scale set instances come up w/ 'CustomScriptExtension failed', cluster-provision.log ends with exit 101"),
    ),
    "cse-error,nodepool-failed": ("node pool add dies w/ VMExtensionProvisioningTimeout on vmssCSE",),
    "drain-error": (
        ("upgrade hung at 3/7 nodes. node 4 won't drain, there is an ancient job pod that ignores SIGTERM"),
        "eviction of pod mq-0 fails every 5 seconds, upgrade stuck since 2h",
    ),
    "drain-error,pdb-blocks-drain": (
        "Too many req: eviction of solr-1 violates its pdb, so upgrade retries forever",
        "upgrade stopped, 'Drain node aks-w-1-vmss000002 failed when evicting pod elastic-0'",
        "noderefresh blocked: pod stuck Terminating bc of a finalizer",
        ("maintenance window over and only 1/9 nodes done. events: 'Failed to drain node: too many pods remaining'"),
        "upgrade 1.29 → 1.30 aborts each time at the node where vault runs, it can't be evicted",
    ),
    "extended-location-mismatch": ("wrong customLocation in our bicep for edge-nexus-02's network",),
    "hybrid-cluster-failed": ("nexus: edge-nexus-02 provisioning failed after 2 h",),
    "hybrid-cluster-offline": (
        "edge-nexus-01 was created OK but the portal lists it as Offline",
        "connected cluster edge-nexus-01 offline in arc since the power outage",
    ),
    "hybrid-concurrent-creation": (
        "is it a problem if two people create Nexus AKS clusters at once? both of ours died",
        "we ran 2 nexus cluster creates at the same time, both are Failed",
    ),
    "invalid-resource-reference": (
        (
            "scale-up error: Resource .../loadBalancers/kubernetes referenced by resource "
            ".../virtualMachineScaleSets/aks-np-vmss was not found"
        ),
        ("deleting an old LB by mistake, now autoscaler says the backend pool it references isn't there"),
        "nsg of node rg was deleted, now VMSS update fails: referenced resource not found",
    ),
    "isolation-domain-disabled": ("l3domain shows administrativeState Disabled on edge-nexus-02",),
    "kube-proxy-broken": (
        "ClusterIP of kube-dns answers from node a but not node b. restarting kube-proxy on b helps",
        "iptables rules on node 5 lag behind by minutes, services hit dead pods",
        "kube-proxy OOM on win nodes, services dead there",
    ),
    "kube-system-not-running": (
        "coredns pods evicted & pending, name lookups in the whole cluster fail",
        "kubectl logs hangs for everything, konnectivity-agent 0/1",
        "metrics-server crashes, hpa has no metrics",
        "no DNS in cluster :fire: coredns 0/2",
        "azure-disk csi pods keep crashing in kube-system",
        "konnectivity disconnects, exec/logs/port-forward don't work on any pod",
        "`k get po -n kube-system` shows coredns-autoscaler Error and coredns 0/1 Pending",
        "can't exec into pods, 'error: unable to upgrade connection: dial backend'",
        "all in-cluster lookups time out, core-dns restarted 40 times",
    ),
    "log-analytics-workspace-missing": (
        "can't upgrade: the omsagent addon wants a workspace we deleted last month",
        "container insights workspace was purged, now every aks update errors",
        ("az aks enable-addons... workspace '/subscriptions/x/.../workspaces/law-old' could not be found"),
        "az aks upgrade: Unable to get log analytics workspace info",
    ),
    "memory-saturation": (
        "MemoryPressure on 3 nodes of prod-weu, pods are being evicted left and right",
        "our ingester pods die with exit code 137 over and over",
        "kubelet: The node was low on resource: memory. Threshold quantity: 750Mi",
        "node ram goes up till it freezes, each night the same one",
        "java app gets killed (OOM) at 2 Gi limit",
        "kubelet evicts pods all night: 'node had condition MemoryPressure'",
        "ama-logs takes 1.5GB per node and the apps get evicted",
    ),
    "network-policy-blocking": (
        "since gatekeeping ns with netpol our pods can't resolve DNS, egress 53 isn't in there",
        "app in ns a → ns b: timeout. if i delete the netpol it works",
        "prometheus can't scrape ns payments anymore, they put a default deny there",
        "pod to pod across namespaces times out, as soon as I remove the NetworkPolicy it's ok",
    ),
    "network-prefix-overlap": (
        ("l3network create: Specified IPv4ConnectedPrefix 10.9.0.0/24 overlaps with existing prefix 10.9.0.0/16"),
    ),
    "network-vlan-mismatch": ("defaultcninetwork vlan 610, internal network vlan 601 - typo?",),
    "node-cannot-reach-api-server": (
        ("operators crash with: Get https://10.0.0.1:443/api?timeout=32s: dial tcp 10.0.0.1:443: i/o timeout"),
        (
            "kubelet logs: dial tcp: i/o timeout to "
            "https://prod-weu-dns-1.hcp.westeurope.azmk8s.io:443, node never registers"
        ),
        "flannel.. no sorry, csi-node pods: 'dial tcp 10.0.0.1:443: connect: connection refused'",
    ),
    "node-cannot-reach-api-server,api-server-unavailable": (
        "pods can't call kubernetes.default.svc, timeout, started after the firewall change",
    ),
    "node-not-ready": (
        "vmss00000a flaps Ready/NotReady every couple of minutes",
        "half the fleet shows as NotReady after the node image upgrade on prod-weu",
        "worker is gone from the scheduler's view: taint node.kubernetes.io/unreachable",
        "3 nodes dead on staging-neu, kubelet not posting",
        "KubeNodeUnreachable firing for aks-np1-1-vmss000004",
        "after stop/start of dev-shared one worker doesn't come back",
        "vmss000003 lost, lease not renewed, pods go Unknown",
        "Alert: node aks-sys-1-vmss000001 has been unready for a long time",
        "2 agents offline after patch night, ssh to them impossible",
        "scaled from 1 to 6 and back to get rid of the NotReady ones, an hour later again",
    ),
    "node-vm-failed": (
        ("one VM in the scale set is red in the portal, provisioning failed, kubelet on it never starts"),
        "vmss instance 12 'Failed' : disk detach still in progress",
        "az vmss list-instances: one in Failed, reimage doesnt help",
        "attachdisk keeps failing since one VM of the set is in state Failed (Azure portal)",
    ),
    "nodepool-failed": (
        "userpool ended up in provisioningState Failed after I changed max pods",
        "adding pool 'mem' → OperationFailed, now it's there with status Failed & 0 nodes",
        "can't scale any pool, one of them is Failed and the portal blocks the button",
    ),
    "nodepool-failed,quota-exceeded": ("pool 'gpu' went to failed after scale from 0 to 2",),
    "outbound-conn-fail": (
        "ImagePullBackOff for mcr images on fresh nodes, fw team swears nothing changed",
        "curl -v https://mcr.microsoft.com from the node: Connection timed out",
        "the hub firewall blocks something AKS needs, nodes don't come up; list of FQDNs pls",
        "ERR: Failed to connect to mcr.microsoft.com port 443: Connection timed out (on the node)",
        "pods have no internet since UDR was attached",
        "exit code 50 on cse. 'curl: (28) Failed to connect to mcr.microsoft.com'",
        "someone removed the outbound allow rule in the NSG, new nodes cannot pull their images",
        (
            "egress lockdown with azure firewall, aks create fails after 30 min. application rules "
            "for which FQDNs are missing?"
        ),
    ),
    "overconstrained-allocation": (
        "OverconstrainedZonalAllocationRequest on new pool w/ ultra ssd",
        "can't get a node: 'Overconstrained', we have PPG + zone + accelerated networking",
    ),
    "pdb-blocks-drain,drain-error": (
        "which pdb is to blame that node 3 isn't upgraded?",
        "PDB istiod minAvailable 1 w/ 1 replica... upgrade can't evict it",
    ),
    "pod-ip-exhaustion": (
        "FailedCreatePodSandBox ... no available addresses, on one node only",
        "pods get stuck in ContainerCreating because the CNI has no IPs to hand out",
        "IPAM: no free addresses left on the node, 30 pods max",
        "error: 'Failed to allocate pool: no available pool' / pod stays ContainerCreating w/o IP",
        "kubenet: 110 pods on the node and the next ones never get an address",
    ),
    "private-cluster-unreachable": (
        ("how can the GitHub runner reach our private AKS? dns for the api fqdn doesn't resolve outside the vnet"),
        "payments-prod api hostname doesn't resolve from my machine, it's privatelink",
        "how do people run kubectl vs private AKS from a laptop? vpn on, still can't",
        "bastion vm in another vnet cant resolve the privatelink fqdn of payments-prod",
        "the portal's Kubernetes resources tab says it can't connect because the cluster is private",
    ),
    "private-dns-zone": (
        ("AKS create: the user-assigned identity needs Private DNS Zone Contributor on our zone, doesn't have it"),
        "peered hub can't resolve the api server, the private zone has no link to the hub vnet",
        ("ours is BYO dns zone in the connectivity sub, create → 'ReconcilePrivateDNS ... AuthorizationFailed'"),
        "terraform: private_dns_zone_id given but create says the identity may not write to it",
    ),
    "provisioning-in-progress": (
        "Operation failed: there's an in progress upgrade managed cluster operation",
        "staging-neu hangs in 'Upgrading' since yesterday evening, can't scale nor delete",
        ("OperationNotAllowed: Operation is not allowed because there's an in progress update agent pool operation"),
        "aks start takes >1h, state Starting",
        "who started something on prod-eus2? mine says another operation is running, try later",
        "az aks delete hangs forever, shows Deleting since two days",
    ),
    "public-ip-count-limit": (
        ("every new LoadBalancer svc stays <pending>, subscription has hit its max of public IPs in eastus2"),
        "PublicIPCountLimitReached when creating the ingress LB",
        "can't deploy: region limit for public IP addresses reached, 20 of 20",
    ),
    "quota-exceeded": (
        "scaling prod-weu to 40 nodes: quota for DSv5 family is 200 cores and we're at 198",
        "ErrCode_InsufficientVCPUQuota Insufficient vcpu quota requested 16, remaining 4",
        "upgrade needs surge nodes but we've got no cores left in this sub",
        "can't add 2 nodes, portal says 'vCPU quota 100 of 100'",
        "spot pool: LowPriorityCores quota exceeded",
        (
            "az aks scale: Operation could not be completed as it results in exceeding approved "
            "Total Regional Cores quota"
        ),
        ("need +64 vCPU in westeurope asap, autoscaler is stuck at 12 nodes because of the subscription limit"),
        ("scale out of batch pool gets 'Operation could not be completed ... quota'. which quota do I raise?"),
        "our sub only has 10 cores for free trial so 3 nodes is the max?? it refuses the third",
    ),
    "read-only-disabled-subscription": (
        "everything in dev-shared's subscription is read only, credit ran out",
        "DisabledSubscription on every az call for the dev sub",
        "subscription of dev-shared is 'Warned/Disabled', all writes rejected",
    ),
    "request-disallowed-by-policy": (
        "VMSS creation denied, deny-effect policy 'allowed SKUs' on the management group",
        "Resource 'aks-agentpool-vmss' was disallowed by policy. Policy: require-owner-tag",
        "our platform team's deny policy stops the AKS LB from getting a public IP",
        "deploy denied: policy assignment 'no-public-lb' on the mgmt group",
        "since monday the policy team denies public LBs and our ingress can't be created",
    ),
    "resource-lock": (
        "can't delete the pool, resource group MC_x is locked",
        "'CanNotDelete' lock on node rg keeps old nodes around after scale-in",
        "(ScopeLocked) The scope cannot perform write operation because following scope(s) are locked",
        "our infra team locks everything read-only on fridays, so the autoscaler gets ScopeLocked",
        "terraform destroy fails, somebody locked the MC_ group",
    ),
    "service-no-endpoints": (
        "svc/checkout has Endpoints: <none> since the last deploy",
        'nginx: Service "web/shop" does not have any active Endpoint',
        "svc has no endpoints, pods are up with other labels",
        "ingress → 503 default backend, kubectl get ep empty",
        "the service's endpoint list is empty, selector app=cart-v2 but pods have app=cart",
        "after renaming the deployment labels the ingress answers 503",
    ),
    "service-pod-not-listening": (
        ("readiness ok but port-forward says connection refused on 8080, app maybe listens on loopback?"),
        "wget from other pod: can't connect to remote host (10.244.1.7): Connection refused",
        "app listens on ::1 only → conn refused through the service",
    ),
    "service-port-mismatch": (
        "service forwards to 3000 but our container now exposes 8080",
        "svc targetPort http not found in pod spec, container calls it web",
        "Service port 80 → targetPort 8081, container listens 8080, that's why 502",
        "dockerfile EXPOSE is 5000, svc forwards to 80, nothing answers",
    ),
    "subnet-full": (
        "no IPs left in snet-aks, autoscaler can't add nodes",
        "InsufficientSubnetSize when raising max pods to 110",
        "upgrade: subnet doesn't have enough IPs for the surge nodes",
        "SubnetIsFull ... with address prefix 10.2.0.0/25 is full",
        "az aks nodepool scale: 'Subnet snet-aks does not have enough capacity for 5 IP addresses'",
        "need a larger subnet, we are at 251 of 251 addresses and upgrades can't surge",
        "we planned a /27 for 5 nodes with 30 pods each. creation refused, too few addresses",
    ),
    "subscription-not-registered": (
        "az aks create: provider Microsoft.OperationsManagement isn't registered",
        "(MissingSubscriptionRegistration) Microsoft.Insights",
        "new landing zone: 'not registered to use namespace Microsoft.Network'",
    ),
    "upgrade-half-done": (
        "control plane on 1.30 but two pools still 1.28, upgrade bailed out midway",
        "nodes show v1.27.7 and v1.28.3 mixed, cluster upgrade errored yesterday",
        "4 nodes stay cordoned on the old image, pool upgrade gave up yesterday",
        "failed upgrade left me with 5 nodes instead of 4, one new version, 4 old",
    ),
    "vnet-blocked": (
        "switched vnet DNS to our own resolvers, new nodes fail with K8SAPIServerDNSLookupFail",
        "dns forwarder in the hub is dead so nodes can't look up the AKS api name",
        "palo alto drops 443 + 9000 to the api server of prod-weu, new nodes can't join",
        ("we use custom dns (on prem), aks nodes fail to provision as they can't find the api server's name"),
    ),
}
"""By code; several codes are equally right."""
