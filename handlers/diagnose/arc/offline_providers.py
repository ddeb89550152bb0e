"""Was the resource bridge deployed before its resource providers were registered?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.arc.bridge import ArcBridge
from handlers.evidence.arc.providers import BridgeProviders, needed_by
from handlers.model import Clear, Finding, NotApplicable

CODE = "arc-bridge-offline-providers"
_UNTIL = {
    False: "until it is deleted and deployed again",
    True: "until support has repaired it: it is part of Azure Local, so do not delete or deploy it yourself",
}
"""What ends it, by whether Azure Local has deployed it."""


@diagnostic(codes=(CODE,), area="cluster")
def arc_bridge_offline_providers(
    bridge: ArcBridge, providers: BridgeProviders | NotApplicable
) -> Iterator[Finding | Clear]:
    """The resource bridge is Offline or Failed, and a resource provider that it needs is not registered."""
    if isinstance(providers, NotApplicable):
        yield Clear(bridge.in_words)
    elif missing := providers.missing(bridge):
        yield _finding(bridge, missing)
    elif providers.complete:
        yield Clear(f"{bridge.in_words}; all {len(needed_by(bridge))} resource providers that it needs are registered")


def _finding(bridge: ArcBridge, missing: list[tuple[str, str, str]]) -> Finding:
    where = f"in subscription {bridge.subscription}"
    return Finding(
        code=CODE,
        subject=bridge.id,
        affects=(bridge.id,),
        because=(
            f"{bridge.in_words}, and {missing[0][0]} is {missing[0][2]} {where}",
            *(f"{name} ({purpose}) is {state} {where}" for name, purpose, state in missing[1:]),
            f"a bridge that was deployed before these were registered stays so {_UNTIL[bridge.of_azure_local]}",
        ),
        facts={
            **bridge.facts(),
            "missing": [name for name, _, _ in missing],
            "missing_states": {name: state for name, _, state in missing},
        },
    )
