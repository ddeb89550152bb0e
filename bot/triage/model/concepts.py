"""Synonyms: different words for one thing are mapped to one concept.

A line is `concept: words that mean it`, an indented line continues it; a phrase may have several words ("run out
of") and belong to several concepts.
"""

from __future__ import annotations

TROUBLE = """
fail: fail, failed, failing, failure, error, errored, errors out, broke, broken, break, abort, aborted, bomb, bombed
    out, die, died, blow up, blew up, blown up, explode, unsuccessful, went wrong, go wrong, not work, no longer
    work, stopped working, borked, choke, crap out, kaput, hosed, red, busted, fall over, unhappy, invalid, gives
    up, gave up, wrecked, toast, tank, tanked, screwed, not succeed, could not complete
missing: missing, gone, vanished, disappeared, not found, not exist, nonexistent, 404, not there, no longer there,
    lost, absent, cannot find, could not find, not find, dangling, unknown resource, deleted, removed, no such,
    does not see, no more there
deleted: delete, deleted, deletion, remove, removed, cleanup, clean up, cleaned, tidied, tidy, nuked, wiped, purged,
    destroyed, rm, dropped, erased, decommissioned, garbage collected, hand deleted
exhausted: run out, ran out, running out, out of, exhausted, exhaustion, depleted, full, used up, no more, no free,
    none left, nothing left, none free, not enough, insufficient, too few, maxed, max out, at limit, limit reached,
    hit limit, hit the limit, over limit, exceeded, exceed, exceeding, too small, too tiny, too narrow, not fit, no
    room, no space, saturated, eaten up, all taken, no available, short of, lack of, left no, not big enough,
    undersized, consumed, starved, starving, at 100, 100 percent, too many, count limit, capped, maximum, hit the
    ceiling, hit the cap, no spare, zero free, zero left, 0 left, 0 free, 0 available, more than allowed, all used,
    fully used, maximum reached, max reached, quota reached, cap reached
neg: forgot, forgotten, forget, skipped, not, no, never, none, without, unable, nothing, zero, nobody, neither,
    impossible, fail, failed, fails, refuse, refused, missing, lacks, gone, unreachable, inaccessible
stuck: been running since, running since, running for, sits there, sit there, stuck, hang, hung, hanging, forever,
    endless, endlessly, not finish, never finish, never end, spinning, frozen, freeze, for hours, not move, no
    progress, not progress, not complete, not end, not come back, not terminate, never completes, does nothing,
    stays, sits, sitting, waits forever, pending, stalled, stall, loop, in limbo, limbo, ages, since hours, going
    nowhere, not budge, forhours, freezes, not finishing
down: down, outage, not respond, no response, unresponsive, not answer, stopped answering, no answer, flaky,
    intermittent, intermittently, dead, 503, 502, 504, unavailable, eof, unstable, dropping out, drops, sporadic,
    sporadically, on and off, comes and goes, not reply, silent, timeouts everywhere, not reachable at all
timeout: timeout, timeouts, time out, timed out, times out, timing out, deadline exceeded, too long, hang
block: block, blocked, blocking, blocker, deny, denied, denies, drop, dropped, dropping, reject, rejected, disallow,
    disallowed, not allowed, not permitted, forbid, forbidden, prevent, prevented, refuse, refused, filter,
    filtered, closed, prohibited, not let, wont let, stops us, in the way, not whitelisted, cut off, in its way,
    shut, vetoed, veto, 403, 401, eat, eats, swallow, swallows
reach: reach, reachable, unreachable, connect, connection, connectivity, contact, talk, talk to, dial, accessible,
    inaccessible, get to, get through, come through, network path, no route, ping, telnet, curl, login, get in, get
    into, connects, in touch, hit
unreachable: unreachable, inaccessible, not reachable, not reach, not connect, not accessible, no route, not get in,
    not get through, unable to reach, unable to connect, lost connection, no connection, failed to connect, could
    not connect
crash: crash, crashes, crashing, crashed, crashloop, crash loop, crashlooping, crashloopbackoff, back off, backoff,
    restarting, restart loop, keeps restarting, restart, restarts, not start, not starting, wont start, not come up,
    not running, 0 1, err image pull, image pull back off, imagepullbackoff
mismatch: mismatch, mismatched, not match, differ, differs, different, wrong, inconsistent, other than, instead of,
    does not agree, not the same, not agree, incorrect, not equal, diverge, out of sync
broken_state: turned failed, ended failed, ended as failed, state failure, stands at failed, failed state, state
    failed, provisioning state failed, state is failed, status failed, in failed, marked failed, shows failed, says
    failed, is failed, flipped to failed, went to failed, goes to failed, now failed, canceled, provisioning failed,
    failed provisioning, failed provisioning state, provisioningstate failed, in a failed, as failed, reports
    failed, failed status
expired: expired, expire, expires, expiry, out of date, outdated, stale, too old, ran out, lapsed, rotated, no
    longer valid
slow: slow, slowly, sluggish, latency, takes ages, crawl
internal: internal error, internal server error, internalservererror, internal operation error, internal execution,
    microsoft side, azure side, on azure end, server error
"""
"""What goes wrong."""

