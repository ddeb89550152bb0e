"""Pages rendered in advance, so that a benchmark measures the client and not the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.pages import Pages
from sandbox.kube.reads import listed
from sandbox.kube.world import KubeWorld

_PLAIN = {"", "*/*", "application/json"}


@dataclass
class Prerendered:
    """The rendered pages of complete lists, by path and query. They are never updated."""

    world: KubeWorld
    pages: Pages
    _kept: dict[tuple[str, str, str, str], bytes] = field(default_factory=dict)

    def keep(self, kind: Kind, call: Call, limit: int, fields: str = "") -> int:
        """Render all pages of one list, with this field selector; returns their number."""
        token, made = "", 0
        while True:
            query = {"limit": str(limit)} | ({"continue": token} if token else {})
            query |= {"fieldSelector": fields} if fields else {}
            answer = listed(self.world, self.pages, kind, replace(call, query=query))
            self._kept[call.place.path, str(limit), token, fields] = answer.to_bytes()
            made += 1
            token = answer.body["metadata"].get("continue", "")
            if not token:
                return made

    def page(self, call: Call) -> Answer | None:
        """The rendered page for exactly this request, if there is one."""
        if not self._kept or call.place.verb != "list" or call.accept.split(",")[0].strip() not in _PLAIN:
            return None
        asked = {name: value for name, value in call.query.items() if value and value != "0"}
        limit, token, fields = asked.pop("limit", ""), asked.pop("continue", ""), asked.pop("fieldSelector", "")
        if asked:
            return None
        body = self._kept.get((call.place.path, limit, token, fields))
        return None if body is None else Answer(200, body)
