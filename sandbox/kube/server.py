"""The server: TLS on 127.0.0.1 with the cluster's own CA, a request log, and fault injection."""

from __future__ import annotations

import socket
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import parse_qsl

from sandbox.arm.faults import Fault
from sandbox.kube import disruption, kubeconfig
from sandbox.kube.access import Access
from sandbox.kube.answers import Answer, Call, User
from sandbox.kube.api import Api
from sandbox.kube.door import Door
from sandbox.kube.identity import Identity, Issuer
from sandbox.kube.kinds import Kind, UnknownKind
from sandbox.kube.pages import Pages
from sandbox.kube.place import parse
from sandbox.kube.prerendered import Prerendered
from sandbox.kube.request_log import LoggedRequest
from sandbox.kube.tls import ClientCertificate, ClusterAuthority
from sandbox.kube.world import ADMINISTRATORS, KubeWorld
from sandbox.local_server import HOST, LocalServer

__all__ = ["Fault", "KubeServer", "LoggedRequest"]

_ROOT = User("masterclient", (ADMINISTRATORS, "system:authenticated"))


class KubeServer(LocalServer[Door]):
    """A local Kubernetes API server. Without an issuer it accepts no Entra tokens, like a cluster without Entra."""

    def __init__(
        self,
        world: KubeWorld,
        *,
        issuer: Issuer | None = None,
        latency_s: float = 0.0,
        port: int = 0,
        name: str = "cluster",
        group: str = "group",
    ) -> None:
        self.world = world
        self.name, self.group = name, group
        pages = Pages(world)
        api = Api(world, Access(world), pages)
        super().__init__(Door(api, Identity(world, issuer), Prerendered(world, pages), latency_s), port)
        self._authority: ClusterAuthority | None = None

    # -- lifecycle --------------------------------------------------------------------------------------------

    async def _start(self, stack: AsyncExitStack, folder: Path) -> None:
        _count_budgets(self.world)
        self._authority = ClusterAuthority(folder)
        if self.world.reachable:
            await self._listen(stack, self._authority.server_context())
        else:
            self._port = _deaf_port(stack, self._port, listening=not self.world.refuses)

    # -- address and credentials ------------------------------------------------------------------------------

    @property
    def ca_file(self) -> Path:
        return self._running().ca_file

    @property
    def ca(self) -> bytes:
        """The cluster's CA certificate, as PEM."""
        return self._running().ca

    def client_certificate(self, user: str, *groups: str) -> ClientCertificate:
        """Issue a client certificate for a user of this cluster."""
        return self._running().client(user, *groups)

    def kubeconfig(self, *, role: str = "clusterUser", tenant: str = "", token: str = "") -> str:
        """The kubeconfig AKS returns for a role: for Entra if there is a tenant, else with a client certificate."""
        cluster = kubeconfig.Cluster(self.name, self.group, self.url, self.ca)
        if token:
            return kubeconfig.with_token(cluster, role, token)
        if tenant:
            return kubeconfig.with_entra(cluster, role, tenant)
        # In AKS both local accounts use the same cluster-admin certificate.
        return kubeconfig.with_certificate(cluster, role, self.client_certificate(_ROOT.name, ADMINISTRATORS))

    def _running(self) -> ClusterAuthority:
        if self._authority is None:
            raise RuntimeError("the server is not running")
        return self._authority

    # -- request log and faults -------------------------------------------------------------------------------

    @property
    def log(self) -> list[LoggedRequest]:
        return self._door.log

    def deny(self, user: str, verb: str, resource: str) -> None:
        """Deny requests of a user (by Kubernetes name, or the sandbox principal's name). Patterns are allowed."""
        self._door.api.access.taken_away.append((user, verb, resource))

    def expire_continue_tokens(self) -> None:
        """Expire all continue tokens issued so far."""
        self._door.api.pages.forget()

    # -- in-process access ------------------------------------------------------------------------------------

    def ask(self, path: str, *, user: User | None = None, accept: str = "") -> Answer:
        """Answer a GET from inside the cluster: no network involved, but the same permissions."""
        raw_path, _, raw_query = path.partition("?")
        query = dict(parse_qsl(raw_query, keep_blank_values=True))
        call = Call("GET", parse("GET", raw_path, query), query, accept, "", b"", user or _ROOT)
        return self._door.answer(call)

    def user_of(self, token: str) -> User:
        """The user of a token; 401 if it is invalid."""
        return self._door.identity.of_token(token)

    def kind_called(self, word: str) -> Kind | None:
        """Look up a kind by plural, singular or short name."""
        return self.world.kinds.by_word(word)

    def prerender(self, plural: str, *, limit: int = 500, fields: str = "") -> int:
        """Render all pages of a list now and return their number. Later writes do not change them."""
        kind = self.world.kinds.by_word(plural)
        if kind is None:
            raise UnknownKind(plural)
        above = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        path = f"{above}/{kind.plural}"
        call = Call("GET", parse("GET", path, {}), {}, "", "", b"", _ROOT)
        return self._door.prerendered.keep(kind, call, limit, fields)


def _count_budgets(world: KubeWorld) -> None:
    """Compute the status of a budget that has none."""
    for budget in world.every("poddisruptionbudgets", group="policy"):
        if "status" not in budget:
            world.put({**budget, "metadata": dict(budget["metadata"]), "status": disruption.counted(world, budget)})


def _deaf_port(stack: AsyncExitStack, port: int, *, listening: bool) -> int:
    """Reserve a port on which nothing answers: connections hang or are refused."""
    deaf = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
    deaf.bind((HOST, port))
    if listening:
        deaf.listen(64)
    return int(deaf.getsockname()[1])