THINGS = """
node: node, nodes, worker, workers, vm, machine, machines, host, instance, instances, minion, kubelet
vm: vm, vms, virtual machine, virtual machines, instance, instances, vmss, scale set, scaleset, scalesets, virtual
    machine scale set, machine, machines, vmss instance
pool: pool, pools, nodepool, node pool, agentpool, agent pool, userpool, systempool, nodegroup, node group, np
cluster: cluster, clusters, aks, managed cluster, kubernetes, k8s
notready: not rejoin, not join, not register, dropped off, drop off, not post, not posting, unknown state, fell out,
    not ready, notready, unready, node down, nodes down, node went down, not become ready, never becomes ready, not
    get ready, status unknown, kubelet stopped, stopped posting, not healthy, kubelet dead, lost contact, not ready
    anymore, ready false, ready unknown, went away, dropped out, not schedulable unknown, ready to not ready, never
    went ready, no heartbeat from kubelet, not go ready, not come back, not came back, never came back, comes back,
    not come up again, not come back up, kubelet silent, dead node, nodes dead, lease not renewed, go unknown, pods
    unknown, node lost, lost node, unready for, agents offline, nodes offline, node offline, node is offline
pod: pod, pods, container, containers, workload, workloads, replica, replicas, deployment pods
quota: quota, quotas, limit, limits, cap, caps, allowance, ceiling, count limit, maximum
core: core, cores, vcpu, vcpus, cpu family, compute cores, cpu quota, cpu limit, quota cpu
subnet: subnet, subnets, snet, subnetwork, address space, cidrsize
address: ip, ips, address, addresses, ipv4, ip address, ip addresses, ipam
upgrade: upgrade, upgrades, upgrading, upgraded, version bump, update to, new version, node image, nodeimage,
    patching, auto upgrade, autoupgrade, k8s version, kubernetes version, minor version, update, updating
scale: scale, scaling, scaled, scale out, scale up, scaleup, scaleout, autoscaler, autoscale, autoscaling, add node,
    add nodes, adding nodes, new nodes, more nodes, resize, grow, enlarge, extra nodes, another node, node count,
    cluster autoscaler
create: create, creation, created, creating, deploy, deployment, deploying, deployed, provision, provisioning,
    build, spin up, install, set up, recreate, bring up, rolled out, apply, new cluster, add
update: update, updates, updating, updated, change, changes, changed, modify, modified, write, writes, put, patch,
    edit, reconcile, operation, operations, op, action
progress: in progress, ongoing, still updating, still upgrading, still creating, still running, in updating, in
    upgrading, in creating, status updating, busy, wait for it, under way, underway, updating state, state starting,
    state stopping, still starting, still stopping, start takes, stop takes, being deleted, is updating, is
    upgrading, is creating, is deleting, is starting, is stopping, are updating, are upgrading, are creating, are
    deleting, are starting, are stopping, in deleting, in starting, in stopping, stuck updating, stuck upgrading,
    stuck creating, stuck deleting, stuck starting, stuck stopping, state updating, state upgrading, state creating,
    state deleting, status upgrading, status creating, status deleting, status starting, status stopping, shows
    updating, shows upgrading, shows creating, shows deleting, shows starting, shows stopping, still deleting, says
    updating, says upgrading, says creating, says deleting, says starting, says stopping, hangs in updating, hangs
    in upgrading, hangs in creating, hangs in deleting, hangs in starting, hangs in stopping, while updating, while
    upgrading, while creating, while deleting, while starting, while stopping, being upgraded, being updated, being
    created
otherop: another operation, other operation, running operation, already running, mutually exclusive, preempted, in
    flight, operation is running, operation running, in progress operation, operation in progress, operation is in
    progress, another update, another upgrade, operation pending
abort_op: abort, cancel operation, abort operation, kill operation, stop the operation, cancel
drain: drain, drained, draining, drains, evict, evicted, eviction, evictions, cordon, cordoned, evicting
pdb: pdb, pdbs, disruption budget, disruption budgets, pod disruption budget, pod disruption budgets,
    poddisruptionbudget, poddisruptionbudgets, budget, allowed disruptions, disruptions allowed, disruption, min
    available, max unavailable, minavailable, maxunavailable, zero disruptions
terminating: terminating, terminate, finalizer, finalizers, grace period, not die, will not go away, not go away,
    not terminate, refuses to go, shutting down
azpolicy: policy, policies, azure policy, policy initiative, initiative, compliant, compliance, noncompliant, non
    compliant, governance, gatekeeper, guardrail, guardrails, landing zone policy, deny assignment, disallowed by
    policy, cloud governance
netpol: deny all egress, network policy, network policies, networkpolicy, networkpolicies, netpol, netpols, calico,
    cilium policy, cilium network policy, deny all, default deny, egress policy, ingress policy, calico rule, calico
    policy
tag: tag, tags, untagged, tagging
lock: lock, locks, locked, read only lock, delete lock, cannot delete lock, cannotdelete, resource lock, unlock,
    canNotDelete
noderg: node resource group, infra resource group, infrastructure resource group, managed resource group, mc group,
    noderg, node rg, infra rg, node group of the cluster
subscription: subscription, subscriptions, sub, subs, azure account, tenant
register: register, registered, registration, unregistered, not registered, registering, registered for
provider: resource connector, resourceconnector, provider, providers, resource provider, rp, namespace microsoft,
    feature flag, preview feature, microsoft compute, microsoft containerservice, microsoft operations management,
    resource namespace
disabled: disabled, disable, suspended, switched off, deactivated, turned off, canceled subscription, cancelled
money: unpaid, past due, overdue, payment, billing, credit, credits, spending limit, invoice, not paid, credit card,
    bill, trial, paid, free trial, money
readonly: read only, readonly, read only mode, no writes
dns: dns, resolve, resolves, resolving, resolution, name resolution, lookup, nslookup, dig, no such host, nxdomain,
    hostname, servfail, host name
privatecluster: private cluster, private aks, private endpoint, privatelink, private link, private api, private
    fqdn, private api server, private network, private vnet, private, private control plane
privatezone: private dns zone, private dns, private zone, dns zone, privatelink zone, dns zones, zone link, vnet
    link, virtual network link, zone record, privatelink
zone: zone, zones, availability zone, zonal
capacity: not have that machine, out of d8s, machine type, have any left, capacity, stock, sold out, allocation,
    allocate, allocated, hardware, available in region, availability, physical capacity, capacity reservation, no
    machines, machines left, unavailable in region, not available in, constrained region, heavy usage, high demand,
    not offered, not available for
size: size, sizes, sku, skus, vm size, vm family, vm type, machine type, instance type, d series, dsv5, gpu, family,
    vmsize
region: region, regions, location, datacenter, westeurope, northeurope, eastus, eastus2, westus3,
    germanywestcentral, swedencentral, francecentral, uksouth, germany, sweden central, norwayeast, westus, westus2,
    centralus, southcentralus, northcentralus, switzerlandnorth, ukwest, eastasia, southeastasia, australiaeast,
    japaneast, koreacentral, brazilsouth, canadacentral, polandcentral, italynorth, spaincentral, uaenorth,
    southafricanorth, west europe, north europe, east us, west us
constraint: constraint, constraints, restrictive, overconstrained, over constrained, proximity placement, proximity
    placement group, ppg, accelerated networking, ultra ssd, condition too restrictive, ultra disk, allocation
    request, combination
spot: spot, low priority, lowpriority, max price, preemptible
outbound: outbound, egress, internet, way out, outgoing, mcr, microsoft container registry, reach out, outside
    world, external hosts, endpoints list, outside, pull system images, packages aks, outbound connection, required
    urls, required hosts, required fqdns, snat, nat gateway
firewall: firewall, fw, nsg, network security group, nsgs, nva, palo alto, fortigate, checkpoint, zscaler, azfw,
    azure firewall, security rule, outbound rule, proxy, firewall rule, security team, network team, appliance rule,
    hub firewall
route: route, routes, udr, udrs, route table, routing, default route, routing table, 0 0 route, force tunnel, force
    tunneled, forced tunneling, tunneled, routetable
crossnode: cross node, across nodes, between nodes, other nodes, on different nodes, different node, node to node,
    same node works, old nodes, from node to node, another node
customdns: custom dns, dns server, dns servers, dns forwarder, own dns, vnet dns, dns settings, corporate dns,
    domain controller, onprem dns, our dns, own resolver, resolver
vnet: vnet, vnets, v net, v nets, virtual network, virtual networks, network
kubeinternal: kubernetes internal, kubernetesinternal
apiserver: api server, apiserver, kube api, kubernetes api, k8s api, control plane, api endpoint, master, masters,
    kube apiserver, cluster api, apiserver address, api, management plane, azmk8s io
kubectl: kubectl, k9s, lens, helm, k get, kubeconfig
iprange: limited which addresses, addresses may, restrict access, restricted access, restricted the api, limit
    access, access restriction, authorized ip, authorized ips, authorized range, authorized ranges, authorized ip
    range, authorized ip ranges, ip range, ip ranges, whitelist, whitelisted, whitelisting, allowlist, allowlisted,
    allow list, white list, ip restriction, ip restrictions, ip allow, ip filter, api restriction, allowed ips,
    allowed ip, api ip, permitted ranges, ip acl, ranges
client: office, home, laptop, laptops, vpn, pipeline, pipelines, runner, runners, ci, ci cd, build agent, agents,
    jumpbox, jump host, jump box, devops, ado, github actions, my machine, my ip, egress ip, workstation, bastion,
    hosted agent, hosted runner, desktop, on prem, home office, working from home, wfh, isp, public ip of, nat ip,
    dev box, azure devops
service: service, services, svc, clusterip, ingress, cluster ip, frontend
endpoint: endpoint, endpoints, endpointslice, endpointslices, no backends, no backend, without backends, not have
    backends, has no backend
selector: selector, selectors, label, labels, selects, selecting, pod labels
port: port, ports, targetport, containerport, target port, container port, nodeport, service port
listen: listen, listens, listening, bind, binds, bound, localhost, 127 0 0 1, loopback, nobody home, not open,
    opened
connrefused: connection refused, econnrefused, conn refused, refuses connections, refuses connection, 111
kubeproxy: kube proxy, kubeproxy, kube proxies
iptables: iptables, ipvs, conntrack, xtables, nat rules, dnat
cni: cni, azure cni, kubenet, network plugin, cns, cilium, overlay, cni plugin, networkplugin, azure vnet, ipam
    plugin, pod network, calico, sandbox
sandbox: sandbox, pod sandbox, sand box, containercreating, container creating, create pod sandbox,
    failedcreatepodsandbox, failed create pod sand box
memory: memory, ram, heap, gb used, swap, working set, rss, oom, oomkilled, memory pressure, out of memory,
    gigabytes
oom: oom, oomkilled, oom killed, memory pressure, oomkiller, oom killer, out of memory, oom kill, oom kills, killed
    by the kernel, exit code 137, 137, low on memory, memory saturation, gets killed, memory killed
systempod: coredns, core dns, konnectivity, metrics server, kube system, kubesystem, system pod, system pods,
    tunnelfront, cloud node manager, csi azuredisk, ip masq, azure ip masq agent, ama logs, kube dns, system
    components, addon pods, system addons, kube proxy, konnectivity agent, system namespace, v1beta1 metrics, csi
    azurefile, csi azuredisk node, disk csi, file csi
workspace: workspace, log analytics, loganalytics, log analytics workspace, oms workspace, oms, operational
    insights, operationalinsights, la workspace, law, logs workspace, workspaces
monitoring: monitoring, monitoring addon, monitoring add on, omsagent, container insights, ama, azure monitor,
    insights, addon, add on, defender
lb: load balancer, load balancers, lb, lbs, loadbalancer, backend pool, frontend ip, slb, outbound ip, nat gateway
publicip: public ip, public ips, public address, public addresses, public ip address, public ip addresses, pip,
    pips, public ipv4
reference: reference, references, referenced, refers, referring, points to, pointing, dangling, referenced resource
rbac: rbac, role, roles, rolebinding, role binding, clusterrole, clusterrolebinding, permission, permissions, right,
    rights, privilege, privileges, authorization, authorized, role assignment, role assignments, authorisation, can
    i, lacks access, entra, azure ad group, aad
denied: forbidden, 403, unauthorized, access denied, not allowed to, may not, permission denied, not permitted, not
    authorized
serviceaccount: service account, serviceaccount, sa, service accounts, serviceaccounts
namespace: namespace, namespaces, ns
kverb: list, get, watch, view, see, read, exec
cse: cse, vmsscse, custom script, custom script extension, extension, extensions, bootstrap, node setup,
    provisioning script, vmextension, vm extension, startup script, bootstrapping, set up script, cluster provision
    log, node bootstrapping
exitcode: exit code, exit status, exitcode, exited with
disk: disk, disks, data disk, data disks, volume, volumes, leftover disk, os disk
detach: detach, detached, detaching, undock
attach: attach, attached, attaching
surge: surge, surge node, surge nodes, extra node, buffer node, left over node, leftover, leftovers
mixed: in the middle, still on 1, old and new, old version, mixed version, mixed versions, halfway, half way, half,
    half done, half of the nodes, different versions, quarantined, scheduling disabled, two versions, both versions,
    some nodes on, remaining nodes, mid upgrade, midway, partly, partially, old nodes, rest of the nodes, halfdone,
    old image, not all nodes, two pools still, some pools, bailed out, stopped midway, stuck between
audit: audit log, audit logs, kube audit, audit trail
log: log, logs, logging
support: support ticket, support request, support case, open a ticket, ms support, microsoft support, sev a, support
    engineer, azure support
infra: all on its own, none of us, no one touched, no one did, untouched, didnt touch, not touch, without anyone,
    overnight, randomly, out of the blue, no reason, by itself, on its own, nobody touched, nobody did, not changed
    anything, no change, nothing changed, without any change, arm
conditions: tls handshake, handshake timeout, tls handshake timeout
"""
"""What it goes wrong with."""

