"""Problems that no runbook is about, in the words of those that are. Where one explains a text better: silence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.triage.literals import lowered, needs

_TABLE: dict[str, tuple[str, ...]] = {
    "an image that may not be pulled": (
        r"failed to pull image .{0,200}\b(?:401|403|unauthorized|denied|manifest|not found)\b",
        r"failed to (?:authorize|fetch anonymous token)",
        r"manifest unknown",
        r"repository does not exist",
        r"unauthorized: authentication required",
        r"toomanyrequests: You have reached your pull rate limit",
    ),
    "an application that restarts": (
        r"KubePodCrashLooping",
        r"CrashLoopBackOff.{0,60}(?:on|in) (?:cluster|ns|namespace)",
        r"KubePodRestarting",
        r"pod .{0,60}restarting too often",
    ),
    "a probe of an application": (
        r"(?:Liveness|Readiness|Startup) probe failed: (?:Get|HTTP probe).{0,200}(?:Client\.Timeout|context deadline)",
        r"(?:Liveness|Readiness|Startup) probe failed: (?:Get|HTTP probe).{0,200}statuscode: [45]\d\d",
    ),
    "a volume": (
        r"FailedAttachVolume",
        r"AttachVolume\.Attach failed",
        r"MountVolume\.(?:WaitForAttach|MountDevice|SetUp) failed for volume \W{0,3}(?!kube-api-access)\w",
        r"Multi-Attach error",
        r"volume attachment is being deleted",
    ),
    "a logical network of Azure Local": (
        r"logical network .{0,80}ip ?pool",
        r"vhybridakscluster\\.kb\\.io",
    ),
    "helm": (r"another operation \(install/upgrade/rollback\)",),
    "a data store's own memory": (r"OOM command not allowed|maxmemory",),
    "throttling": (
        r"SubscriptionRequestsThrottled",
        r"TooManyRequests",
        r"allowedRequestCount",
        r"Number of (?:read|write|delete) requests for subscription",
        r"429 Too Many Requests(?!.{0,120}(?:evict|pdb|disruption))",
    ),
    "workload identity": (
        r"AADSTS7002\d",
        r"No matching federated identity",
        r"federated identity (?:record|credential)",
    ),
    "a state lock": (
        r"state lock",
        r"lease(?:d)? (?:blob|state)",
        r"force-?unlock",
    ),
    "a vault": (r"\bkey ?vault\b.{0,120}\bexpir",),
    "an image that is not offered": (
        r"PlatformImageNotFound",
        r"platform image",
    ),
    "maintenance control": (r"maintenance control",),
    "a certificate of the API server": (r"Unable to connect to the server: x509: certificate has expired",),
    "a service principal that expires": (
        r"\bSP\b.{0,60}\bexpires?\b",
        r"service principal.{0,60}\b(?:expires?|expir(?:y|ation)|authorization failures?)\b",
        r"AADSTS7000222",
        r"client secret keys? .{0,40}expired",
    ),
    "a program's own network": (
        r"java\.net\.\w{3,40}Exception",
        r"\bMySQL\b",
        r"\bpostgres\b.{0,60}(?:connection|timeout)",
        r"psycopg",
        r"SQLException",
        r"redis\.exceptions",
        r"pq: ",
    ),
    "an address plan": (
        r"service address range.{0,60}overlap",
        r"overlapping (?:a )?v(?:irtual )?net(?:work)? address range",
    ),
    "a home router": (r"on (?:192\.168\.\d{1,3}\.\d{1,3}|10\.0\.0\.138|fe80):?53: no such host",),
    "an upgrade and a scale at once": (r"mutually exclusive operations",),
    "NodesNotReady from vnet encryption": (r"VNet encryption",),
    "a metrics API": (
        r"FailedDiscoveryCheck",
        r"loading OpenAPI spec for",
    ),
    "a VM outside the cluster": (
        r"\bVM extension installscript\b",
        r"\bjumpbox\b.{0,60}extension",
    ),
    "CI": (r"\b(?:e2e|flake|flaky test|nightly job|ci-entrypoint|unit tests?|build job)\b",),
    "a webhook of an operator": (
        r"webhooks? answers?",
        r"failed calling webhook",
    ),
}


class Lookalikes:
    """The table, ready to be looked through."""

    def __init__(self) -> None:
        self._table = [
            (name, re.compile(one, re.IGNORECASE), needs(f"(?i){one}"))
            for name, every in _TABLE.items()
            for one in every
        ]

    def find(self, text: str) -> Iterator[str]:
        lower = lowered(text)
        for name, expression, wanted in self._table:
            if (not wanted or any(one in lower for one in wanted)) and expression.search(text):
                yield name
