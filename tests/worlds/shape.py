"""The properties of one healthy cluster, drawn from a seed; only combinations that Azure allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from random import Random

NETWORKS = ("overlay", "cilium", "flat", "dynamic", "blocks", "kubenet", "none")
"""Network plugins; `none` means bring your own CNI."""
OUTBOUND = ("loadBalancer", "managedNATGateway", "userAssignedNATGateway", "userDefinedRouting", "none", "block")
WAYS = ("appliance", "forced-tunnel", "appliance-and-direct")
"""Next hops of user-defined routing: a firewall in the hub, a gateway to the on-premises
network, or a firewall plus direct routes to Azure services."""
ALLOW_LISTS = ("by service", "by port")
ACCESS = ("public", "ranges", "private", "vnet-integration", "private-vnet-integration")
ZONES = ("system", "own", "none")
OPERATIONS = (
    "upgrade",
    "slow-upgrade",
    "pool-upgrade",
    "image-upgrade",
    "scaling",
    "autoscaling",
    "creating-pool",
    "deleting-pool",
)
USER_POOLS = (
    *("plain", "autoscaled", "parking", "stopped", "spot", "windows", "reserved", "dedicated"),
    *("machines", "machines-autoscaled", "empty", "spot-evicted"),
)
SCALE_SETS = frozenset(USER_POOLS) - {"machines", "machines-autoscaled"}
PAST = (
    *("throttled", "failed-then-fine", "refused-then-fewer", "refused-wish", "delete-refused", "weekly-images"),
    *("budget-refused-then-fine", "autoscaled", "old-failure"),
)
GUARDS = (
    *("lock-on-group", "lock-elsewhere", "policies", "exempted-policy", "broken-audit-policy", "denials-elsewhere"),
    *("diagnostic-setting", "monitoring-with-identity", "unneeded-providers", "provider-registering"),
)
INSIDE = (
    *("budgets", "empty-budget", "finished-jobs", "evicted-pods", "debug-pod", "failed-debug-pod", "joining-node"),
    *(
        "leaving-pod",
        "rollout",
        "old-restarts",
        "calico",
        "starting-pod",
        "pending-app",
        "cordoned-node",
        "virtual-node",
    ),
)
ODDITIES = (
    *("shouted-node-group", "other-tags", "unknown-fields", "small-pages", "tight-quota", "tight-subnet"),
    *("hub-subscription", "own-node-group-name", "user-identity", "service-principal"),
)


@dataclass(frozen=True, slots=True)
class PoolShape:
    """One node pool: type, node count and upgrade surge settings."""

    name: str
    kind: str
    nodes: int
    surge: str = "10%"

    def __str__(self) -> str:
        return f"{self.name}: {self.kind} × {self.nodes}, surge {self.surge}"


@dataclass(frozen=True, slots=True)
class Shape:
    """One cluster. The defaults are those of the portal."""

    seed: int = 0
    network: str = "overlay"
    own_subnet: bool = False
    outbound: str = "loadBalancer"
    access: str = "public"
    zone: str = "system"
    reach: str = "directly"
    """`directly`, `run-command` (only the fixed commands), or `out` (unreachable)."""
    sku: str = "Base"
    hosted: bool = False
    """The system pods run on Azure-hosted VMs."""
    auto: int = -1
    """How many nodes node auto-provisioning has created; -1: it is off"""
    auth: str = "local"
    legacy: bool = False
    """An old cluster with one availability set."""
    stopped: bool = False
    operation: str = ""
    pools: tuple[PoolShape, ...] = (PoolShape("system", "system", 3),)
    past: frozenset[str] = field(default_factory=frozenset)
    guards: frozenset[str] = field(default_factory=frozenset)
    inside: frozenset[str] = field(default_factory=frozenset)
    oddities: frozenset[str] = field(default_factory=frozenset)

    def __str__(self) -> str:
        """The non-default properties, one per line."""
        plain, lines = Shape(), []
        for one in fields(self):
            value = getattr(self, one.name)
            if value != getattr(plain, one.name):
                said = sorted(value) if isinstance(value, frozenset) else value
                said = "; ".join(map(str, said)) if isinstance(said, list | tuple) else said
                lines.append(f"  {one.name}: {said}")
        return "\n".join(lines)

    @property
    def private(self) -> bool:
        return self.access in ("private", "private-vnet-integration")

    @property
    def way(self) -> str:
        """Where its custom routes lead; empty if there are none."""
        return WAYS[self.seed // 2 % len(WAYS)] if self.outbound == "userDefinedRouting" else ""

    @property
    def spoke(self) -> bool:
        """Whether its network is peered with a hub that has its DNS servers."""
        return self.own_subnet and (self.seed % 3 == 0 or self.way != "")

    @property
    def allow_list(self) -> str:
        """How its subnet's NSG allows only the required outbound traffic; empty if it denies nothing."""
        return ALLOW_LISTS[self.seed // 5 % 2] if self.own_subnet and self.seed % 5 == 0 else ""

    @property
    def integrated(self) -> bool:
        return self.access.endswith("vnet-integration")

    @property
    def pods_use_the_subnet(self) -> bool:
        return self.network == "flat"

    @property
    def isolated(self) -> bool:
        return self.outbound in ("none", "block")

    def smaller(self) -> Iterator[Shape]:
        """Copies with one property reset to its default, for shrinking a failing shape to a minimal one."""
        plain = Shape()
        for index in range(len(self.pools)):
            if len(self.pools) > 1 and self.pools[index].kind != "system":
                yield replace(self, pools=self.pools[:index] + self.pools[index + 1 :])
        for name in ("past", "guards", "inside", "oddities"):
            held: frozenset[str] = getattr(self, name)
            yield from (replace(self, **{name: held - {one}}) for one in sorted(held))
        if self.auto >= 0 and self.sku == "Base":
            yield replace(self, auto=-1)
        for name in ("operation", "stopped", "auth", "outbound", "zone", "reach"):
            if getattr(self, name) != getattr(plain, name):
                yield replace(self, **{name: getattr(plain, name)})
        if self.sku == "Automatic" or self.legacy:
            return
        if self.reach == "directly" and self.access != "public":
            yield replace(self, access="public")
        if self.network != "overlay" and (self.network != "cilium" or self.auto < 0):
            yield replace(self, network="overlay")
        needs_own = self.integrated or self.outbound in ("userAssignedNATGateway", "userDefinedRouting")
        if self.own_subnet and not needs_own and self.network not in ("flat", "dynamic", "blocks"):
            yield replace(self, own_subnet=False, oddities=self.oddities - {"hub-subscription", "tight-subnet"})


def draw(seed: int) -> Shape:
    """The shape for a seed; deterministic."""
    dice = Random(f"world {seed}")
    kind = dice.random()
    if kind < 0.12:
        return _automatic(seed, dice)
    if kind < 0.18:
        return _legacy(seed, dice)
    return _base(seed, dice)


def _base(seed: int, dice: Random) -> Shape:
    network = dice.choice(NETWORKS)
    outbound = dice.choices(OUTBOUND, (8, 2, 2, 2, 1, 1))[0]
    access = dice.choices(ACCESS, (6, 1, 3, 1, 1))[0]
    own = network in ("dynamic", "blocks", "flat") or access.endswith("vnet-integration")
    own = own or outbound in ("userAssignedNATGateway", "userDefinedRouting") or dice.random() < 0.4
    reach = _reach(access, dice)
    shape = Shape(
        seed=seed,
        network=network,
        own_subnet=own,
        outbound=outbound,
        access=access,
        zone=dice.choice(ZONES) if access.startswith("private") else "system",
        reach=reach,
        auto=dice.choice((0, 1, 3)) if network == "cilium" and dice.random() < 0.4 else -1,
        auth=dice.choice(("local", "entra", "azure-rbac")),
        stopped=dice.random() < 0.05,
        pools=_pools(network, dice),
        past=_some(PAST, dice),
        guards=_some(GUARDS, dice),
        inside=_some(INSIDE, dice),
        oddities=_some(ODDITIES, dice),
    )
    operation = "" if shape.stopped or dice.random() < 0.5 else dice.choice(OPERATIONS)
    return _consistent(replace(shape, operation=operation))


def _automatic(seed: int, dice: Random) -> Shape:
    """AKS Automatic: Cilium, node auto-provisioning, Azure RBAC, lockdown; Azure may host the system pods."""
    hosted = dice.random() < 0.5
    access = dice.choice(("public", "vnet-integration", "private-vnet-integration"))
    shape = Shape(
        seed=seed,
        network="cilium",
        own_subnet=access != "public",
        outbound="managedNATGateway" if access == "public" else dice.choice(("loadBalancer", "userAssignedNATGateway")),
        access=access,
        reach=_reach(access, dice),
        sku="Automatic",
        hosted=hosted,
        auto=dice.choice((1, 2, 4)),
        auth="azure-rbac",
        pools=() if hosted else (PoolShape("systempool", "system", 3),),
        past=_some(PAST, dice),
        guards=_some(GUARDS, dice),
        inside=_some(INSIDE, dice),
        oddities=_some(ODDITIES, dice) - {"service-principal"},
    )
    return _consistent(shape)


def _legacy(seed: int, dice: Random) -> Shape:
    """An old cluster with one availability set, from before scale sets."""
    network = dice.choice(("kubenet", "flat"))
    shape = Shape(
        seed=seed,
        network=network,
        own_subnet=network == "flat",
        auto=-1,
        legacy=True,
        stopped=dice.random() < 0.1,
        pools=(PoolShape("nodepool1", "availability-set", dice.choice((1, 3, 5)), ""),),
        past=_some(PAST, dice) - {"autoscaled"},
        guards=_some(GUARDS, dice),
        inside=_some(INSIDE, dice),
        oddities=_some(ODDITIES, dice),
    )
    return _consistent(shape)


def _pools(network: str, dice: Random) -> tuple[PoolShape, ...]:
    system = PoolShape("system", "system", dice.choice((2, 3)), dice.choice(("10%", "1", "33%", "")))
    allowed = [one for one in USER_POOLS if one != "windows" or network not in ("kubenet", "cilium", "none")]
    kinds = dice.sample(allowed, dice.choice((0, 1, 1, 2, 2, 3)))
    names = {"windows": "win", "spot-evicted": "spotty", "machines-autoscaled": "mixauto", "machines": "mix"}
    return (
        system,
        *(
            PoolShape(names.get(kind, kind[:11]), kind, dice.randint(1, 5), dice.choice(("10%", "1", "33%", "0")))
            for kind in kinds
        ),
    )


def _reach(access: str, dice: Random) -> str:
    """How the bot reaches the API server: a private one not directly; authorized ranges may include the bot or not."""
    if access.startswith("private"):
        return dice.choices(("directly", "run-command", "out"), (5, 2, 1))[0]
    return dice.choices(("directly", "out"), (5, 1))[0] if access == "ranges" else "directly"


def _some(of: tuple[str, ...], dice: Random) -> frozenset[str]:
    return frozenset(one for one in of if dice.random() < 0.25)


def _consistent(shape: Shape) -> Shape:
    """Remove incompatible combinations."""
    inside, oddities, operation = set(shape.inside), set(shape.oddities), shape.operation
    if shape.network not in ("overlay", "flat", "kubenet") or shape.sku == "Automatic":
        inside.discard("calico")
    if shape.network != "flat" or shape.legacy:
        inside.discard("virtual-node")
    if shape.stopped or shape.legacy or not any(pool.kind in SCALE_SETS for pool in shape.pools):
        inside.discard("joining-node")
    if not shape.own_subnet:
        oddities -= {"hub-subscription", "tight-subnet"}
    if "service-principal" in oddities:
        oddities.discard("user-identity")
    growing = [pool for pool in shape.pools if pool.kind in ("plain", "autoscaled", "system")]
    if not growing or shape.legacy:
        operation = ""
    if operation == "deleting-pool" and not any(pool.kind == "plain" for pool in shape.pools):
        operation = "creating-pool"
    if operation == "slow-upgrade" and not any(pool.kind == "plain" for pool in shape.pools):
        operation = "upgrade"
    if operation == "autoscaling" and not any(pool.kind == "autoscaled" for pool in shape.pools):
        operation = "scaling"
    return replace(shape, inside=frozenset(inside), oddities=frozenset(oddities), operation=operation)
