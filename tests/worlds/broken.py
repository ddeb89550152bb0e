"""A generated cluster with one or two causes and a failure, with or without an error from Azure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from tests.worlds.build import Cluster, build
from tests.worlds.ids import NEXT_VERSION, Body, guid
from tests.worlds.named import FORMS, INTERNAL, NAMED, OTHERS, WRAPPERS
from tests.worlds.past import CLUSTER_WRITE, POOL_WRITE, SET_WRITE, Scribe
from tests.worlds.planted import CAUSES, FAILED
from tests.worlds.pools import Pool
from tests.worlds.shape import PoolShape, Shape, draw

POOL = "apps"
STORAGE_WRITE = "Microsoft.Storage/storageAccounts/write"
OPERATIONS = ("scale", "upgrade", "reconcile")
DECOYS = ("", "", "refused later", "older failure of another pool", "failed sibling")
"""Misleading activity log entries: a request that was rejected immediately changed nothing; another pool's failure is
over; other failures with the same correlation id are less specific than the resource's own error."""
WHERE = ("status", "log", "both", "node log")
"""Where the error is: on the resource, in its activity log, in both, or only in the scale set's log."""


@dataclass(frozen=True, slots=True)
class Broken:
    """What is wrong with a cluster, and Azure's error for it."""

    shape: Shape
    causes: tuple[str, ...] = ()
    operation: str = "scale"
    failed: tuple[str, ...] = ("pool",)
    """`pool`, `cluster`, or both."""
    says: str = ""
    """Empty, `internal`, a wrapper, or the code of the finding that Azure's error names."""
    form: str = "plain"
    where: str = "both"
    decoy: str = ""
    speaks_of: str = ""
    """What the decoy's error names."""

    @property
    def named(self) -> str:
        """The code of the finding that Azure named."""
        return self.says if self.says in NAMED or self.says in OTHERS else ""

    @property
    def azure_code(self) -> str:
        cluster = make(self)
        return str(_inner(self, cluster, the_pool(cluster))["code"])

    def __str__(self) -> str:
        failed = " and ".join(self.failed)
        what = f"  {failed} failed in a {self.operation}; planted: {', '.join(self.causes) or 'nothing'}"
        said = f"  Azure says: {self.says or 'nothing'} ({self.form}, in {self.where})"
        decoy = f"\n  beside it: {self.decoy} for {self.speaks_of}" if self.decoy else ""
        return f"{what}\n{said}{decoy}\n{self.shape}"

    def smaller(self) -> Iterator[Broken]:
        """Copies with one thing removed."""
        yield from (replace(self, causes=tuple(one for one in self.causes if one != gone)) for gone in self.causes)
        if len(self.failed) > 1:
            yield replace(self, failed=("pool",))
        if self.decoy:
            yield replace(self, decoy="")
        if self.form != "plain":
            yield replace(self, form="plain")
        if self.where != "both":
            yield replace(self, where="both")
        if self.operation != "reconcile":
            yield replace(self, operation="reconcile")
        for shape in self.shape.smaller():
            needs_subnet = "full-subnet" in self.causes
            if any(pool.name == POOL for pool in shape.pools) and (shape.own_subnet or not needs_subnet):
                yield replace(self, shape=shape)


def draw_broken(seed: int) -> Broken:
    """The broken world for a seed; deterministic."""
    dice = Random(f"broken {seed}")
    shape = _with_a_pool(draw(seed))
    failed = dice.choice((("pool",), ("cluster",), ("pool", "cluster"), ("pool", "cluster")))
    operation = dice.choice(OPERATIONS) if "pool" in failed else "reconcile"
    fit = [one for one in CAUSES if _fits(one, operation, shape)]
    locks = [one for one in fit if one.endswith("lock")]
    causes = dice.sample([one for one in fit if one not in locks] + locks[: dice.randint(0, 1)], dice.choice((1, 2, 2)))
    planted = [CAUSES[one][0] for one in causes if CAUSES[one][0] in NAMED and one != "new-lock"]
    possible = [code for code in NAMED if any(CAUSES[one][0] == code for one in fit)]
    says = dice.choice(
        [
            dice.choice(planted) if planted else "",
            dice.choice(planted) if planted else "internal",
            dice.choice(possible),
            dice.choice(list(OTHERS)),
            dice.choice(list(OTHERS)),
            dice.choice(["", "internal", *WRAPPERS]),
        ]
    )
    where = dice.choice(WHERE if "pool" in failed else WHERE[:3])
    decoy = dice.choice(DECOYS if where in ("status", "both") else DECOYS[:-1])
    other = dice.choice([one for one in (*possible, *OTHERS) if one != says])
    return Broken(shape, tuple(causes), operation, failed, says, dice.choice(list(FORMS)), where, decoy, other)


