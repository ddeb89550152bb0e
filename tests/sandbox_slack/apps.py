"""Real Bolt apps for these tests: on a socket, or listening for signed HTTP."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.server import SlackServer

Body = dict[str, Any]


def bolt_app(slack: SlackServer, **more: Any) -> AsyncApp:
    client = AsyncWebClient(token=slack.bot_token, base_url=slack.url)
    return AsyncApp(client=client, signing_secret=slack.signing_secret, raise_error_for_unhandled_request=False, **more)


class SocketApp:
    """A Bolt app in Socket Mode."""

    def __init__(self, slack: SlackServer, bolt: AsyncApp) -> None:
        self.slack, self.bolt = slack, bolt
        self.handler = AsyncSocketModeHandler(bolt, slack.app_token)

    async def __aenter__(self) -> Self:
        before = self.slack.sockets.count
        await self.handler.connect_async()  # type: ignore[no-untyped-call]
        assert self.slack.sockets.count == before + 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.handler.close_async()  # type: ignore[no-untyped-call]


class HttpApp:
    """A Bolt app over HTTP. `before` may respond in its place."""

    def __init__(self, bolt: AsyncApp) -> None:
        self.bolt = bolt
        self.requests: list[tuple[dict[str, str], str]] = []
        self.instead: list[web.Response] = []
        """Responses sent instead of the app's, in order."""
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/slack/events", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/slack/events"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        self.requests.append((dict(request.headers), body))
        if self.instead:
            return self.instead.pop(0)
        headers: dict[str, Any] = dict(request.headers)
        answer = await self.bolt.async_dispatch(AsyncBoltRequest(body=body, headers=headers))
        return web.Response(
            status=answer.status,
            text=answer.body,
            content_type=answer.headers.get("content-type", ["text/plain"])[0].split(";")[0],
        )


async def refusal(call: Any) -> Body:
    """Slack's response to a rejected call."""
    try:
        await call
    except SlackApiError as error:
        answer: Body = {"status": error.response.status_code, "headers": error.response.headers}
        return answer | dict(error.response.data)
    raise AssertionError("the call was not refused")
