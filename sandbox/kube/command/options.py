"""Parses the arguments of `kubectl get`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


class Wrong(ValueError):
    """Invalid arguments; the message is what kubectl prints."""


@dataclass
class Options:
    """The options of one `kubectl get`."""

    names: list[str] = field(default_factory=list)
    namespace: str = "default"
    everywhere: bool = False
    labels: str = ""
    fields: str = ""
    output: str = ""
    raw: str = ""
    headers: bool = True
    sort_by: str = ""
    missing_is_fine: bool = False


_VALUES = {
    "-n": "namespace",
    "--namespace": "namespace",
    "-l": "labels",
    "--selector": "labels",
    "--field-selector": "fields",
    "-o": "output",
    "--output": "output",
    "--raw": "raw",
    "--sort-by": "sort_by",
    "--chunk-size": "",
    "--request-timeout": "",
}
_FLAGS = {
    "-A": "everywhere",
    "--all-namespaces": "everywhere",
    "--no-headers": "no_headers",
    "--ignore-not-found": "missing_is_fine",
}


def parse(arguments: list[str]) -> Options:
    """Parse the arguments; an unknown flag is an error, as in kubectl."""
    options = Options()
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            options.names.append(word)
        else:
            _flag(options, word, words)
    if not options.raw and not options.names:
        raise Wrong("You must specify the type of resource to get.")
    return options


def _flag(options: Options, word: str, words: Iterator[str]) -> None:
    name, joined, value = word.partition("=")
    if name in _FLAGS:
        on = not joined or value.lower() in ("true", "1")
        if _FLAGS[name] == "no_headers":
            options.headers = not on
        else:
            setattr(options, _FLAGS[name], on)
        return
    if name not in _VALUES and len(word) > 2 and word[:2] in _VALUES:
        name, joined, value = word[:2], "=", word[2:].removeprefix("=")
    if name not in _VALUES:
        raise Wrong(f"unknown flag: {name}")
    if not joined:
        value = next(words, "")
        if not value:
            raise Wrong(f"flag needs an argument: {name}")
    if _VALUES[name]:
        setattr(options, _VALUES[name], value)
