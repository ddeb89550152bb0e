"""The token endpoint: Entra v1, Entra v2 and ADFS, plus the discovery documents."""

from __future__ import annotations

import hmac
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sandbox.arm.answers import Answer
from sandbox.arm.tokens import ARM_AUDIENCES, Tokens, find_principal
from sandbox.world import World

Body = dict[str, Any]

_COMMON = ("common", "organizations")


@dataclass
class Entra:
    """Issues tokens to the world's principals."""

    world: World
    tokens: Tokens
    url: str = ""

    # -- discovery --------------------------------------------------------------------------------------------

    def answer(self, method: str, path: str, form: Mapping[str, str]) -> Answer | None:
        """The response to a request to the authority; None if the path does not belong to it."""
        parts = [part for part in path.split("/") if part]
        tenant, rest = (parts[0], "/".join(parts[1:]).lower()) if parts else ("", "")
        if method == "GET" and rest.endswith(".well-known/openid-configuration"):
            return self._checked(tenant) or self._configuration(tenant, rest.startswith("v2.0"))
        if method == "GET" and rest == "discovery/instance":
            return self._instances()
        if method == "POST" and rest in ("oauth2/v2.0/token", "oauth2/token"):
            return self._checked(tenant) or self.token(form, adfs=tenant.lower() == "adfs")
        return None

    def _checked(self, tenant: str) -> Answer | None:
        if tenant.lower() in (self.world.tenant_id.lower(), "adfs", *_COMMON):
            return None
        return self._error(
            400,
            "invalid_request",
            90002,
            f"Tenant '{tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the "
            "correct cloud. Check with your subscription administrator, this may happen if there are no active "
            "subscriptions for the tenant.",
        )

    def _configuration(self, tenant: str, second: bool) -> Answer:
        version = "/v2.0" if second else ""
        home = f"{self.url}/{tenant}"
        named = self.world.tenant_id if tenant.lower() in _COMMON else tenant
        body = {
            "token_endpoint": f"{home}/oauth2{version}/token",
            "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt", "client_secret_basic"],
            "jwks_uri": f"{home}/discovery{version}/keys",
            "response_modes_supported": ["query", "fragment", "form_post"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "response_types_supported": ["code", "id_token", "code id_token", "id_token token"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "issuer": f"{self.url}/{named}{version}",
            "authorization_endpoint": f"{home}/oauth2{version}/authorize",
            "device_authorization_endpoint": f"{home}/oauth2{version}/devicecode",
            "tenant_region_scope": "EU",
            "cloud_instance_name": self.url.removeprefix("https://"),
        }
        return Answer(200, body)

    def _instances(self) -> Answer:
        host = self.url.removeprefix("https://")
        body = {
            "tenant_discovery_endpoint": f"{self.url}/{self.world.tenant_id}/v2.0/.well-known/openid-configuration",
            "api-version": "1.1",
            "metadata": [{"preferred_network": host, "preferred_cache": host, "aliases": [host]}],
        }
        return Answer(200, body)

    # -- tokens -----------------------------------------------------------------------------------------------

    def token(self, form: Mapping[str, str], *, adfs: bool = False) -> Answer:
        """The client credentials flow."""
        for refusal in (self._refused_grant, self._refused_client, self._refused_resource):
            answer = refusal(form)
            if answer is not None:
                return answer
        principal = find_principal(self.world, form.get("client_id", ""))
        audience = _audience(form)
        if principal is None or audience is None:
            raise AssertionError("a form without a client or a resource was refused before")
        body: Body = {
            "token_type": "Bearer",
            "expires_in": self.tokens.lifetime_s,
            "ext_expires_in": self.tokens.lifetime_s,
            "access_token": self.tokens.issue(principal, audience),
        }
        if "resource" in form and not adfs:
            now = int(time.time())
            body |= {
                "expires_on": str(now + self.tokens.lifetime_s),
                "not_before": str(now),
                "resource": form["resource"],
            }
            body["expires_in"] = str(self.tokens.lifetime_s)
        return Answer(200, body)

    def _refused_grant(self, form: Mapping[str, str]) -> Answer | None:
        grant = form.get("grant_type", "")
        if grant == "client_credentials":
            return None
        return self._error(
            400,
            "unsupported_grant_type",
            70003,
            f"The app requested an unsupported grant type '{grant[:64]}'.",
        )

    def _refused_client(self, form: Mapping[str, str]) -> Answer | None:
        client = form.get("client_id", "")
        principal = find_principal(self.world, client)
        if principal is None:
            return self._error(
                400,
                "unauthorized_client",
                700016,
                f"Application with identifier '{client[:64]}' was not found in the directory 'Contoso'. This can "
                "happen if the application has not been installed by the administrator of the tenant or consented to "
                "by any user in the tenant. You may have sent your authentication request to the wrong tenant.",
            )
        if "client_secret" not in form:
            return self._error(
                401,
                "invalid_client",
                7000216,
                "'client_assertion', 'client_secret' or 'request' is required for the 'client_credentials' grant type.",
            )
        if not hmac.compare_digest(form["client_secret"].encode(), principal.secret.encode()):
            return self._error(
                401,
                "invalid_client",
                7000215,
                "Invalid client secret provided. Ensure the secret being sent in the request is the client secret "
                f"value, not the client secret ID, for a secret added to app '{client}'.",
            )
        return None

    def _refused_resource(self, form: Mapping[str, str]) -> Answer | None:
        audience = _audience(form)
        if audience is not None and (audience in ARM_AUDIENCES or audience.startswith(("https://", "api://", "6dae"))):
            return None
        named = form.get("scope") or form.get("resource") or ""
        if audience is None and form.get("scope"):
            return self._error(
                400,
                "invalid_scope",
                1002012,
                f"The provided value for scope {named[:200]} is not valid. Client credential flows must have a scope "
                "value with /.default suffixed to the resource identifier (application ID URI).",
            )
        return self._error(
            400,
            "invalid_resource",
            500011,
            f"The resource principal named {named[:200]} was not found in the tenant named Contoso. This can happen if "
            "the application has not been installed by the administrator of the tenant or consented to by any user in "
            "the tenant. You might have sent your authentication request to the wrong tenant.",
        )

    def _error(self, status: int, error: str, code: int, text: str) -> Answer:
        trace, correlation = uuid.uuid4(), uuid.uuid4()
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        body = {
            "error": error,
            "error_description": f"AADSTS{code}: {text} Trace ID: {trace} Correlation ID: {correlation} "
            f"Timestamp: {now}",
            "error_codes": [code],
            "timestamp": now,
            "trace_id": str(trace),
            "correlation_id": str(correlation),
            "error_uri": f"{self.url}/error?code={code}",
        }
        return Answer(status, body)


def _audience(form: Mapping[str, str]) -> str | None:
    """The token's audience: `resource`, or the scope without `/.default`."""
    if "resource" in form:
        return form["resource"] or None
    scope = form.get("scope", "").split(" ")[0]
    return scope.removesuffix("/.default") if scope.endswith("/.default") else None


def is_authority(path: str) -> bool:
    """Whether a path belongs to the authority: ARM paths start with subscriptions, providers or tenants."""
    ends = (".well-known/openid-configuration", "/oauth2/token", "/oauth2/v2.0/token", "common/discovery/instance")
    return path.lower().strip("/").endswith(ends)


def route(path: str) -> str:
    """The route template of an authority path: the tenant is replaced, `adfs` and `common` are kept."""
    first, *rest = [part for part in path.split("/") if part]
    shown = first.lower() if first.lower() in ("adfs", "common") else "{}"
    return "/" + "/".join([shown, *rest])
