"""The templates that made the cluster, and the commands that show the same as a support packet, with its own values."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bot.render.clean import one_line
from bot.render.packet.fenced import fenced
from bot.render.packet.material import Material
from bot.render.packet.timeline import utc
from bot.render.verdict import count
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.compute import ScaleSets
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.sites import NexusSite
from handlers.evidence.support import Deployment, Deployments, NexusFabrics
from handlers.model import NotApplicable
from runbooks.library import CHECK, Library

PAGE = "support-packet"
MOST_DEPLOYMENTS = 20


def as_markdown(material: Material, library: Library) -> str:
    lines = [f"# Templates and commands of {material.cluster}", "", *_templates(material)]
    lines += ["## What you used yourself", "", "Write here which command, template or pipeline you ran, with its "]
    lines[-1] += "version (`az version`), and when. aksbot sees only what reached Azure: see `timeline.csv`."
    lines += ["", "## The same by hand", ""]
    return "\n".join([*lines, *_by_hand(material, library), ""])


def _templates(material: Material) -> Iterator[str]:
    known, group = material.fact(Deployments), material.report.diagnosis.target.id.resource_group
    yield f"## Templates deployed to resource group {group}"
    yield ""
    if known is None:
        why = material.why_not(Deployments)
        yield f"Could not be read: {why.because if isinstance(why, NotApplicable) else why}"
        yield ""
        return
    mine = [one for one in known.deployments if one.touches(str(material.report.diagnosis.target.id))]
    if not mine:
        yield (
            f"The group keeps {count(len(known.deployments), 'deployment')}, and none of them made or changed this "
            "cluster: that was done by a command or in the portal, or its deployment is no longer kept."
        )
        yield ""
    for one in mine[:MOST_DEPLOYMENTS]:
        yield from _deployment(one)


def _deployment(one: Deployment) -> Iterator[str]:
    at = utc(one.at) if one.at else "at an unknown time"
    yield f"- **{one_line(one.name)}**, {at}: {one.state}"
    yield f"  - deployment id: `{one.id}`"
    yield f"  - correlation id: `{one.correlation}`"
    yield f"  - template: `{one_line(one.template) or 'not named'}`"
    if one.error:
        yield ""
        yield from (f"  {line}" for line in fenced(json.dumps(one.error, indent=2, ensure_ascii=False), "json"))
    yield ""


def _by_hand(material: Material, library: Library) -> Iterator[str]:
    hybrid = material.fact(HybridCluster)
    if hybrid:
        yield from fenced("\n".join(_of_nexus(material, hybrid)), "sh")
    elif material.fact(ManagedCluster) and PAGE in library:
        yield library[PAGE].outline(CHECK, _facts(material))
    else:
        yield from fenced(f"az resource show --ids '{material.report.diagnosis.target.id}' --output json", "sh")


def _of_nexus(material: Material, hybrid: HybridCluster) -> Iterator[str]:
    """From the top: each layer stands on the one before."""
    fabrics, site = material.fact(NexusFabrics), material.fact(NexusSite)
    if fabrics and fabrics.controller:
        yield f"az networkfabric controller show --ids '{fabrics.controller}'"
    for fabric in fabrics.fabrics if fabrics else ():
        yield f"az networkfabric fabric show --ids '{fabric}'"
    if site:
        yield f"az networkcloud cluster show --ids '{site.id}'"
    for resource in (hybrid.id, *hybrid.networks):
        yield f"az resource show --ids '{resource}' --output json"
    yield (
        f"az monitor activity-log list --subscription '{hybrid.subscription}' --resource-group '{hybrid.group}' "
        "--status Failed --offset 14d --output json"
    )


def _facts(material: Material) -> dict[str, object]:
    cluster, sets = material.fact(ManagedCluster), material.fact(ScaleSets)
    if cluster is None:
        return {}
    facts: dict[str, object] = {
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
        "node_group": cluster.node_group,
    }
    first = next(iter(sets.sets), None) if sets else None
    return facts | ({"scale_set": first.name} if first else {})
