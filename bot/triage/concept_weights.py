"""How telling the concepts are, and which codes are about a world of their own."""

from __future__ import annotations

_NOTHING = (
    "a about afaik after again ago ah alert all also am an and another any anybody anyone apr are as at aug "
    "azure be because been before being between btw but by came can com come comes could day days dec dev did "
    "do does doing done during each etc eus2 even evening ever every feb firing folks for friday from fyi get "
    "gets getting go goes going got group guys had has have having he hello her here hey hi his hmm hour hours "
    "how http https i id idk if imho in into is it it's its jan jul jun just keep keeps kept know knows left "
    "let lets like lol made make makes mar may me message microsoft might min minute minutes monday more "
    "morning ms must my name need needs neu new night nov now oct of off oh ok okay old on one only onto or "
    "other our out over own per please pls prod quite really reason resolved resource run said same saturday "
    "saw say says see seem seems sees sep sev sev1 sev2 shall she should show since so some somebody someone "
    "staging state status stop stuff such sunday take takes team tell tells than thank thanks that the their "
    "them then there these they thing things think this those three thursday ticket to today told tomorrow "
    "tonight too took tried tries try trying tuesday two ty type under up us use used uses using value very "
    "via vs want wants was we wednesday week weeks well went were weu what when where which while who whom "
    "whose why will with would www yesterday yet you your "
)
STOP = frozenset(_NOTHING.split())
"""Words that say nothing."""

LIGHT: dict[float, tuple[str, ...]] = {
    0.35: ("neg", "create", "update", "log", "logs", "list", "first", "param", "wait", "deleted"),
    0.6: (
        "fail",
        "missing",
        "stuck",
        "block",
        "reach",
        "down",
        "mismatch",
        "slow",
        "progress",
        "timeout",
        "cluster",
        "service",
        "address",
        "client",
        "host",
        "vnet",
        "url",
        "login",
        "account",
        "credential",
        "secret",
        "node",
        "vm",
        "pool",
        "pod",
        "size",
        "region",
        "infra",
        "template",
        "token",
        "enabled",
        "client",
        "disk",
        "cert",
        "monitoring",
        "reference",
        "precondition",
        "phase",
    ),
}
"""Concepts that stand in messages about anything, and what share of its weight each keeps."""

FAMILIES: dict[str, frozenset[str]] = {
    "arc-": frozenset(
        [
            "arc",
            "bridge",
            "dotlocal",
            "heartbeat",
            "hybrid",
            "kva",
            "ova",
            "preface",
            "remoteps",
            "resourcepool",
            "vcenter",
            "wssd",
        ]
    ),
    "aso-": frozenset(["aso"]),
    "hybrid-": frozenset(["arc", "arcagent", "cninetwork", "csn", "customlocation", "hybrid", "isd", "wrapped"]),
    "isolation-": frozenset(["cninetwork", "csn", "hybrid", "internalnetwork", "isd"]),
    "cloud-services-": frozenset(["csn", "hybrid"]),
    "default-cni-": frozenset(["cninetwork", "hybrid"]),
    "network-failed": frozenset(["cninetwork", "csn", "hybrid", "isd"]),
    "network-prefix": frozenset(["cninetwork", "csn", "hybrid", "internalnetwork", "isd"]),
    "network-vlan": frozenset(["cninetwork", "csn", "hybrid", "internalnetwork", "isd", "vlan"]),
    "extended-location": frozenset(["customlocation", "hybrid"]),
}
"""What a message has to be about for the phrases of these codes to count in full: they speak of things that exist
there only."""

_OF_CLUSTERS = (
    "apiserver arc aso audit azpolicy bridge broken_state capacity cluster cni cninetwork constraint core "
    "crossnode cse csn customdns customlocation dotlocal drain endpoint heartbeat hybrid iprange isd kubectl "
    "kubeproxy kva lb memory mixed namespace netpol node notready oom otherop outbound ova pdb pod pool "
    "preface privatecluster privatezone publicip refreshtoken region remoteps resourcepool route sandbox scale "
    "service serviceaccount size subnet subscription support surge systempod tlsproxy upgrade vcenter vm vnet "
    "workspace wssd "
)
HERE = frozenset(_OF_CLUSTERS.split())
"""A message about clusters speaks of one of these; of quotas, locks and rights people speak everywhere."""
