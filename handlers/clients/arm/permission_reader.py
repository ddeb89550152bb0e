"""Reading as the writer: only to learn what it may do. It writes nothing; `ArmWriter` does."""

from __future__ import annotations

import base64
import binascii
import json

from handlers.clients.arm.reader import ArmReader


class WriterEyes(ArmReader):
    """An ArmReader that signs in as whoever carries out fixes. A type of its own: no collector mixes them up."""

    async def object_id(self) -> str:
        """Who that is in Entra, from the token's own claims; empty where they do not say.

        The token was made for Azure, and Azure judges it. Here it only tells which of Azure's rules are about us.
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
