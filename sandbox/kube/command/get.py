"""`kubectl get`: selects the objects and prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import orjson

from sandbox.kube.answers import Answer, Refusal
from sandbox.kube.command import printers
from sandbox.kube.command.options import Options, Wrong, parse
from sandbox.kube.jsonpath import BadPath, find
from sandbox.kube.kinds import Kind

Body = dict[str, Any]

_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Asker:
    """The API server as seen by a command in the cluster, with the permissions of its identity."""

    def __init__(self, ask: Callable[[str, str], Answer], kinds: Callable[[str], Kind | None]) -> None:
        self._ask = ask
        self.kind = kinds

    def raw(self, path: str) -> str:
        answer = self._ask(path, "")
        if answer.status >= 400:
            raise Refusal(answer)
        return answer.to_bytes().decode()

    def json(self, path: str, *, table: bool = False) -> Body:
        answer = self._ask(path, _TABLE if table else "")
        if answer.status >= 400:
            raise Refusal(answer)
        body: Body = orjson.loads(answer.to_bytes())
        return body


def get(arguments: list[str], ask: Asker) -> tuple[str, int]:
    """Returns the output and the exit code."""
    options = parse(arguments)
    if options.raw:
        return ask.raw(options.raw), 0
    wanted = _wanted(options, ask)
    if options.output in ("", "wide"):
        return _tables(options, wanted, ask)
    try:
        return printers.printed(options, *_objects(options, wanted, ask))
    except BadPath as bad:
        raise Wrong(f"error parsing jsonpath {options.output.partition('=')[2]}, {bad}") from bad


def _wanted(options: Options, ask: Asker) -> list[tuple[Kind, list[str]]]:
    """The requested kinds with the names of each; no names means all."""
    pairs = [word.split("/", 1) for word in options.names]
    if all(len(pair) == 2 for pair in pairs):
        return [(_kind(pair[0], ask), [pair[1]]) for pair in pairs]
    kinds = [_kind(word, ask) for word in options.names[0].split(",") if word]
    return [(kind, options.names[1:]) for kind in kinds]


def _kind(word: str, ask: Asker) -> Kind:
    kind = ask.kind(word)
    if kind is None:
        raise Wrong(f'the server doesn\'t have a resource type "{word}"')
    return kind


def _path(options: Options, kind: Kind, name: str = "") -> str:
    path = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    if kind.namespaced and (name or not options.everywhere):
        path += f"/namespaces/{options.namespace}"
    path += f"/{kind.plural}"
    if name:
        return f"{path}/{quote(name)}"
    query = {"labelSelector": options.labels, "fieldSelector": options.fields}
    sent = "&".join(f"{key}={quote(value)}" for key, value in query.items() if value)
    return f"{path}?{sent}" if sent else path


def _objects(options: Options, wanted: list[tuple[Kind, list[str]]], ask: Asker) -> tuple[list[Body], bool]:
    """The objects with their kinds, and whether exactly one was requested by name."""
    found: list[Body] = []
    for kind, names in wanted:
        if names:
            found += [ask.json(_path(options, kind, name)) for name in names]
        else:
            items = ask.json(_path(options, kind))["items"]
            found += [{"apiVersion": kind.api_version, "kind": kind.kind, **item} for item in items]
    if options.sort_by:
        found.sort(key=lambda body: _sort_key(options.sort_by, body))
    return found, len(wanted) == 1 and len(wanted[0][1]) == 1


def _sort_key(path: str, body: Body) -> tuple[bool, str]:
    values = find(path.strip("{}"), body)
    return (not values, str(values[0]) if values else "")


def _tables(options: Options, wanted: list[tuple[Kind, list[str]]], ask: Asker) -> tuple[str, int]:
    text: list[str] = []
    for kind, names in wanted:
        paths = [_path(options, kind, name) for name in names] or [_path(options, kind)]
        parts = [ask.json(path, table=True) for path in paths]
        rows = [row for part in parts for row in part["rows"]]
        if rows:
            text.append(printers.table(options, kind, parts[0]["columnDefinitions"], rows, several=len(wanted) > 1))
    if text:
        return "\n".join(text), 0
    where = "" if options.everywhere or not wanted[0][0].namespaced else f" in {options.namespace} namespace."
    return f"No resources found{where}\n", 0
