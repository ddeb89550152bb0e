"""Authentication: Entra tokens, client certificates and static tokens."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox.kube import statuses
from sandbox.kube.answers import ANONYMOUS, User
from sandbox.kube.place import Place
from sandbox.kube.world import KubeWorld
from sandbox.world import Principal

SERVER_ID = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""The Entra application shared by all AKS clusters: the audience of their tokens."""

_AUTHENTICATED = "system:authenticated"
_OPEN = ("/version", "/healthz", "/livez", "/readyz")
"""Paths that AKS allows to anonymous users."""


class Issuer(Protocol):
    """Validates Entra tokens."""

    def principal_of(self, token: str, audiences: tuple[str, ...]) -> Principal | None:
        """The principal of a token; None if it is forged, expired or for another audience."""
        ...


@dataclass(frozen=True)
class Identity:
    """Authenticates users. Without an issuer, the cluster accepts only its local accounts."""

    world: KubeWorld
    issuer: Issuer | None

    def who(self, headers: Mapping[str, str], certificate: Mapping[str, Any] | None, place: Place) -> User:
        """The user of a request; 401 if unknown, except on the few anonymous paths."""
        header = headers.get("Authorization", "")
        if header:
            return self._of_token(header)
        if certificate:
            return _of_certificate(certificate)
        if place.verb == "get" and place.path in _OPEN:
            return ANONYMOUS
        raise statuses.unauthorized()

    def of_token(self, token: str) -> User:
        """The user of a bearer token."""
        return self._of_token(f"Bearer {token}")

    def _of_token(self, header: str) -> User:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise statuses.unauthorized()
        for account in self.world.accounts:
            if account.token and hmac.compare_digest(account.token.encode(), token.strip().encode()):
                groups = account.groups if _AUTHENTICATED in account.groups else (*account.groups, _AUTHENTICATED)
                return User(account.user, groups)
        principal = self.issuer.principal_of(token.strip(), (SERVER_ID,)) if self.issuer else None
        if principal is None:
            raise statuses.unauthorized()
        groups = (*self.world.entra_groups.get(principal.object_id, ()), _AUTHENTICATED)
        return User(principal.object_id, groups, alias=principal.name, extra={"oid": (principal.object_id,)})


def _of_certificate(certificate: Mapping[str, Any]) -> User:
    names = [pair for part in certificate.get("subject", ()) for pair in part]
    name = next((value for key, value in names if key == "commonName"), "")
    if not name:
        raise statuses.unauthorized()
    groups = tuple(value for key, value in names if key == "organizationName")
    return User(name, (*groups, _AUTHENTICATED))
