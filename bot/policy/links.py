"""The `links` section of the policy: where else people look, from under a finding."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from bot.policy.section import Clusters, Section, explained
from bot.render.links import PLACES, LinkTemplate, placeholders


def _known_places(url: str) -> str:
    unknown = [name for name in placeholders(url) if name not in PLACES]
    if unknown:
        raise explained(f"names {{{unknown[0]}}}, which no finding has", f"use {', '.join(sorted(PLACES))}")
    return url


Address = Annotated[str, StringConstraints(pattern=r"^https://[^\s<>|\"]{1,800}$"), AfterValidator(_known_places)]


class LinkRule(Section):
    """One link, shown under every finding on these clusters that has the values it names."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=40)] = Field(
        description="what the link is called, in at most 40 characters: Grafana"
    )
    url: Address = Field(
        description="an https:// address; {cluster}, {group}, {subscription}, {id}, {code}, {namespace} and {name} "
        "(of the finding's subject) are filled in"
    )
    clusters: Clusters = Field(default=("*",), description="a list of cluster names, with * and ? as in a shell")

    @property
    def template(self) -> LinkTemplate:
        return LinkTemplate(self.title, self.url, self.clusters)
