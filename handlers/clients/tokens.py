"""One access token for everything that one reader or writer sends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from azure.core.exceptions import AzureError, ClientAuthenticationError, ServiceRequestError, ServiceResponseError

from handlers.clients.credential import NoCredential
from handlers.clients.errors import ArmError, CredentialRefused, Unreachable
from handlers.clients.redact import redact_text
from runbooks.linear import compile_linear

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

EARLY_S = 300.0
"""A token is renewed this long before it ends (a short one: in its last tenth)."""
FAILURE_STANDS_S = 5.0
"""Thirty calls of one check must not knock thirty times with the same wrong secret."""

_AADSTS = compile_linear(r"AADSTS\d+")
_SAID = {
    "AADSTS7000215": "the client secret is wrong",
    "AADSTS7000222": "the client secret has expired",
    "AADSTS700016": "Entra does not know this client id in this tenant",
    "AADSTS90002": "Entra does not know this tenant",
    "AADSTS900023": "the tenant id is not one",
    "AADSTS7000112": "the application is disabled",
    "AADSTS70021": "no federated credential matches this workload's token",
    "AADSTS700024": "the workload's token has expired",
    "AADSTS53003": "a Conditional Access policy forbids it",
    "AADSTS700082": "the sign-in has expired: az login",
    "AADSTS50173": "the sign-in was revoked: az login",
}


class Tokens:
    """Fetches the token on first use; concurrent callers wait for the same fetch."""

    def __init__(self, make: Callable[[], AsyncTokenCredential], scope: str) -> None:
        self._make = make
        self._scope = scope
        self._credential: AsyncTokenCredential | None = None
        self._fetching = asyncio.Lock()
        self._token = ""
        self._renew_at = 0.0
        self._failed: tuple[type[ArmError], str, float] | None = None

    async def current(self, wanted: str) -> str:
        if time.time() < self._renew_at:
            return self._token
        async with self._fetching:
            if time.time() >= self._renew_at:
                await self._fetch(wanted, None)
            return self._token

    async def renew(self, stale: str, claims: str | None, wanted: str) -> str:
        """A token other than the stale one, even if the stale one has not expired by its own clock."""
        async with self._fetching:
            if self._token == stale:
                # azure-identity answers from its cache until the token expires; a new credential has an empty cache.
                await self.close()
                await self._fetch(wanted, claims)
            return self._token

    async def close(self) -> None:
        if self._credential is not None:
            await self._credential.close()
            self._credential = None

    async def _fetch(self, wanted: str, claims: str | None) -> None:
        if self._failed and time.monotonic() < self._failed[2]:
            raise self._failed[0](wanted, self._failed[1])
        try:
            self._credential = self._credential or self._make()
            wish = _decoded(claims) if claims else None
            token = await self._credential.get_token(self._scope, claims=wish, enable_cae=bool(wish))
        except (AzureError, NoCredential, ValueError, OSError) as error:
            kind, detail = Unreachable if _no_network(error) else CredentialRefused, why_no_token(error)
            self._failed = (kind, detail, time.monotonic() + FAILURE_STANDS_S)
            raise kind(wanted, detail) from error
        left = token.expires_on - time.time()
        self._token, self._renew_at = token.token, time.time() + left - min(EARLY_S, left / 10)


def why_no_token(error: Exception) -> str:
    """One sentence about why Entra issued no token."""
    text = redact_text(" ".join(str(error).split()))
    if isinstance(error, NoCredential):
        return text
    if _no_network(error):
        return f"no token: the sign-in service cannot be reached ({text[:200]})"
    code = _AADSTS.search(text)
    if code and code[0] in _SAID:
        return f"no token: {_SAID[code[0]]} ({code[0]})"
    return f"no token: {text[:300]}"


def _no_network(error: Exception) -> bool:
    unanswered = isinstance(error, (ServiceRequestError, ServiceResponseError))
    return unanswered and not isinstance(error, ClientAuthenticationError)


def _decoded(claims: str) -> str:
    """A challenge carries its claims in base64."""
    import base64
    import binascii

    try:
        return base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return claims
