"""The output formats of `kubectl get -o …`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml

from sandbox.kube.command.options import Options, Wrong
from sandbox.kube.jsonpath import as_text, find, render
from sandbox.kube.kinds import Kind

Body = dict[str, Any]


def printed(options: Options, found: list[Body], single: bool) -> tuple[str, int]:
    """The objects in the requested format."""
    form, _, template = options.output.partition("=")
    whole: Body = {"apiVersion": "v1", "items": found, "kind": "List", "metadata": {"resourceVersion": ""}}
    data = found[0] if single else whole
    match form:
        case "json":
            return json.dumps(data, indent=4, sort_keys=True, ensure_ascii=False) + "\n", 0
        case "yaml":
            return yaml.safe_dump(data, sort_keys=True), 0
        case "name":
            return "".join(f"{_name(body)}\n" for body in found), 0
        case "jsonpath":
            return render(template, data), 0
        case "custom-columns":
            return _custom(options, template, found), 0
    raise Wrong(
        f"unable to match a printer suitable for the output format {form!r}, allowed formats are: "
        "custom-columns,json,jsonpath,name,wide,yaml"
    )


def _name(body: Body) -> str:
    group, _, _ = str(body["apiVersion"]).rpartition("/")
    word = str(body["kind"]).lower() + (f".{group}" if group else "")
    return f"{word}/{body['metadata']['name']}"


def _custom(options: Options, template: str, found: list[Body]) -> str:
    columns = [part.partition(":")[::2] for part in _split(template)]
    if not columns or any(not path for _, path in columns):
        raise Wrong("custom-columns format specified but no custom columns given")
    rows = [[_cell(path, body) for _, path in columns] for body in found]
    return aligned([[title for title, _ in columns]] * options.headers + rows)


def _split(template: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth = [""], 0
    for letter in template:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def _cell(path: str, body: Body) -> str:
    values = find(path.strip("{}"), body)
    return ",".join("<nil>" if value is None else as_text(value) for value in values) if values else "<none>"


def table(options: Options, kind: Kind, columns: list[Body], rows: list[Body], *, several: bool) -> str:
    """The server's table in aligned columns."""
    wide = options.output == "wide"
    shown = [index for index, column in enumerate(columns) if wide or not column["priority"]]
    lines = []
    if options.headers:
        first = ["NAMESPACE"] if options.everywhere and kind.namespaced else []
        lines.append(first + [str(columns[index]["name"]).upper() for index in shown])
    for row in rows:
        metadata = row["object"]["metadata"]
        first = [metadata["namespace"]] if options.everywhere and kind.namespaced else []
        cells = ["" if row["cells"][index] is None else str(row["cells"][index]) for index in shown]
        if several:
            cells[0] = f"{kind.singular}{'.' + kind.group if kind.group else ''}/{cells[0]}"
        lines.append(first + cells)
    return aligned(lines)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Columns three spaces apart and at least six wide, like kubectl's tabwriter."""
    widths = [max(6, *(len(line[index]) + 3 for line in lines)) for index in range(len(lines[0]))] if lines else []
    return "".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )
