"""The HTTP side: Web API calls, response URLs and uploads, with fault injection."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from sandbox.slack import downloads, response_urls
from sandbox.slack.api.methods import METHODS, Call, Entry, files
from sandbox.slack.errors import Refused, rate_limited
from sandbox.slack.faults import Fault, first
from sandbox.slack.request_log import LoggedCall
from sandbox.slack.site import Site
from sandbox.slack.workspace import Workspace

Body = dict[str, Any]
Answer = tuple[int, Body, dict[str, str]]

_SECRET = {"token", "app_token"}
_PAGE = "<html><head><title>503 Service Temporarily Unavailable</title></head><body>nginx</body></html>"


class Door:
    """Answers requests."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def add_routes(self, app: web.Application) -> None:
        app.router.add_route("*", "/api/{method}", self.call)
        app.router.add_post("/commands/{tail:.+}", self.respond)
        app.router.add_post("/actions/{tail:.+}", self.respond)
        app.router.add_post("/upload/v1/{secret}", self.upload)
        app.router.add_get("/files-pri/{which}/{name}", self.download)

    # -- the Web API ------------------------------------------------------------------------------------------

    async def call(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        logged = self._logged(name)
        try:
            entry = _entry(name)
            args = await _arguments(request)
            logged.args = {key: value for key, value in args.items() if key not in _SECRET}
            team = self._team(entry, request, args)
        except Refused as refusal:
            return self._send(logged, (refusal.status, refusal.body, refusal.headers))
        logged.team = team.id
        call = Call(self._site, team, args)
        return await self._answer(request, logged, lambda: self._run(entry, call, logged), entry)

    def _logged(self, method: str, team: str = "") -> LoggedCall:
        logged = LoggedCall(method, team, {}, self._site.clock.now())
        self._site.log.append(logged)
        return logged

    def _team(self, entry: Entry, request: web.Request, args: Body) -> Workspace:
        """The token's workspace. An app-level token has none, so the first workspace is used."""
        header = request.headers.get("Authorization", "")
        token = header.removeprefix("Bearer ") if header.startswith("Bearer ") else str(args.get("token") or "")
        if not token:
            raise Refused("not_authed")
        if token == self._site.app_token:
            if entry.caller != "app":
                raise Refused("not_allowed_token_type")
            return self._site.workspaces[0]
        team = self._site.tokens.get(token)
        if team is None:
            raise Refused("invalid_auth")
        if entry.caller == "app":
            raise Refused("not_allowed_token_type")
        return team

    def _run(self, entry: Entry, call: Call, logged: LoggedCall) -> Answer:
        self._site.limits.check_method(logged.method, call.team.id)
        try:
            if entry.scopes:
                call.need(*entry.scopes)
            body = entry.run(call)
        finally:
            logged.scopes = tuple(sorted(call.used))
        return 200, {"ok": True, **body}, {}

    # -- response URLs and uploads ----------------------------------------------------------------------------

    async def respond(self, request: web.Request) -> web.StreamResponse:
        known = self._site.response_urls.get(request.path)
        logged = self._logged("response_url", known.team.id if known else "")
        try:
            logged.args = await _json_object(request)
        except Refused as refusal:
            return self._send(logged, (400, refusal.body, {}))

        def run() -> Answer:
            response_urls.use(self._site, request.path, logged.args)
            return 200, {"ok": True}, {}

        return await self._answer(request, logged, run)

    async def upload(self, request: web.Request) -> web.StreamResponse:
        logged = self._logged("upload")
        content = await request.read()

        def run() -> Answer:
            return 200, {"text": files.receive(self._site, request.match_info["secret"], content)}, {}

        return await self._answer(request, logged, run)

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Without permission, the response is the sign-in page and not an error, as in Slack."""
        logged = self._logged(downloads.METHOD)
        self._site.changes.ring()
        try:
            file = downloads.find(self._site, request.match_info["which"])
        except Refused as refusal:
            return self._send(logged, (refusal.status, refusal.body, {}))
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        team = downloads.may_read(self._site, token, file)
        logged.team = team.id if team else ""
        if (fault := first(self._site.faults, logged.method, logged.team)) is not None:
            return await self._broken(request, logged, fault)
        logged.ended, logged.status = self._site.clock.now(), 200
        if team is None:
            logged.error = "sign_in"
            return web.Response(text=downloads.SIGN_IN, content_type="text/html")
        logged.scopes = (downloads.SCOPE,)
        return web.Response(body=file.content, content_type=downloads.mimetype(file.name))

    # -- responses and faults ---------------------------------------------------------------------------------

    async def _answer(
        self, request: web.Request, logged: LoggedCall, run: Callable[[], Answer], entry: Entry | None = None
    ) -> web.StreamResponse:
        fault = first(self._site.faults, logged.method, logged.team)
        if fault is None:
            return self._send(logged, _tried(run), entry)
        if fault.executed:
            _tried(run)
        return await self._broken(request, logged, fault, entry)

    async def _broken(
        self, request: web.Request, logged: LoggedCall, fault: Fault, entry: Entry | None = None
    ) -> web.StreamResponse:
        if fault.kind == "timeout":
            await self._site.closing.wait()
        if fault.kind in ("timeout", "reset"):
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        if fault.kind == "html":
            return web.Response(status=503, text=_PAGE, content_type="text/html")
        return self._send(logged, _faulty(fault), entry)

    def _send(self, logged: LoggedCall, answer: Answer, entry: Entry | None = None) -> web.Response:
        status, body, headers = answer
        logged.ended, logged.status = self._site.clock.now(), status
        logged.error = None if status == 200 and body.get("ok", True) else str(body.get("error", status))
        if logged.method == "upload" and status == 200:
            return web.Response(status=status, text=body["text"])
        own = {"x-slack-req-id": self._site.new_id("r")}
        if entry is not None:
            own |= {
                "x-oauth-scopes": ",".join(self._site.manifest.scopes),
                "x-accepted-oauth-scopes": ",".join(entry.scopes),
            }
        text = json.dumps(body)
        return web.Response(status=status, text=text, content_type="application/json", headers=own | headers)


def _entry(name: str) -> Entry:
    entry = METHODS.get(name)
    if entry is None:
        raise Refused("unknown_method", req_method=name)
    return entry


def _tried(run: Callable[[], Answer]) -> Answer:
    try:
        return run()
    except Refused as refusal:
        return refusal.status, refusal.body, refusal.headers


def _faulty(fault: Fault) -> Answer:
    if fault.kind == "429":
        refusal = rate_limited(fault.retry_after_s)
        return refusal.status, refusal.body, refusal.headers
    if fault.kind == "error":
        body: Body = {"ok": False, "error": fault.error}
        if fault.messages:
            body["errors"] = list(fault.messages)
            body["response_metadata"] = {"messages": [f"[ERROR] {message}" for message in fault.messages]}
        return 200, body, {}
    return int(fault.kind), {"ok": False, "error": "internal_error"}, {}


async def _arguments(request: web.Request) -> Body:
    """The arguments of a call, from the query, a form or JSON."""
    args: Body = dict(request.query)
    if request.method == "GET" or not request.can_read_body:
        return args
    kind = request.content_type
    if kind == "application/json":
        return args | await _json_object(request)
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        form = await request.post()
        return args | {name: value for name, value in form.items() if isinstance(value, str)}
    raise Refused("invalid_post_type")


async def _json_object(request: web.Request) -> Body:
    try:
        body = json.loads(await request.text())
    except ValueError:
        raise Refused("invalid_json") from None
    if not isinstance(body, dict):
        raise Refused("json_not_object")
    return body
