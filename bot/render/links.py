"""Links under a finding: its subject, the activity log and the quotas in the Azure portal, and those of the policy.

Which portal it is follows from the cloud's Resource Manager; where nobody knows it (Azure Stack) there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import quote, urlsplit

from handlers.model import Finding
from handlers.resource_id import BadResourceId, ResourceId

PORTALS = {
    "management.azure.com": "https://portal.azure.com",
    "management.usgovcloudapi.net": "https://portal.azure.us",
    "management.chinacloudapi.cn": "https://portal.azure.cn",
}
"""By the host of the cloud's Resource Manager."""
PLACES = frozenset({"cluster", "group", "subscription", "id", "code", "namespace", "name"})
"""What a link of the policy may name."""
PORTAL, ACTIVITY_LOG, QUOTAS = "Portal", "Activity log", "Quotas"

_PLACE = re.compile(r"\{(\w*)\}")
_QUOTA_BLADE = "#view/Microsoft_Azure_Capacity/QuotaMenuBlade/~/myQuotas"
_QUOTA = "/locations/usages"
_BLADES = (
    ("microsoft.containerservice/managedclusters/agentpools", "nodePools"),
    ("microsoft.compute/virtualmachinescalesets/virtualmachines", "instances"),
    ("microsoft.network/virtualnetworks/subnets", "subnets"),
)
"""Resources without a page of their own, and the menu of the page above them that lists them."""

Link = tuple[str, str]
"""A title, an address."""


@dataclass(frozen=True, slots=True)
class LinkTemplate:
    """A link of the policy: `https://grafana.example.com/d/aks?var-cluster={cluster}`."""

    title: str
    url: str
    clusters: tuple[str, ...] = ("*",)


@dataclass(frozen=True, slots=True)
class Links:
    """Which links an installation shows."""

    portal: str = ""
    templates: tuple[LinkTemplate, ...] = ()

    def of(self, finding: Finding, cluster: ResourceId) -> list[Link]:
        return [*self._portal(finding, cluster), *self._others(finding, cluster)]

    def _portal(self, finding: Finding, cluster: ResourceId) -> Iterator[Link]:
        if not self.portal:
            return
        subject = _resource(finding.subject)
        if subject and subject.type.lower().endswith(_QUOTA):
            yield QUOTAS, f"{self.portal}/{_QUOTA_BLADE}"
        yield PORTAL, self._page(_blade(subject) or _blade(cluster) or cluster.text)
        yield ACTIVITY_LOG, self._page(f"{cluster.text}/eventlogs")

    def _page(self, path: str) -> str:
        return f"{self.portal}/#resource{quote(path)}"

    def _others(self, finding: Finding, cluster: ResourceId) -> Iterator[Link]:
        known = _values(finding, cluster)
        for template in self.templates:
            wanted = [known.get(name, "") for name in placeholders(template.url)]
            if all(wanted) and any(fnmatchcase(cluster.name.lower(), glob.lower()) for glob in template.clusters):
                yield template.title, _PLACE.sub(lambda place: quote(known[place[1]], safe=""), template.url)


NO_LINKS = Links()


def portal_of(resource_manager: str) -> str:
    """The portal of this cloud; empty where nobody knows it."""
    return PORTALS.get((urlsplit(resource_manager).hostname or "").lower(), "")


def placeholders(url: str) -> list[str]:
    """The names between braces in a link."""
    return _PLACE.findall(url)


def _values(finding: Finding, cluster: ResourceId) -> dict[str, str]:
    namespace, _, rest = ("", "", "") if finding.subject.startswith("/") else finding.subject.partition("/")
    namespace = namespace if "/" in rest else ""
    return {
        "cluster": cluster.name,
        "group": cluster.resource_group or "",
        "subscription": cluster.subscription or "",
        "id": cluster.text,
        "code": finding.code,
        "namespace": namespace,
        "name": finding.subject.rpartition("/")[2],
    }


def _resource(subject: str) -> ResourceId | None:
    try:
        return ResourceId.parse(subject)
    except BadResourceId:
        return None


def _blade(resource: ResourceId | None) -> str:
    """The path of its page; empty where it has none."""
    if resource is None or not resource.resource_group:
        return ""
    scope, of_scope, rest = resource.text.rpartition("/providers/Microsoft.Authorization/")
    if of_scope:
        return f"{scope}/locks" if rest.startswith("locks/") else ""
    for kind, menu in _BLADES:
        if resource.type.lower() == kind:
            return f"{resource.text.rsplit('/', 2)[0]}/{menu}"
    return f"{resource.text}/overview" if resource.type.count("/") == 1 else ""
