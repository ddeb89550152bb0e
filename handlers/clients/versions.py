"""Api-versions that a cloud does not offer: which ones its refusal lists, and which of those to use.

Sovereign clouds and Azure Stack lag behind. Three refusals say so, each with the list of what is offered:

400 NoRegisteredProviderFound   "… The supported api-versions are 'a, b'. The supported locations are '…'."
400 InvalidApiVersionParameter  "… The supported versions are 'a,b'." (Resource Manager's own, whatever was asked)
404 InvalidResourceType         "… for api version 'c'. The supported api-versions are 'a,b'."
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from handlers.clients.errors import ArmError, VersionNotOffered
from handlers.clients.refusals import code_and_message
from runbooks.linear import compile_linear

ABOUT_THE_TYPE = frozenset({"noregisteredproviderfound", "invalidresourcetype"})
ABOUT_THE_FRONT_DOOR = "invalidapiversionparameter"
_LISTED = compile_linear(r"supported (?:api-)?versions are '([^']*)'", ignore_case=True)
_VERSION = compile_linear(r"(\d{4}-\d\d-\d\d)(-[a-z]+)?", ignore_case=True)
_IN_QUERY = compile_linear(r"([?&])api-version=[^&]*", ignore_case=True)


def version_of(url: str) -> str:
    query = parse_qsl(urlsplit(url).query)
    return next((value for name, value in query if name.lower() == "api-version"), "")


def is_signed(url: str) -> bool:
    """A signed link to an operation: used exactly as Azure returned it, or not at all."""
    return {"s", "h"} <= {name for name, _ in parse_qsl(urlsplit(url).query)}


def with_version(url: str, version: str) -> str:
    """The same request in another api-version; the rest unchanged."""
    return _IN_QUERY.sub(rf"\1api-version={version}", url, count=1)


def type_of(url: str) -> str:
    """The resource type that answers: the last provider's, or Resource Manager's own."""
    path = urlsplit(url).path.lower().rstrip("/")
    above, marker, below = path.rpartition("/providers/")
    namespace, _, rest = below.partition("/") if marker else ("", "", "")
    if rest:
        return "/".join((namespace, *rest.split("/")[::2]))
    return "/".join((above.lstrip("/") + "/providers" if marker else path.lstrip("/")).split("/")[::2])


def offered_by(refused: ArmError) -> tuple[str, ...]:
    """The versions that a refusal lists; none if it is about something else."""
    code, message = code_and_message(refused.answer)
    if code.lower() not in (*ABOUT_THE_TYPE, ABOUT_THE_FRONT_DOOR):
        return ()
    listed = _LISTED.search(message)
    return tuple(found[0].lower() for found in _VERSION.finditer(listed[1])) if listed else ()


def newest_not_above(wanted: str, offered: Iterable[str]) -> str | None:
    """Prefers stable to preview unless a preview was requested. Of the same date, stable is the newer one."""
    fitting = [version for version in offered if _order(version)[0] <= _order(wanted)[0]]
    stable = [version for version in fitting if not _is_preview(version)]
    return max(fitting if _is_preview(wanted) else stable or fitting, key=_order, default=None)


def not_offered(refused: ArmError, url: str, wanted: str) -> VersionNotOffered:
    """The error text when no offered version can be used."""
    oldest = min(offered_by(refused), key=_order)
    detail = (
        f"{refused.code}: this cloud offers {type_of(url)} from api-version {oldest} on, and aksbot was written for "
        f"{wanted}"
    )
    error = VersionNotOffered(refused.unavailable.wanted, detail, status=refused.status, code=refused.code)
    error.answer, error.headers = refused.answer, refused.headers
    return error


@dataclass(frozen=True, slots=True)
class Lag:
    """What a cloud offers for one type, and the refusal that listed it."""

    offered: tuple[str, ...]
    refused: ArmError


@dataclass
class OfferedVersions:
    """The api-versions that clouds offer, by host and resource type, remembered for the life of the process."""

    _lags: dict[tuple[str, str], Lag] = field(default_factory=dict)

    def learn(self, url: str, refused: ArmError) -> None:
        """Resource Manager lists its own versions for any type: keep those for its own types only."""
        if refused.code.lower() in ABOUT_THE_TYPE or "." not in type_of(url):
            self._lags[_key(url)] = Lag(offered_by(refused), refused)

    def lag(self, url: str, wanted: str) -> Lag | None:
        """Why the requested version cannot be used, if that is known already."""
        known = self._lags.get(_key(url))
        return known if known and wanted.lower() not in known.offered else None

    def to_ask_in(self, url: str, wanted: str) -> str:
        """The version for a request or an action (of its resource's type) that must not be tried twice."""
        above = url.partition("?")[0].rstrip("/").rpartition("/")[0]
        lag = self.lag(url, wanted) or self.lag(above, wanted)
        return (newest_not_above(wanted, lag.offered) if lag else None) or wanted


def _key(url: str) -> tuple[str, str]:
    return urlsplit(url).netloc.lower(), type_of(url)


def _is_preview(version: str) -> bool:
    return version.count("-") > 2


def _order(version: str) -> tuple[str, bool]:
    return version[:10], not _is_preview(version)
