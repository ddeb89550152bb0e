"""ARM addresses taken apart: path, subscription, provider, and a short name for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from handlers.clients.errors import NotFollowed

_SUBSCRIPTION = re.compile(r"^/+subscriptions/([^/]+)", re.IGNORECASE)
_PROVIDER = re.compile(r"/providers/([^/]+)", re.IGNORECASE)
_SCOPE = re.compile(r"^/+subscriptions/[^/]+/(?:resourcegroups/[^/]+/)?(?:providers/)?", re.IGNORECASE)
_PLAIN_HOST = re.compile(r"(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?", re.IGNORECASE | re.ASCII)
"""Without a user, and without a backslash, which one library reads as part of the host and another as its end."""
_PATH_SAFE = "/:@!$&'()*+,;=~-._%"
_QUERY_SAFE = "$'():,/"


def address(endpoint: str, path: str, api_version: str, params: Mapping[str, str] | None = None) -> str:
    """The URL of one request."""
    query = {"api-version": api_version, **(params or {})}
    return (
        f"{endpoint}/{quote(path.lstrip('/'), safe=_PATH_SAFE)}?{urlencode(query, safe=_QUERY_SAFE, quote_via=quote)}"
    )


def follow(endpoint: str, link: object, wanted: str) -> str:
    """The URL of a link that Azure returned (a nextLink, an operation's URL). A link without a host comes from a
    recording.

    Raises NotFollowed, naming `wanted`, if the link is malformed or leaves Azure Resource Manager.
    """
    try:
        url = urljoin(endpoint + "/", link) if isinstance(link, str) else ""
    except ValueError:
        url = ""
    if not url:
        raise NotFollowed(wanted, "Azure's link to the next answer is no address; not followed")
    if not is_resource_manager(endpoint, url):
        raise NotFollowed(wanted, "the link leads away from Azure Resource Manager; not followed")
    return url


def path_of(url: str) -> str:
    return urlsplit(url).path


def subscription_of(url: str) -> str:
    found = _SUBSCRIPTION.match(path_of(url))
    return found[1].lower() if found else ""


def provider_of(url: str) -> str:
    """The last resource provider in the path: the one that answers the request."""
    found = _PROVIDER.findall(path_of(url))
    return found[-1].lower() if found else ""


def source_of(method: str, url: str) -> str:
    """What was asked, in a form that a person can repeat."""
    parts = urlsplit(url)
    return f"{method} {parts.path}?{unquote(parts.query)}" if parts.query else f"{method} {parts.path}"


def wanted_at(url: str) -> str:
    """What a person would call it: the address without subscription and resource group."""
    path = unquote(path_of(url))
    return _SCOPE.sub("", path).strip("/") or path


def is_resource_manager(endpoint: str, url: str) -> bool:
    """Whether a URL belongs to Resource Manager (or one of its regional hosts). The token is sent nowhere else."""
    home = urlsplit(endpoint)
    try:
        there = urlsplit(url)
        same_port = _port(home.scheme, home.port) == _port(there.scheme, there.port)
    except ValueError:
        return False
    if home.scheme != there.scheme or not same_port or not _PLAIN_HOST.fullmatch(there.netloc):
        return False
    host, other = (home.hostname or "").lower(), (there.hostname or "").lower()
    return other == host or other.endswith("." + host)


def _port(scheme: str, port: int | None) -> int:
    return port or (443 if scheme == "https" else 80)
