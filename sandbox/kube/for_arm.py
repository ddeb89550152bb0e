"""The ARM actions that need a cluster's API server: listing credentials and run-command."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from sandbox.arm import audit_trail, errors
from sandbox.arm.answers import Answer, Refusal
from sandbox.arm.paths import parse
from sandbox.arm.site import Call, Handler, Site
from sandbox.kube import answers, kubeconfig
from sandbox.kube.command.get import Asker
from sandbox.kube.command.script import Outcome, run, told
from sandbox.kube.identity import Issuer
from sandbox.kube.server import KubeServer
from sandbox.kube.world import stamp
from sandbox.world import Principal, World

Body = dict[str, Any]

_CLUSTER = "Microsoft.ContainerService/managedClusters"
_MONITORING = "clusterMonitoringUser"


@dataclass
class _Command:
    """One command and its result."""

    cluster: str
    polls: int
    result: Body


@dataclass
class ClusterInsides:
    """The API servers behind one ARM, by lower-case cluster id."""

    servers: Mapping[str, KubeServer]
    _commands: dict[str, _Command] = field(default_factory=dict)

    def handlers(self) -> dict[str, Handler]:
        """The handlers of these actions, by resource type."""
        return {
            f"{_CLUSTER}/listClusterUserCredential": lambda site, call: self._credential(site, call, "clusterUser"),
            f"{_CLUSTER}/listClusterAdminCredential": lambda site, call: self._credential(site, call, "clusterAdmin"),
            f"{_CLUSTER}/listClusterMonitoringUserCredential": lambda site, call: self._credential(
                site, call, _MONITORING
            ),
            f"{_CLUSTER}/runCommand": self._run,
            f"{_CLUSTER}/commandResults": self._result,
        }

    def _server(self, call: Call) -> tuple[str, KubeServer]:
        cluster = parse(call.place.parent).key
        server = self.servers.get(cluster)
        if server is None:
            raise errors.wrapped(501, "NotImplemented", f"No API server is behind '{call.place.parent}' here.")
        return cluster, server

    # -- credentials ------------------------------------------------------------------------------------------

    def _credential(self, site: Site, call: Call, role: str) -> Answer:
        cluster, server = self._server(call)
        properties = site.world.resources[cluster]["properties"]
        entra = takes_entra(properties)
        if properties.get("disableLocalAccounts") and (role != "clusterUser" or not entra):
            text = "Getting static credential is not allowed because this cluster is set to disable local accounts."
            raise errors.aks(400, "BadRequest", text)
        tenant = str((properties.get("aadProfile") or {}).get("tenantID") or site.world.tenant_id)
        text = server.kubeconfig(role=role, tenant=tenant if entra and role == "clusterUser" else "")
        row = {"name": role, "value": base64.b64encode(text.encode()).decode()}
        return Answer(200, {"kubeconfigs": [row]}, aks=True)

    # -- commands ---------------------------------------------------------------------------------------------

    def _run(self, site: Site, call: Call) -> Answer:
        cluster, server = self._server(call)
        sent = call.json()
        properties = site.world.resources[cluster]["properties"]
        _check_command(sent, properties)
        settings = server.world.run_commands
        name = call.request_id.replace("-", "")
        audit_trail.record(site, call, "Started")
        if settings.never_starts:
            refusal = _not_started(name)
            audit_trail.record(site, call, "Failed", code=refusal.answer.status, error=refusal.answer.body)
            raise refusal
        token = sent.get("clusterToken", "") if takes_entra(properties) else None
        self._commands[name] = _Command(cluster, settings.polls, _finished(server, name, sent["command"], token))
        audit_trail.record(site, call, "Succeeded")
        return Answer(202, headers={"Location": _location(site, call, name)}, aks=True)

    def _result(self, site: Site, call: Call) -> Answer:
        """202 while it runs, then the result; polled by command id."""
        name = call.place.name
        command = self._commands.get(name)
        if command is None or command.cluster != parse(call.place.parent).key:
            raise errors.aks(404, "NotFound", f"command id: {name} not found")
        if command.polls > 0:
            command.polls -= 1
            running = {"id": name, "properties": {"provisioningState": "Running"}}
            return Answer(202, running, {"Location": _location(site, call, name)}, aks=True)
        return Answer(200, command.result, aks=True)


@dataclass(frozen=True, slots=True)
class _EntraOf:
    """Entra sign-in for one cluster: it accepts no tokens unless the cluster has Entra integration."""

    world: World
    cluster: str
    tokens: Issuer

    def principal_of(self, token: str, audiences: tuple[str, ...]) -> Principal | None:
        properties = self.world.resources.get(self.cluster, {}).get("properties", {})
        return self.tokens.principal_of(token, audiences) if takes_entra(properties) else None


async def start_api_servers(stack: AsyncExitStack, world: World, tokens: Issuer) -> dict[str, KubeServer]:
    """Start an API server for each cluster that has a KubeWorld; they stop when the stack exits."""
    servers: dict[str, KubeServer] = {}
    for key, kube in world.kubes.items():
        cluster, place = key.lower(), parse(world.resources.get(key.lower(), {}).get("id", key))
        server = KubeServer(kube, issuer=_EntraOf(world, cluster, tokens), name=place.name, group=place.group or "")
        servers[cluster] = await stack.enter_async_context(server)
    return servers


def site_kubeconfig_of(servers: Mapping[str, KubeServer], world: World) -> str:
    """One kubeconfig for the clusters on premises, signed in with Entra; empty if there are none."""
    on_site = [server for cluster, server in servers.items() if f"/{_CLUSTER.lower()}/" not in cluster]
    return kubeconfig.joined(server.kubeconfig(tenant=world.tenant_id) for server in on_site) if on_site else ""


def kubeconfig_of(servers: Mapping[str, KubeServer], world: World, token: str) -> str:
    """One kubeconfig for all of these clusters, authenticated with this token."""
    texts = []
    for cluster, server in servers.items():
        entra = takes_entra(world.resources.get(cluster, {}).get("properties", {}))
        texts.append(server.kubeconfig(token=token if entra else ""))
    return kubeconfig.joined(texts)


def takes_entra(properties: Mapping[str, Any]) -> bool:
    """Whether a cluster uses Entra authentication."""
    profile = properties.get("aadProfile") or {}
    return bool(profile.get("managed") or profile.get("tenantID") or properties.get("aadConfiguration"))


def _check_command(sent: Any, properties: Mapping[str, Any]) -> None:
    if not isinstance(sent, dict) or not isinstance(sent.get("command"), str) or not sent["command"].strip():
        raise errors.aks(400, "InvalidParameter", "Required parameter command is missing (null).", target="command")
    if (properties.get("apiServerAccessProfile") or {}).get("disableRunCommand"):
        raise errors.aks(400, "RunCommandDisabled", "Run command is disabled on this cluster.")
    if (properties.get("powerState") or {}).get("code") == "Stopped":
        raise errors.aks(400, "OperationNotAllowed", "Run command is not allowed on a cluster that is stopped.")
    if takes_entra(properties) and not sent.get("clusterToken"):
        text = "This cluster have Azure Active Directory enabled, .clusterToken is required."
        raise errors.aks(400, "MissingAADClusterToken", text)


def _not_started(name: str) -> Refusal:
    return errors.aks(
        404,
        "KubernetesPerformanceError",
        f"Failed to run command due to cluster perf issue, container command-{name} in aks-command namespace did not "
        "start within 30s on your cluster, retry may helps. If issue persist, you may need to tune your cluster with "
        "better performance (larger node/paid tier).",
    )


def _location(site: Site, call: Call, name: str) -> str:
    place = call.place
    return (
        f"{site.url}/subscriptions/{place.subscription}/resourceGroups/{place.group}/providers/"
        # AKS returns it in lower case here, regardless of the request.
        f"Microsoft.ContainerService/managedclusters/{place.names[0]}/commandResults/{name}?api-version={call.version}"
    )


def _finished(server: KubeServer, name: str, script: str, token: str | None) -> Body:
    now = stamp(server.world.clock())
    settings = server.world.run_commands
    if settings.fails:
        properties = {"provisioningState": "Failed", "reason": settings.fails, "startedAt": now, "finishedAt": now}
        return {"id": name, "properties": properties}
    outcome = _outcome(server, script, token)
    logs = outcome.logs.encode()[: settings.output_limit].decode(errors="ignore")
    done = {"provisioningState": "Succeeded", "exitCode": outcome.exit_code}
    return {"id": name, "properties": {**done, "startedAt": now, "finishedAt": now, "logs": logs}}


def _outcome(server: KubeServer, script: str, token: str | None) -> Outcome:
    try:
        user = server.user_of(token) if token is not None else None
    except answers.Refusal as refusal:
        return Outcome(1, f"{told(refusal)}\n")
    return run(script, Asker(lambda path, accept: server.ask(path, user=user, accept=accept), server.kind_called))
