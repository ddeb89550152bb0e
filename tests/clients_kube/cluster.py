"""A small local API server with TLS whose responses are set by the test."""

from __future__ import annotations

import base64
import json
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trustme
import yaml
from aiohttp import web
from azure.core.credentials import AccessToken

from handlers.resource_id import ResourceId
from tests.clients.azure import Handler, PaperCredential, says

CLUSTER = ResourceId.parse(
    "/subscriptions/00000000-0000-0000-0000-0000000000a1/resourceGroups/rg-prod"
    "/providers/Microsoft.ContainerService/managedClusters/prod-weu"
)
CREDENTIAL = f"{CLUSTER}/listClusterUserCredential"
ENTRA_SCOPE = "6dae42f8-4368-4678-94ff-3960e28e3630/.default"


@dataclass
class Asked:
    """One received request."""

    method: str
    path: str
    query: dict[str, str]
    authorization: str
    subject: str
    body: bytes
    port: int


@dataclass
class LocalCluster:
    """Answers each request with the next of `answers` for its path (the last one stays), or with 404."""

    authority: trustme.CA = field(default_factory=trustme.CA)
    tokens: set[str] = field(default_factory=set)
    certificates: bool = False
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    on: dict[str, list[Handler]] = field(default_factory=dict)
    runner: web.AppRunner | None = None

    def reply(self, path: str, *handlers: Handler) -> None:
        self.on[path] = list(handlers)

    def paths(self) -> list[str]:
        return [one.path for one in self.asked]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        peer = request.transport.get_extra_info("peercert") if request.transport else None
        names = [value for row in (peer or {}).get("subject", ()) for key, value in row if key == "commonName"]
        name = request.transport.get_extra_info("peername") if request.transport else ("", 0)
        sent = request.headers.get("Authorization", "")
        self.asked.append(
            Asked(
                request.method, request.path, dict(request.query), sent, "".join(names), await request.read(), name[1]
            )
        )
        if self.tokens and sent.removeprefix("Bearer ") not in self.tokens:
            return await refuses(401, "Unauthorized", "Unauthorized")(request)
        line = self.on.get(request.path)
        if not line:
            return await refuses(404, "NotFound", "the server could not find the requested resource")(request)
        handler = line.pop(0) if len(line) > 1 else line[0]
        return await handler(request)

    async def start(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
        if self.certificates:
            context.verify_mode = ssl.CERT_REQUIRED
            self.authority.configure_trust(context)
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", self.serve)
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        self.url = f"https://127.0.0.1:{self.runner.addresses[0][1]}"

    async def stop(self) -> None:
        if self.runner:
            await self.runner.cleanup()

    def user_certificate(self) -> dict[str, str]:
        issued = self.authority.issue_cert(common_name="masterclient", organization_name="system:masters")
        return {
            "client-certificate-data": packed(b"".join(blob.bytes() for blob in issued.cert_chain_pems)),
            "client-key-data": packed(issued.private_key_pem.bytes()),
        }

    def kubeconfig(self, user: dict[str, Any], *, name: str = "prod-weu", server: str = "") -> dict[str, Any]:
        cluster = {
            "server": server or self.url,
            "certificate-authority-data": packed(self.authority.cert_pem.bytes()),
        }
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": f"clusterUser_rg-prod_{name}"}}],
            "current-context": name,
            "users": [{"name": f"clusterUser_rg-prod_{name}", "user": user}],
        }


def entra_user() -> dict[str, Any]:
    """The kubeconfig user for an Entra cluster: no key, but an exec plugin."""
    arguments = ["get-token", "--environment", "AzurePublicCloud", "--server-id", ENTRA_SCOPE.split("/")[0]]
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "kubelogin", "args": arguments}}


def credential(kubeconfig: dict[str, Any]) -> Handler:
    """The response of listClusterUserCredential."""
    value = packed(yaml.safe_dump(kubeconfig).encode())
    return says({"kubeconfigs": [{"name": "clusterUser", "value": value}]})


def packed(content: bytes) -> str:
    return base64.b64encode(content).decode()


def status(code: int, reason: str, message: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
        **more,
    }


def refuses(code: int, reason: str, message: str, **headers: str) -> Handler:
    return says(status(code, reason, message), code, **headers)


def page(*items: dict[str, Any], follows: str = "", kind: str = "PodList") -> Handler:
    meta = {"resourceVersion": "1000", **({"continue": follows, "remainingItemCount": 1} if follows else {})}
    return says({"kind": kind, "apiVersion": "v1", "metadata": meta, "items": list(items)})


def text(content: str, code: int = 200) -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=content, status=code, content_type="text/plain")

    return answer


def pod(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "shop", **more.pop("metadata", {})}, **more}


@dataclass
class EntraCredential(PaperCredential):
    """Returns tokens that contain their audience, and records the calls."""

    scopes: list[str] = field(default_factory=list)

    async def get_token(self, *scopes: str, claims: str | None = None, **more: Any) -> AccessToken:
        token = await super().get_token(*scopes, claims=claims, **more)
        self.scopes += scopes
        audience = "cluster" if scopes == (ENTRA_SCOPE,) else "azure"
        return AccessToken(f"{audience}-{self.scopes.count(scopes[0])}", token.expires_on)


def written(folder: Path, kubeconfig: dict[str, Any]) -> Path:
    file = folder / "config"
    file.write_text(json.dumps(kubeconfig))
    return file