EDGE = """
aso: aso, azure service operator, service operator, azureserviceoperator, aso controller, aso v2, serviceoperator
owner: owner, parent, owning resource
secret: secret, secrets, configmap, credential secret
precondition: a few minutes later, minutes later, fine by itself, by itself later, then it works, then works, then
    worked, went away, goes away, later it is fine, precondition, dependency, dependencies, waits for, waiting for,
    prerequisite, before it, wait, waiting, waits, too early, first, not yet, eventually, then succeeded, after a
    while, retries, retrying, keeps trying
transient: being updated, being created, being upgraded, provisioning state, transient, cluster is busy, is
    updating, is upgrading, is creating, still creating, still updating, still upgrading
bridge: bridge, resource bridge, arc bridge, arc resource bridge, appliance, appliance vm, arcappliance, arb,
    control plane vm, kva, mocarb, moc arb
arc: arc, azure arc, arc enabled, arc connected, azurearc
arcagent: arc pod, arc pods, arc agent, arc agents, azure arc pods, azure arc namespace, arc namespace,
    clusterconnect agent
vcenter: vcenter, vsphere, v center, v sphere, vmware, esxi, esx, vmware account, datastore, hypervisor
hybrid: hybrid, hybridaks, aks hybrid, nexus, naks, operator nexus, nexus kubernetes, edge, edge cluster, hybrid
    cluster, connected cluster, connectedcluster, on premises cluster, akshybrid, azure local, hci, provisioned
    cluster, azure stack hci
offline: offline, disconnected, connecting, not connected, lost connection, last connectivity, lastconnectivitytime,
    not reporting, certificate expiration, no connection to azure, last seen, last heartbeat, isnt connected, never
    connected
concurrent: concurrent, concurrently, parallel, in parallel, at the same time, simultaneously, same time, at once,
    same minute, both at, together, serially, one by one, one at a time, same moment, in one go, at a time
cninetwork: cni network, default cni, default cni network, defaultcninetwork, dcn, l3 network, l3network, nexus
    network, networkcloud network, l2 network, trunked network, workload network
csn: cloud services network, cloud service network, cloudservicesnetwork, csn, csns, cloud services networks
isd: isolation domain, isolation domains, l3 domain, l2 domain, l3isolationdomain, l3 isolation domain, l2 isolation
    domain, isd, l3domain, l3 isd, fabric domain, isolationdomain
internalnetwork: internal network, internal networks, internalnetwork
enabled: enabled, enable, administrative state, admin state, administrativestate, activated, turned on, switched on,
    active, enabling
vlan: vlan, vlans, vlan id
prefix: prefix, prefixes, cidr, cidrs, ipv4 prefix, connected prefix, ip range, ranges
overlap: overlap, overlaps, overlapping, overlapped, twice, duplicate, duplicated, collide, collision, conflict,
    conflicts, used by two, same prefix, already used, already in use, reused, taken, clash, clashes
customlocation: custom location, customlocation, extended location, extendedlocation, custom locations, extended
    locations
wrapped: wrapped, wrap, not wrapped, hybrid vnet, hybrid virtual network, aks hybrid vnet, vnet wrapper
casing: casing, case mismatch, upper case, lower case, uppercase, lowercase, case sensitive, camelcase, capital
    letter, capital letters, capitalisation, capitalization, differ in case, letter case, resourcegroups vs, camel
    case, case only, only in case
netfailed: accepted, stuck in accepted, stuck in provisioning
heartbeat: heartbeat, waiting for heartbeat, waitforheartbeat, heart beat
credential: credential, credentials, password, passwords, login, account, pw
preface: preface, server preface
wssd: wssd, stale folder, stale folders
token: token, az login, sign in, session, refresh token
refreshtoken: refresh token, refreshtoken, sign in frequency, conditional access, token lifetime, allowed lifetime
pullimage: pull image, pulling image, pull images, image pull, back off pulling, imagepull, failfast,
    failfastpodcondition, image download, download image, pulling images, download images, images not downloaded
url: url, urls, fqdn, fqdns, endpoint url, https, site, hosts, host
dotlocal: dot local, dotlocal, local domain, mdns
tlsproxy: ssl proxy, tls proxy, ssl inspection, tls inspection, tls intercept, ssl intercept, interception,
    intercepting, inspecting proxy, inspection, re signs, mitm, man in the middle, break and inspect, decryption,
    corporate ca, corp ca, corp root, own ca, proxy certificate, proxy cert, proxy ca, root ca, self signed, proxy
    root, proxy, zscaler, netskope, swaps certs, swaps certificates, blue coat, bluecoat
cert: cert, certs, certificate, certificates, trust, trusted, untrusted, unknown authority, x509, not trusted,
    unknown ca
handshake: handshake, handshake failed, authentication handshake, handshake failure, unknown authority, x509
kva: kva, kva timeout, kvatimeout, kvaio
phase: phase, phases, context timed out, contexterror, context error
remoteps: remote powershell, powershell remoting, remote ps, pssession, enter pssession, invoke command, winrm,
    psremoting, remote session, ps session, ssh session
workstation: workstation, laptop, management machine, admin box, my machine, not on a node, cluster node
resourcepool: resource pool, resource pools, resourcepool, host resource pool
list: list, listed, dropdown, drop down, menu, picker, wizard, shown, offered, choose, select, selectable, show up,
    appear
ova: ova, ovf, govc, appliance image, vhd image
bits32: 32 bit, 32bit, x86, value out of range, out of range, 3670409216
hostconfig: host configuration, configuring host, configuring the host, configure the host, host config
template: template, templates, vm template
folder: folder, folders
move: move, moved, moving, relocate, relocated, migrate, migrated, migration, relocation, transfer, vmotion,
    resource move, into another subscription, to another subscription, to another region, to another resource group,
    into another resource group, to another host, another resource group, another subscription
logs: log, logs, log bundle, logkey
ip_changed: ip changed, new ip, different ip, another ip, other ip, changed ip, dhcp, lost its ip, lost ip, ip
    reservation, lease, changed its ip, changed address, ip is different, ip conflict, address changed, new address
etcd: etcd, slow disk, disk latency, fsync
param: parameter, parameters, wrong parameter, wrong region, wrong resource group, wrong settings
"""
"""The on-premises half: Azure Service Operator, Operator Nexus, the Arc resource bridge."""
