"""Access tokens: signed with a key generated per server, validated like ARM does."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sandbox.arm import errors
from sandbox.arm.answers import Refusal
from sandbox.world import Principal, World

Body = dict[str, Any]

ARM_AUDIENCES = (
    "https://management.core.windows.net/",
    "https://management.core.windows.net",
    "https://management.azure.com/",
    "https://management.azure.com",
)


def find_principal(world: World, client: str) -> Principal | None:
    return next((principal for principal in world.principals if principal.client_id.lower() == client.lower()), None)


@dataclass
class Tokens:
    """Issues and expires tokens."""

    world: World
    lifetime_s: int = 3599
    url: str = ""
    expired_before: int = 0
    """Tokens with a lower serial number count as expired, regardless of their `exp`."""
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _serial: int = 0

    def issue(self, principal: Principal, audience: str) -> str:
        """Issue a signed token with Entra's claims."""
        now = int(time.time())
        self._serial += 1
        claims = {
            "aud": audience,
            "iss": f"https://sts.windows.net/{self.world.tenant_id}/",
            "iat": now,
            "nbf": now,
            "exp": now + self.lifetime_s,
            "appid": principal.client_id,
            "appidacr": "1",
            "idtyp": "app",
            "oid": principal.object_id,
            "sub": principal.object_id,
            "tid": self.world.tenant_id,
            "ver": "1.0",
            "uti": str(self._serial),
        }
        head = _encoded(json.dumps({"typ": "JWT", "alg": "HS256"}).encode())
        body = _encoded(json.dumps(claims).encode())
        return f"{head}.{body}.{self._signature(head, body)}"

    def _signature(self, head: str, body: str) -> str:
        return _encoded(hmac.new(self._key, f"{head}.{body}".encode(), hashlib.sha256).digest())

    def expire_all(self) -> None:
        """Expire every token issued so far."""
        self.expired_before = self._serial + 1

    def authenticate(self, header: str | None) -> Principal:
        """The principal that sent a request, or ARM's 401."""
        if not header:
            raise self._unauthenticated(
                "AuthenticationFailed",
                "Authentication failed. The 'Authorization' header is missing.",
                "The authentication failed because of missing 'Authorization' header.",
            )
        scheme, _, token = header.partition(" ")
        claims = self._claims(token.strip()) if scheme.lower() == "bearer" else None
        if claims is None:
            raise self._invalid("InvalidAuthenticationToken", "The access token is invalid.")
        if claims["exp"] <= time.time() or int(claims["uti"]) < self.expired_before:
            until, now = _clock(claims["exp"]), _clock(time.time())
            raise self._invalid(
                "ExpiredAuthenticationToken",
                f"The access token expiry UTC time '{until}' is earlier than current UTC time '{now}'.",
            )
        allowed = (*ARM_AUDIENCES, self.url, f"{self.url}/")
        if claims["aud"] not in allowed:
            listed = ",".join(f"'{tenant}'" for tenant in allowed)
            raise self._invalid(
                "InvalidAuthenticationTokenAudience",
                f"The access token has been obtained for wrong audience or resource '{claims['aud']}'. It should "
                f"exactly match with one of the allowed audiences {listed}.",
            )
        principal = find_principal(self.world, claims["appid"])
        if principal is None:
            raise self._invalid("InvalidAuthenticationToken", "The access token is from an unknown client.")
        return principal

    def principal_of(self, token: str, audiences: tuple[str, ...]) -> Principal | None:
        """The principal of a token for another service than ARM; None if forged, expired or for another audience."""
        claims = self._claims(token)
        if claims is None or claims["aud"] not in audiences:
            return None
        if claims["exp"] <= time.time() or int(claims["uti"]) < self.expired_before:
            return None
        return find_principal(self.world, claims["appid"])

    def _claims(self, token: str) -> Body | None:
        parts = token.split(".")
        if len(parts) != 3 or not hmac.compare_digest(self._signature(parts[0], parts[1]), parts[2]):
            return None
        claims: Body = json.loads(_decoded(parts[1]))
        return claims

    def _unauthenticated(self, code: str, message: str, description: str) -> Refusal:
        return errors.unauthenticated(self.world.tenant_id, code, message, description)

    def _invalid(self, code: str, message: str) -> Refusal:
        return self._unauthenticated(code, message, message)


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%m/%d/%Y %H:%M:%S")
