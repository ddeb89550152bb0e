"""The page's HTTP routes. They are for a local browser only: other sites can neither read the page nor post to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web

from sandbox.slack.control import Control
from sandbox.slack.page.deeds import do
from sandbox.slack.page.drawing import Drawing
from sandbox.slack.page.scene import Reading, Scene
from sandbox.slack.shown_files import shows
from sandbox.slack.site import Site

_STATIC = Path(__file__).parent / "static"
_KINDS = {"slack.css": "text/css", "slack.js": "text/javascript", "icons.svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Page:
    """The page's request handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._drawing = Drawing(site)
        self._reading = Reading()

    def add_routes(self, app: web.Application) -> None:
        person = "/w/{team}/{person}"
        for path, handler in (
            ("/", self.front),
            (person, self.page),
            (person + "/home", self.page),
            (person + "/c/{channel}", self.page),
            (person + "/parts", self.parts),
            (person + "/changes", self.changes),
            (person + "/files/{file}", self.file),
            ("/static/{name}", self.static),
        ):
            app.router.add_get(path, self._own(handler))
        app.router.add_post(person + "/do", self._own(self.deed))

    def _own(self, handler: Handler) -> Handler:
        """Reject requests from other origins or to another host name."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            port = urlsplit(self._site.base).port
            origin = request.headers.get("Origin")
            if request.host not in (f"127.0.0.1:{port}", f"localhost:{port}"):
                raise web.HTTPMisdirectedRequest(text="this page is for this machine's own browser")
            if origin is not None and urlsplit(origin).netloc != request.host:
                raise web.HTTPForbidden(text="another site has nothing to ask here")
            return await handler(request)

        return guarded

    # -- reading ----------------------------------------------------------------------------------------------

    async def front(self, request: web.Request) -> web.StreamResponse:
        team = self._site.workspaces[0]
        channel = next(
            (channel for channel in team.channels if team.has_bot(channel) and not channel.archived), team.channels[0]
        )
        raise web.HTTPFound(f"/w/{team.domain}/{team.people[0].name}/c/{channel.id}")

    async def page(self, request: web.Request) -> web.StreamResponse:
        scene = self._scene(request, request.match_info.get("channel"), home=request.path.endswith("/home"))
        if scene.home:
            scene.control.open_home(scene.person.id)
        self._read(scene)
        theme = request.query.get("theme", "")
        html = self._drawing.page(scene, theme if theme in ("dark", "light") else "")
        return web.Response(text=html, content_type="text/html", headers=_HEADERS)

    async def parts(self, request: web.Request) -> web.StreamResponse:
        """All dynamic parts of the page, as JSON."""
        scene = self._scene(request, request.query.get("channel"), home="home" in request.query)
        if "seen" in request.query:
            self._read(scene)
        return web.json_response(self._drawing.parts(scene), headers=_HEADERS)

    def _scene(self, request: web.Request, channel: str | None, *, home: bool) -> Scene:
        try:
            control = Control(self._site, self._site.workspace(request.match_info["team"]))
            scene = Scene(control, control.team.person(request.match_info["person"]), self._reading, home=home)
            if channel:
                scene.channel = control.team.channel(channel)
        except LookupError as error:
            raise web.HTTPNotFound(text=str(error)) from error
        if scene.channel is not None and not control.may_see(scene.person.id, scene.channel):
            raise web.HTTPNotFound(text=f"{scene.person.name} does not see that channel")
        ts = request.query.get("thread")
        scene.thread_ts = ts if ts and scene.channel is not None and scene.channel.find(ts) else None
        return scene

    def _read(self, scene: Scene) -> None:
        if scene.channel is not None:
            self._reading.mark(scene.team, scene.person, scene.channel)

    # -- updates and actions ----------------------------------------------------------------------------------

    async def changes(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: one version number per change."""
        response = web.StreamResponse(headers={**_HEADERS, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(f"retry: 500\ndata: {self._site.changes.number}\n\n".encode())
        with suppress(ConnectionError):
            async for number in self._site.changes.follow():
                if self._site.closing.is_set():
                    break
                await response.write(f"data: {number}\n\n".encode())
                # Coalesce simultaneous changes into one.
                await asyncio.sleep(0.05)
        return response

    async def deed(self, request: web.Request) -> web.StreamResponse:
        scene = self._scene(request, None, home=False)
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType
        try:
            asked = json.loads(await request.text())
        except ValueError as error:
            raise web.HTTPBadRequest from error
        if not isinstance(asked, dict):
            raise web.HTTPBadRequest
        return web.json_response(await do(scene.control, scene.person.id, asked), headers=_HEADERS)

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Download a file, for people who can see a channel in which it was shared."""
        scene = self._scene(request, None, home=False)
        wanted = self._site.files.get(request.match_info["file"])
        seen = any(
            wanted in message.files or wanted in shows(self._site, message.blocks)
            for channel in scene.team.channels
            if scene.control.may_see(scene.person.id, channel)
            for message in channel.messages
        )
        if wanted is None or wanted.content is None or not seen:
            raise web.HTTPNotFound
        picture = wanted.type in ("png", "jpg", "jpeg", "gif", "webp")
        kind = f"image/{wanted.type.replace('jpg', 'jpeg')}" if picture else "text/plain"
        return web.Response(
            body=wanted.content, content_type=kind, charset=None if picture else "utf-8", headers=_HEADERS
        )

    async def static(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in _KINDS:
            raise web.HTTPNotFound
        text = (_STATIC / name).read_text(encoding="utf-8")
        return web.Response(text=text, content_type=_KINDS[name], headers={**_HEADERS, "Cache-Control": "max-age=60"})
