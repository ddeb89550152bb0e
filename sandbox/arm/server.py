"""The server: TLS on 127.0.0.1, one door for ARM and Entra, a log of what came through it, and faults on demand."""

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
from sandbox.kube.for_arm import ClusterInsides, kubeconfig_of, start_api_servers
from sandbox.kube.identity import SERVER_ID
from sandbox.kube.server import KubeServer
from sandbox.local_server import LocalServer
from sandbox.world import Principal, World

__all__ = ["ArmServer", "Budget", "Fault", "LoggedRequest", "UnknownTypes"]


class UnknownTypes(ValueError):
    """The world holds resources of types that providers.yaml does not know: nobody could read them."""


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
        """The API servers of the world's clusters, by lower-case cluster id, while this runs."""

    # -- life -------------------------------------------------------------------------------------------------

    async def _start(self, stack: AsyncExitStack, folder: Path) -> None:
        _check_types(self.world)
        tls = local_tls(folder)
        await self._listen(stack, tls.server)
        self._ca_file = tls.ca_file
        self._door.entra.url = self._door.tokens.url = self._door.site.url = self.url
        self.kube = await start_api_servers(stack, self.world, self._door.tokens)
        self.answers.update(ClusterInsides(self.kube).handlers())

    # -- where it is and who may come -------------------------------------------------------------------------

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
        """The environment in which aksbot and azure-identity sign in here as this principal.

        Where the world has a `writer`, aksbot's fixes are carried out as that one, and whoever reads only reads.
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
            "AZURE_TENANT_ID": self.world.tenant_id,
            "AZURE_CLIENT_ID": principal.client_id,
            "AZURE_CLIENT_SECRET": principal.secret,
        }

    def token(self, name: str, audience: str = "") -> str:
        """A bearer token for requests that a test writes by hand; for ARM, or for another audience."""
        return self._door.tokens.issue(self.principal(name), audience or self.url)

    def kubeconfig(self, name: str) -> str:
        """One kubeconfig for all clusters, a context for each by its name; with tokens where they sign in with Entra.

        Nothing in Azure hands this out: it stands for what `az aks get-credentials` and kubelogin leave behind.
        """
        return kubeconfig_of(self.kube, self.world, self.token(name, SERVER_ID))

    # -- what came in, and what goes wrong --------------------------------------------------------------------

    @property
    def log(self) -> list[LoggedRequest]:
        """Every request, sign-in and discovery too."""
        return self._door.log

    @property
    def calls(self) -> list[LoggedRequest]:
        """The log without sign-in and discovery: what was asked of ARM."""
        return [entry for entry in self.log if entry.action]

    @property
    def answers(self) -> dict[str, Handler]:
        """POST actions that somebody else answers, by kind: credentials and run-command need a cluster."""
        return self._door.site.answers

    @property
    def budget(self) -> Budget:
        return self._door.budget

    def deny(self, name: str, action: str, scope: str = "/") -> None:
        """Take an action (a pattern) away from a principal, everywhere or below a scope."""
        self._door.site.access.taken_away.append((self.principal(name).name, action, scope))

    def expire_tokens(self) -> None:
        """From now on every token that was given out so far has expired."""
        self._door.tokens.expire_all()

    def finish_operations(self) -> None:
        """Let all long operations come to their end without being polled."""
        self._door.site.operations.finish_all()


def _check_types(world: World) -> None:
    places = (parse(body["id"]) for body in world.resources.values())
    unknown = {place.kind for place in places if place.types and catalogue().type(place.kind) is None}
    if unknown:
        raise UnknownTypes(f"add to sandbox/arm/providers.yaml: {', '.join(sorted(unknown))}")
