"""What a pasted text gives to fill a runbook in, where no check has looked: names, numbers, addresses.

A page declares what it needs in its head:

    values:
      exit_code:
        pattern: "exit status[= ](\\\\d{1,3})"      the group `value`, or the first group that took part
        example: "command terminated with exit status=50"      the pattern finds its value here; lint tries it
        placeholder: exit-code                     optional: shown as <exit-code> while nothing is known
        many: yes                                  optional: all of them, as a list
        unless: "status 0"                         optional: a match in which this matches too does not count

Below stands what any text may give; a page needs not declare those, and may override them. A finding's facts bear
the same names, so that one page serves both. What is found here is text that somebody pasted: recognised, not verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from runbooks.escapes import unescaped
from runbooks.patterns import Found, searchable

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
_NO_NODE_GROUP = r"(?:[^/\s\"'\\,;Mm]|[Mm][^/\s\"'\\,;Cc]|[Mm][Cc][^/\s\"'\\,;_])"
"""How a name may begin that is not `MC_…`."""
_NAME_ENDS = r"(?:[^\w-]|$)"
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
        r"|\baz aks [^\n]{0,200}? (?:-n|--name)[ =]([\w-]{1,63})"
        rf"|\bMC_[\w.()-]{{1,80}}?_([A-Za-z0-9-]{{1,63}})_[a-z0-9]{{3,30}}{_NAME_ENDS}"
    ),
    "group": (
        rf"/resource[Gg]roups/({_IN_ID})/{_AKS}/"
        rf"|\baz [^\n]{{0,200}}? (?:-g|--resource-group)[ =]({_NO_NODE_GROUP}[\w.()-]{{0,89}})"
        rf"|/resource[Gg]roups/({_NO_NODE_GROUP}[^/\s\"'\\,;]{{0,89}})"
        rf"|\bMC_([\w.()-]{{1,80}}?)_[A-Za-z0-9-]{{1,63}}_[a-z0-9]{{3,30}}{_NAME_ENDS}"
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
    "location": rf"(?:^|[^A-Za-z])({_SIDE}(?:us|europe|asia|india)\d?|(?:{_LAND}){_SIDE}\d?)(?:[^A-Za-z]|$)",
    "size": r"\b((?:Standard|Basic)_[A-Z][A-Za-z0-9_-]{1,40})",
    "url": r"(https?://[^\s\"'`<>\\,;)\]]{3,280})",
    "host": (
        r"https?://([A-Za-z0-9.-]{3,120})"
        r"|\blookup ([A-Za-z0-9.-]{3,120})[:\s]|[Cc]ould not resolve host:? ([A-Za-z0-9.-]{3,120})"
    ),
    "namespace": (
        r"\bkubectl [^\n]{0,120}? (?:-n|--namespace)[ =]([a-z0-9-]{1,63})|\bNamespace:[ \t]{1,30}([a-z0-9-]{1,63})"
        r"|\bnamespace:? ?['\"`]([a-z0-9-]{1,63})['\"`]|\bnamespaces/([a-z0-9-]{1,63})"
    ),
}
"""Names of facts that every page may use, and how a text gives them."""
UNLESS: Mapping[str, str] = {
    "cluster": r"\baz aks nodepool[^\n]{0,200}? (?:-n|--name)[ =]",
    "url": rf"https?://{_DOCUMENTS}",
    "host": rf"https?://{_DOCUMENTS}",
}
"""What their matches must not hold."""


def extract(runbook: Runbook, text: str) -> Facts:
    """The facts that this text gives for this page. What it does not give is absent."""
    plain = text[:LONGEST_TEXT]
    readings = dict.fromkeys((plain, unescaped(plain)))
    facts: Facts = {}
    for name, pattern in ANYWHERE.items():
        if name not in runbook.values and (found := _first(pattern, UNLESS.get(name, ""), readings)):
            facts[name] = found[0]
    for name, value in runbook.values.items():
        if found := _first(value.pattern, value.unless, readings):
            facts[name] = found if value.many else found[0]
    return facts


def found_in(pattern: str, text: str, unless: str = "") -> tuple[str, ...]:
    """Every value that a pattern finds in a text, each once, on one line and no longer than a name can be."""
    found: dict[str, None] = {}
    for hit in searchable(pattern, unless).finditer(text):
        value = " ".join((_taken(hit) or "").split())[:LONGEST_VALUE].rstrip(".,;: ")
        if value and value.isprintable():
            found[value] = None
        if len(found) == MOST_VALUES:
            break
    return tuple(found)


def _first(pattern: str, unless: str, readings: Mapping[str, None]) -> tuple[str, ...]:
    return next((found for text in readings if (found := found_in(pattern, text, unless))), ())


def _taken(hit: Found) -> str | None:
    """The group `value`, or else the first group that took part."""
    named = hit.groupdict().get("value")
    return named or next((group for group in hit.groups() if group), None)
