"""Reads as the writer's identity, only to learn what it may do. It never writes; `ArmWriter` does."""

from __future__ import annotations

import base64
import binascii
import json

from handlers.clients.arm.reader import ArmReader


class WriterPermissionReader(ArmReader):
    """An ArmReader that signs in as the writer. A type of its own, so that no collector confuses the two."""

    async def object_id(self) -> str:
        """The identity's object id in Entra, from the token's claims; empty if they do not say.

        The token is for Azure, and Azure validates it. It is read here only to find the rules that apply to this
        identity.
        """
        tokens = self._pipe.tokens
        claims = _claims(await tokens.current("the writer's token")) if tokens else {}
        found = claims.get("oid")
        return found.lower() if isinstance(found, str) else ""


def _claims(token: str) -> dict[str, object]:
    middle = token.split(".")[1] if token.count(".") == 2 else ""
    try:
        claims = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}
