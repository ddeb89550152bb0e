"""The baseline: a minimal Slack handler that only checks the signature, in a separate process."""

from __future__ import annotations

import asyncio
import sys

from aiohttp import web
from slack_sdk.signature import SignatureVerifier


async def serve(secret: str) -> None:
    """Serve until the parent process says stop; the first line of output is the port."""
    verifier = SignatureVerifier(secret)

    async def nothing(request: web.Request) -> web.Response:
        good = verifier.is_valid_request(await request.read(), dict(request.headers))
        return web.Response(status=200 if good else 401)

    app = web.Application()
    app.router.add_post("/slack/events", nothing)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
