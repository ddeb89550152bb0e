"""What is said of a rule or a route that stands in the way, and what the runbook's commands need of it."""

from __future__ import annotations

from collections.abc import Sequence

from handlers.diagnose.node_ways import NodeWay
from handlers.egress.routes import Hop
from handlers.egress.way import Way
from handlers.resource_id import last_name

ADMIN_RULES = "nothing has failed by it yet, and admin rules of Virtual Network Manager are not visible from here"
LOWEST_PRIORITY = 100
"""Azure: priorities of rules that people make are 100 to 4096, and the smaller number decides."""
_NAMED = 3


def only_there(hosts: Sequence[str]) -> str:
    """`mcr.microsoft.com and 4 more are only reachable there`."""
    known = list(dict.fromkeys(hosts))
    if len(known) == 1:
        return f"{known[0]} is only reachable there"
    rest = len(known) - _NAMED
    named = ", ".join(known[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    return f"{named} are only reachable there"


def blocker_facts(way: Way, place: NodeWay) -> dict[str, object]:
    """What stands in the way, for the runbook: ids, names and groups for its commands."""
    group, table = way.group, place.place.table
    own_route = way.route if way.route and way.route.own else None
    return {
        "rule": way.rule.name if way.rule and group else "",
        "priority": way.rule.priority if way.rule else 0,
        "nsg": group.name if group else "",
        **_place_of("nsg", group.id if group else ""),
        "route": own_route.name if own_route else "",
        "prefix": own_route.prefix if own_route else "",
        "appliance": own_route.address if own_route and own_route.hop is Hop.APPLIANCE else "",
        "to_nowhere": bool(own_route and own_route.hop is Hop.NOWHERE),
        "table": table.name if own_route and table else "",
        **_place_of("table", table.id if own_route and table else ""),
        "nat": last_name(place.subnet.nat_gateway) if place.subnet.nat_gateway else "",
        "nat_id": place.subnet.nat_gateway,
        "subnet": place.subnet.name,
        "subnet_id": place.subnet.id,
        "network": place.subnet.network.name,
        "network_id": place.subnet.network.id,
        "name_servers": list(place.name_servers),
        "scale_set": place.scale_sets[0] if place.scale_sets else "<scale-set>",
    }


def _place_of(what: str, resource: str) -> dict[str, object]:
    parts = resource.split("/")
    known = len(parts) > 4
    return {f"{what}_subscription": parts[2] if known else "", f"{what}_group": parts[4] if known else ""}


def free_priority(way: Way) -> int:
    """A priority before the rule that denies which no rule of its group has; 0 where there is none."""
    if way.rule is None or way.group is None:
        return 0
    taken = {rule.priority for rule in way.group.rules}
    below = range(min(way.rule.priority, 4097) - 1, LOWEST_PRIORITY - 1, -1)
    return next((item for item in below if item not in taken), 0)