def _with_a_pool(shape: Shape) -> Shape:
    """A running, reachable cluster with no other operation, and a pool that can fail."""
    pools = (*(one for one in shape.pools if one.kind != "plain"), PoolShape(POOL, "plain", 3, "1"))
    inside = shape.inside - {"joining-node", "failed-debug-pod"}
    past = shape.past - {"old-failure", "refused-wish", "budget-refused-then-fine", "refused-then-fewer", "throttled"}
    oddities = shape.oddities - {"tight-quota", "tight-subnet", "small-pages", "service-principal"}
    return replace(
        shape, pools=pools, stopped=False, operation="", reach="directly", legacy=False, inside=inside, past=past,
        oddities=oddities, guards=shape.guards - {"lock-on-group"},
    )  # fmt: skip


def _fits(cause: str, operation: str, shape: Shape) -> bool:
    """Whether the operation could fail for this cause, so that Azure could name it."""
    if cause == "full-subnet":
        return shape.own_subnet and operation != "reconcile"
    if cause == "no-coredns":
        return not shape.hosted
    return {"full-quota": operation != "reconcile", "holding-budget": operation == "upgrade"}.get(cause, True)


def make(broken: Broken) -> Cluster:
    """Build the cluster with its causes, its failure and Azure's error."""
    cluster = build(broken.shape)
    pool = the_pool(cluster)
    _operate(broken, cluster, pool)
    for cause in broken.causes:
        CAUSES[cause][1](cluster, pool)
    inner = _inner(broken, cluster, pool)
    told = FORMS[broken.form](inner) if inner else {}
    correlation = guid(broken.shape.seed, "failed")
    scribe = Scribe(cluster.ids)
    if "pool" in broken.failed:
        body = cluster.resource(cluster.ids.pool(POOL))["properties"]
        _fail(broken, scribe, body, POOL_WRITE, cluster.ids.pool(POOL), told, correlation)
        if broken.where in ("node log", "both"):
            scribe.failed(SET_WRITE, cluster.ids.scale_set(POOL), FAILED, _status(told), correlation=correlation)
    if "cluster" in broken.failed:
        body = cluster.resource(cluster.ids.cluster)["properties"]
        _fail(broken, scribe, body, CLUSTER_WRITE, cluster.ids.cluster, told, correlation)
    if broken.decoy:
        _decoy(broken, cluster, pool, scribe, correlation)
    cluster.azure.events += scribe.events
    return cluster


def the_pool(cluster: Cluster) -> Pool:
    return next(pool for pool in cluster.pools if pool.name == POOL)


def _inner(broken: Broken, cluster: Cluster, pool: Pool) -> Body:
    says = {**NAMED, **OTHERS, **WRAPPERS, "internal": INTERNAL}.get(broken.says)
    return says(cluster, pool) if says else {}


def _decoy(broken: Broken, cluster: Cluster, pool: Pool, scribe: Scribe, correlation: str) -> None:
    ids = cluster.ids
    error = {**NAMED, **OTHERS}[broken.speaks_of](cluster, pool)
    subject = ids.pool(POOL) if "pool" in broken.failed else ids.cluster
    operation = POOL_WRITE if "pool" in broken.failed else CLUSTER_WRITE
    if broken.decoy == "refused later":
        scribe.refused(operation, subject, FAILED - timedelta(hours=1), error)
    elif broken.decoy == "failed sibling":
        sibling = f"{ids.compute}/providers/Microsoft.Storage/storageAccounts/logs{ids.seed}"
        scribe.failed(STORAGE_WRITE, sibling, FAILED + timedelta(minutes=3), _status(error), correlation=correlation)
    else:
        other = next((one.name for one in cluster.pools if one.name != POOL), "gone")
        scribe.failed(POOL_WRITE, ids.pool(other), FAILED + timedelta(hours=20), _status(error))
        scribe.ran(POOL_WRITE, ids.pool(other), FAILED + timedelta(hours=19))


def _operate(broken: Broken, cluster: Cluster, pool: Pool) -> None:
    properties = cluster.resource(cluster.ids.pool(POOL))["properties"]
    if broken.operation == "scale":
        properties["count"] = pool.count + 2
    if broken.operation == "upgrade":
        whole = cluster.resource(cluster.ids.cluster)["properties"]
        whole |= {"kubernetesVersion": NEXT_VERSION, "currentKubernetesVersion": NEXT_VERSION}
        properties["orchestratorVersion"] = NEXT_VERSION


def _fail(
    broken: Broken, scribe: Scribe, body: Body, operation: str, resource: str, told: Body, correlation: str
) -> None:
    body["provisioningState"] = "Failed"
    if told and broken.where in ("status", "both"):
        body["status"] = {"provisioningError": told}
    in_log = broken.where in ("log", "both")
    scribe.failed(operation, resource, FAILED, _status(told) if in_log else None, correlation=correlation)


def _status(told: Body) -> Body | None:
    """The final activity log status of an accepted operation."""
    if not told:
        return None
    outer = {"code": "ResourceOperationFailure", "message": "The operation completed with terminal state 'Failed'."}
    return {"status": "Failed", "error": {**outer, "details": [told]}}
