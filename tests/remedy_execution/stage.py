"""A test stage for fixes: local Azure and clusters, an executor, and a clock that advances on waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from handlers.clients.access import AzureAccess
from handlers.clients.arm.operation import Via
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.clients.kube.writer import KubeWriter
from handlers.model import Target
from handlers.remedy.acts.act import WriterClients
from handlers.remedy.execution import Execution, Phase
from handlers.remedy.executor import Checkpoint, Executor
from handlers.remedy.permit import Permit, granted
from handlers.remedy.plan import Plan, Risk, Step, Verb, Verify
from handlers.resource_id import ResourceId, last_name
from sandbox.arm.server import ArmServer
from sandbox.kube.server import KubeServer
from sandbox.objects import find_object
from tests.checking import cluster_id

Body = dict[str, Any]
MOST_PIECES = 400


@dataclass
class Clock:
    """Real time plus all simulated waits."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def wait(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


@dataclass
class ListLedger:
    """A ledger that keeps every saved state as text, so that loads go through serialization."""

    saved: list[str] = field(default_factory=list)

    async def save(self, execution: Execution) -> None:
        self.saved.append(execution.as_json())

    @property
    def last(self) -> Execution:
        return Execution.from_json(self.saved[-1])


@dataclass
class FileLedger:
    """A ledger on disk, so that another process can continue."""

    file: Path

    async def save(self, execution: Execution) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(execution.as_json())
        new.replace(self.file)

    def load(self) -> Execution:
        return Execution.from_json(self.file.read_text())


@dataclass(frozen=True)
class Doors:
    """The addresses of both servers, for use by another process."""

    cluster: str
    reader: dict[str, str]
    writer: dict[str, str]

    @asynccontextmanager
    async def write_clients(self) -> AsyncIterator[WriterClients]:
        target = Target(ResourceId.parse(self.cluster))
        async with (
            ArmWriter(access_of(self.writer)) as writer,
            ArmReader(access_of(self.reader), fresh_for_s=0) as reader,
            KubeReader(target, reader, KubeAccess()) as nodes,
            ArmReader(access_of(self.writer), fresh_for_s=0) as writer_permissions,
            KubeWriter(target, writer_permissions, KubeAccess()) as kube,
        ):
            yield WriterClients(writer, reader, nodes, kube)


def access_of(environment: dict[str, str]) -> AzureAccess:
    return AzureAccess(
        resource_manager=environment["AKSBOT_AZURE_RESOURCE_MANAGER"],
        authority=environment["AKSBOT_AZURE_AUTHORITY"],
        ca_bundle=Path(environment["AKSBOT_CA_BUNDLE"]),
        identity=environment,
    )


@dataclass
class Stage:
    """One cluster of a running sandbox."""

    azure: ArmServer
    name: str
    clock: Clock = field(default_factory=Clock)
    ledger: ListLedger = field(default_factory=ListLedger)

    @property
    def cluster(self) -> str:
        return str(cluster_id(self.azure.world, self.name))

    @property
    def kube(self) -> KubeServer:
        """The cluster's API server. For Nexus clusters and bridges, any other one, which must get no writes."""
        servers = self.azure.kube
        return servers.get(self.cluster.lower()) or next(iter(servers.values()))

    def pool(self, name: str) -> str:
        key = f"{self.cluster}/agentPools/{name}".lower()
        return str(self.azure.world.resources[key]["id"])

    def resource(self, identity: str) -> Body:
        return self.azure.world.resources[identity.lower()]

    def tag(self, identity: str) -> str:
        body = self.resource(identity)
        return str(body.get("eTag") or body["properties"].get("eTag"))

    @property
    def writes(self) -> list[tuple[str, str]]:
        """The writes sent to Azure, in order."""
        return [(one.method, one.path) for one in self.azure.log if one.is_write and one.principal]

    @property
    def kube_writes(self) -> list[tuple[str, str]]:
        return [(one.method, one.path) for one in self.kube.log if one.is_write]

    def inside(self, identity: str) -> Body | None:
        """An object in the cluster, by `namespace/Kind/name`."""
        return find_object(self.azure.world.kubes[self.cluster.lower()], identity)

    @asynccontextmanager
    async def executor(self, checkpoint: Checkpoint | None = None, permit: Permit = granted) -> AsyncIterator[Executor]:
        more: dict[str, Any] = {"checkpoint": checkpoint} if checkpoint else {}
        async with self.doors().write_clients() as write_clients:
            yield Executor(write_clients, now=self.clock.now, permit=permit, **more)

    def doors(self) -> Doors:
        return Doors(self.cluster, self.azure.environment("reader"), self.azure.environment("writer"))

    async def run(
        self,
        plan: Plan | Execution,
        checkpoint: Checkpoint | None = None,
        between: Callable[[Execution], Awaitable[Execution | None]] | None = None,
        permit: Permit = granted,
    ) -> Execution:
        """Run the fix to its end in pieces, each starting from the saved state."""
        here = plan if isinstance(plan, Execution) else replace(Execution.begin("fix-1", plan), began=self.clock.now())
        async with self.executor(checkpoint, permit) as executor:
            for _ in range(MOST_PIECES):
                here = await executor.advance(here, self.ledger)
                if here.ended:
                    return here
                self.clock.wait(here.wait_s)
                if here.phase is Phase.INTENDED or here.data.get("via") == Via.RESOURCE:
                    # Operations proceed even if nobody polls them.
                    self.azure.finish_operations()
                here = Execution.from_json(here.as_json())
                if between is not None:
                    here = await between(here) or here
        raise AssertionError(
            f"it never ends: step {here.step}, {here.phase}, {[note.says for note in here.notes][-5:]}"
        )

    def plan(self, *steps: Step, limit: timedelta = timedelta(hours=1)) -> Plan:
        return a_plan(*steps, cluster=self.cluster, limit=limit)

    def put_pool(self, name: str, etag: str | None = None) -> Step:
        pool = self.pool(name)
        return step(Verb.PUT_POOL_AS_READ, pool, etag=self.tag(pool) if etag is None else etag)

    def put_cluster(self, *, etag: str | None = None, without: tuple[str, ...] = ()) -> Step:
        above = f"{self.cluster}/agentPools/".lower()
        pools = [body for key, body in self.azure.world.resources.items() if key.startswith(above)]
        tags = {body["id"]: self.tag(body["id"]) for body in pools if body["name"] not in without}
        return step(
            Verb.PUT_CLUSTER_AS_READ, self.cluster, etag=self.tag(self.cluster) if etag is None else etag, pools=tags
        )

    def update(self, machine: Body) -> Step:
        scale_set = machine["id"].rsplit("/", 2)[0]
        return step(
            Verb.UPDATE_INSTANCE,
            scale_set,
            instance_id=machine["instanceId"],
            machine=machine["id"],
            node=machine["properties"]["osProfile"]["computerName"],
        )


def a_plan(*steps: Step, cluster: str, limit: timedelta = timedelta(hours=1)) -> Plan:
    return Plan(
        remedy="a-remedy",
        title="A fix",
        cluster=cluster,
        target=steps[0].target,
        steps=steps,
        before={},
        undo="nothing to undo",
        verify=Verify("nodepool-failed", steps[0].target),
        risk=Risk.LOW,
        could_go_wrong=(),
        eta=timedelta(minutes=5),
        limit=limit,
    )


def step(verb: Verb, target: str, *, always: bool = False, **arguments: Any) -> Step:
    return Step(verb, target, f"{verb} {last_name(target)}", f"{verb} {target}", "az …", arguments, always)
