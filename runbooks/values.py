"""What a pasted text gives to fill a runbook in, where no check has looked: names, numbers, addresses.

A page declares what it needs in its head:

    values:
      exit_code:
        pattern: "exit status[= ](\\\\d{1,3})"      the group `value`, or the first group that took part
        example: "command terminated with exit status=50"      the pattern finds its value here; lint tries it
        placeholder: exit-code                     optional: shown as <exit-code> while nothing is known
        many: yes                                  optional: all of them, as a list

Below stands what any text may give; a page needs not declare those, and may override them. A finding's facts bear
the same names, so that one page serves both. What is found here is text that somebody pasted: recognised, not verified.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runbooks.library import Runbook

LONGEST_TEXT = 50_000
"""Characters that are read: an error says what it has to say in the first of them."""
LONGEST_VALUE = 300
MOST_VALUES = 20
"""Of one kind."""

Facts = dict[str, str | tuple[str, ...]]

_SUBSCRIPTION = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_IN_ID = r"[^/\s\"'\\,;]{1,90}"
_AKS = r"providers/[Mm]icrosoft\.[Cc]ontainer[Ss]ervice"
_CLUSTER_ID = rf"/subscriptions/{_SUBSCRIPTION}/resource[Gg]roups/{_IN_ID}/{_AKS}/managed[Cc]lusters"
_DOCUMENTS = r"(?:aka\.ms|(?:learn|docs|support)\.microsoft\.com|go\.microsoft\.com|github\.com|kubernetes\.io)"
_SIDE = "(?:north|south|east|west|central){1,2}"
_LAND = (
    "sweden|germany|france|uk|norway|switzerland|poland|italy|spain|japan|korea|australia|canada|brazil|uae|"
    "southafrica|qatar|israel|mexico|newzealand|austria|indonesia|malaysia|chile|belgium|denmark"
)

ANYWHERE: Mapping[str, str] = {
    "subscription": rf"/subscriptions/({_SUBSCRIPTION})|[Ss]ubscription(?: id)?['\": =]{{1,4}}({_SUBSCRIPTION})",
    "cluster_id": rf"({_CLUSTER_ID}/[\w.-]{{1,63}})",
    "cluster": (
        r"/managed[Cc]lusters/([\w.-]{1,63})|--cluster-name[ =]([\w-]{1,63})"
        r"|\baz aks (?!nodepool)[^\n]{0,200}? (?:-n|--name)[ =]([\w-]{1,63})"
        r"|\bMC_[\w.()-]{1,80}?_([A-Za-z0-9-]{1,63})_[a-z0-9]{3,30}(?![\w-])"
    ),
    "group": (
        rf"/resource[Gg]roups/({_IN_ID})/{_AKS}/"
        rf"|\baz [^\n]{{0,200}}? (?:-g|--resource-group)[ =]((?!MC_)[\w.()-]{{1,90}})"
        rf"|/resource[Gg]roups/((?!MC_|mc_){_IN_ID})|\bMC_([\w.()-]{{1,80}}?)_[A-Za-z0-9-]{{1,63}}_[a-z0-9]{{3,30}}(?![\w-])"
    ),
    "node_group": r"\b((?:MC|mc)_[\w.()-]{1,87})",
    "pool": (
        r"/agent[Pp]ools/([a-z0-9]{1,12})\b|--nodepool-name[ =]([a-z0-9]{1,12})\b"
        r"|[Aa]gent[Pp]ool[Pp]rofile:([a-z0-9]{1,12})\b"
        r"|\baks-([a-z0-9]{1,12})-\d{8}-vmss|[Nn]ode ?pool ['\"`]([a-z0-9]{1,12})['\"`]"
    ),
    "scale_set": r"\b(aks-[a-z0-9]{1,12}-\d{8}-vmss)",
    "node": r"\b(aks-?[a-z0-9]{1,12}-\d{8}-(?:vmss[0-9a-z]{6}|\d{1,3}))\b",
    "correlation": rf"[Cc]orrelation[ _-]?[Ii][Dd]['\"]?[:= ]{{1,3}}['\"]?({_SUBSCRIPTION})",
    "location": rf"(?<![A-Za-z])({_SIDE}(?:us|europe|asia|india)\d?|(?:{_LAND}){_SIDE}\d?)(?![A-Za-z])",
    "size": r"\b((?:Standard|Basic)_[A-Z][A-Za-z0-9_-]{1,40})",
    "url": rf"(https?://(?!{_DOCUMENTS})[^\s\"'`<>\\,;)\]]{{3,280}})",
    "host": (
        rf"https?://(?!{_DOCUMENTS})([A-Za-z0-9.-]{{3,120}})"
        r"|\blookup ([A-Za-z0-9.-]{3,120})[:\s]|[Cc]ould not resolve host:? ([A-Za-z0-9.-]{3,120})"
    ),
    "namespace": (
        r"\bkubectl [^\n]{0,120}? (?:-n|--namespace)[ =]([a-z0-9-]{1,63})|\bNamespace:[ \t]{1,30}([a-z0-9-]{1,63})"
        r"|\bnamespace:? ?['\"`]([a-z0-9-]{1,63})['\"`]|\bnamespaces/([a-z0-9-]{1,63})"
    ),
}
"""Names of facts that every page may use, and how a text gives them."""

_ESCAPED_QUOTE = re.compile(r"\\{1,8}([\"'/])")
_ESCAPED_BREAK = re.compile(r"\\{1,8}r?\\{0,8}n(?=[^a-z]|[a-z]{1,12}[ :=])")


def extract(runbook: Runbook, text: str) -> Facts:
    """The facts that this text gives for this page. What it does not give is absent."""
    plain = text[:LONGEST_TEXT]
    readings = dict.fromkeys((plain, _ESCAPED_BREAK.sub("\n", _ESCAPED_QUOTE.sub(r"\1", plain))))
    facts: Facts = {}
    for name, pattern in ANYWHERE.items():
        if name not in runbook.values and (found := _first(pattern, readings)):
            facts[name] = found[0]
    for name, value in runbook.values.items():
        if found := _first(value.pattern, readings):
            facts[name] = found if value.many else found[0]
    return facts


def found_in(pattern: str, text: str) -> tuple[str, ...]:
    """Every value that a pattern finds in a text, each once, on one line and no longer than a name can be."""
    found: dict[str, None] = {}
    for hit in _compiled(pattern).finditer(text):
        value = " ".join((_taken(hit) or "").split())[:LONGEST_VALUE].rstrip(".,;: ")
        if value and value.isprintable():
            found[value] = None
        if len(found) == MOST_VALUES:
            break
    return tuple(found)


def _first(pattern: str, readings: Mapping[str, None]) -> tuple[str, ...]:
    return next((found for text in readings if (found := found_in(pattern, text))), ())


def _taken(hit: re.Match[str]) -> str | None:
    """The group `value`, or the first that took part."""
    named = hit.groupdict().get("value")
    return named or next((group for group in hit.groups() if group), None)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
