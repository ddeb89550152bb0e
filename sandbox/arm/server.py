"""The server: TLS on 127.0.0.1, one Door for ARM and Entra, a request log, and fault injection."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from sandbox.arm.door import Door
from sandbox.arm.entra import Entra
from sandbox.arm.faults import Fault
from sandbox.arm.headers import Budget
from sandbox.arm.paths import parse
from sandbox.arm.providers import catalogue
from sandbox.arm.rbac import Access
from sandbox.arm.request_log import LoggedRequest
from sandbox.arm.site import Handler, Site
from sandbox.arm.tls import local_tls
from sandbox.arm.tokens import Tokens
from sandbox.kube.for_arm import ClusterInsides, kubeconfig_of, site_kubeconfig_of, start_api_servers
from sandbox.kube.identity import SERVER_ID
from sandbox.kube.server import KubeServer
from sandbox.local_server import LocalServer
from sandbox.logs.server import LogAnalyticsServer
from sandbox.world import Principal, World

__all__ = ["ArmServer", "Budget", "Fault", "LoggedRequest", "UnknownTypes"]


class UnknownTypes(ValueError):
    """The world has resources of types that are not in providers.yaml, so no client could read them."""


class ArmServer(LocalServer[Door]):
    """A local Azure Resource Manager with its token endpoint, on 127.0.0.1 only."""

    def __init__(
        self,
        world: World,
        latency_s: float = 0.0,
        port: int = 0,
        *,
        token_lifetime_s: int = 3599,
        page_size: int | None = None,
        budget: Budget | None = None,
    ) -> None:
        site = Site(world, Access(world), page_size=page_size)
        tokens = Tokens(world, token_lifetime_s)
        super().__init__(Door(site, Entra(world, tokens), tokens, budget or Budget(), latency_s=latency_s), port)
        self._ca_file: Path | None = None
        self.kube: dict[str, KubeServer] = {}
        """The API servers of the world's clusters, by lower-case cluster id, while the server runs."""
        self.log_analytics: LogAnalyticsServer | None = None
        """Its query API, while the server runs."""
        self.site_kubeconfig: Path | None = None
        """A context for each cluster on premises, which Azure hands out no credential for: AKSBOT_KUBECONFIG."""

    # -- lifecycle --------------------------------------------------------------------------------------------

    async def _start(self, stack: AsyncExitStack, folder: Path) -> None:
        _check_types(self.world)
        tls = local_tls(folder)
        await self._listen(stack, tls.server)
        self._ca_file = tls.ca_file
        self._door.entra.url = self._door.tokens.url = self._door.site.url = self.url
        self.kube = await start_api_servers(stack, self.world, self._door.tokens)
        logs = LogAnalyticsServer(self.world, self._door.site.access, self._door.tokens, tls.server)
        self.log_analytics = await stack.enter_async_context(logs)
        self.answers.update(ClusterInsides(self.kube).handlers())
        if text := site_kubeconfig_of(self.kube, self.world):
            self.site_kubeconfig = folder / "kubeconfig"
            self.site_kubeconfig.write_text(text)

    # -- address and credentials ------------------------------------------------------------------------------

    @property
    def ca_file(self) -> Path:
        if self._ca_file is None:
            raise RuntimeError("the server is not running")
        return self._ca_file

    @property
    def world(self) -> World:
        return self._door.site.world

    def principal(self, name: str) -> Principal:
        for candidate in self.world.principals:
            if candidate.name == name:
                return candidate
        known = ", ".join(principal.name for principal in self.world.principals) or "nobody"
        raise LookupError(f"no principal {name!r} in this world; there is {known}")

    def environment(self, name: str) -> dict[str, str]:
        """The environment variables with which aksbot and azure-identity sign in to this server as this principal.

        If the world has a `writer` principal, aksbot applies fixes as that one, and this principal is read-only.
        """
        principal = self.principal(name)
        writers = [principal for principal in self.world.principals if principal.name == "writer" and name == "reader"]
        own = {
            variable: value
            for writer in writers
            for variable, value in (
                ("AKSBOT_WRITER_CLIENT_ID", writer.client_id),
                ("AKSBOT_WRITER_CLIENT_SECRET", writer.secret),
            )
        }
        return {
            **own,
            "AKSBOT_AZURE_RESOURCE_MANAGER": self.url,
            "AKSBOT_AZURE_AUTHORITY": self.url,
            "AKSBOT_CA_BUNDLE": str(self.ca_file),
            **({"AKSBOT_LOG_ANALYTICS": self.log_analytics.url} if self.log_analytics else {}),
            **({"AKSBOT_KUBECONFIG": str(self.site_kubeconfig)} if self.site_kubeconfig else {}),
            "AZURE_TENANT_ID": self.world.tenant_id,
            "AZURE_CLIENT_ID": principal.client_id,
            "AZURE_CLIENT_SECRET": principal.secret,
        }

    def token(self, name: str, audience: str = "") -> str:
        """A bearer token for requests a test sends itself; for ARM unless another audience is given."""
        return self._door.tokens.issue(self.principal(name), audience or self.url)

    def kubeconfig(self, name: str) -> str:
        """One kubeconfig for all clusters, with one context per cluster name; Entra clusters get tokens.

        Azure has no such endpoint: this replaces the files that `az aks get-credentials` and kubelogin write.
        """
        return kubeconfig_of(self.kube, self.world, self.token(name, SERVER_ID))

    # -- request log and faults -------------------------------------------------------------------------------

    @property
    def log(self) -> list[LoggedRequest]:
        """Every request, including sign-in and discovery."""
        return self._door.log

    @property
    def calls(self) -> list[LoggedRequest]:
        """The log without sign-in and discovery: only requests to ARM."""
        return [entry for entry in self.log if entry.action]

    @property
    def answers(self) -> dict[str, Handler]:
        """POST actions handled outside ARM, by kind: credentials and run-command need a Kubernetes cluster."""
        return self._door.site.answers

    @property
    def budget(self) -> Budget:
        return self._door.budget

    def deny(self, name: str, action: str, scope: str = "/") -> None:
        """Deny an action (a pattern) to a principal, everywhere or below a scope."""
        self._door.site.access.taken_away.append((self.principal(name).name, action, scope))

    def expire_tokens(self) -> None:
        """Expire every token issued so far."""
        self._door.tokens.expire_all()

    def finish_operations(self) -> None:
        """Complete all long-running operations without polling."""
        self._door.site.operations.finish_all()


def _check_types(world: World) -> None:
    places = (parse(body["id"]) for body in world.resources.values())
    unknown = {place.kind for place in places if place.types and catalogue().type(place.kind) is None}
    if unknown:
        raise UnknownTypes(f"add to sandbox/arm/providers.yaml: {', '.join(sorted(unknown))}")
