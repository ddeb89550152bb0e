"""How is this node? What is wrong with it, the checks of the whole cluster say."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.asked.unknown import nearest
from handlers.engine.declare import diagnostic
from handlers.evidence.cluster import Node, NodeLeases, Nodes
from handlers.model import Clear, Judgement, NotApplicable, Target, Unavailable, Why
from handlers.question import Word


@diagnostic(codes=(), area="nodes", word=Word.NODE)
def asked_node(target: Target, nodes: Nodes, leases: NodeLeases | Unavailable) -> Iterator[Judgement]:
    """Whether the node that was asked about is Ready."""
    asked = target.about
    if asked is None or asked.word is not Word.NODE:
        yield NotApplicable("nobody asked about a node")
        return
    name = asked.values[0]
    node = next((node for node in nodes.nodes if node.name.lower() == name), None)
    if node is None:
        yield _nowhere(name, nodes)
    elif isinstance(leases, Unavailable):
        yield leases
    elif not node.is_ready:
        yield Unavailable(f"why {node.name} is not Ready", Why.ABSENT, _said(node))
    else:
        renewed = leases.renewed.get(node.name)
        heard = f"; its kubelet last reported at {renewed:%H:%M:%S} UTC" if renewed else ""
        yield Clear(f"{node.name} of pool {node.pool or 'none'} is {_said(node)}{heard}")


def _nowhere(name: str, nodes: Nodes) -> Unavailable:
    if nodes.truncated:
        return Unavailable(f"node {name}", Why.FAILED, "only a part of the nodes was read")
    near = nearest(name, [node.name for node in nodes.nodes])
    has = f"nearest are {', '.join(near)}" if near else f"there are {len(nodes.nodes)} nodes"
    return Unavailable(f"node {name}", Why.ABSENT, f"no node is called {name}; {has}")


def _said(node: Node) -> str:
    since = f" since {node.ready.since:%Y-%m-%d %H:%M} UTC" if node.ready.since else ""
    why = node.ready.message or node.ready.reason
    ready = "Ready" if node.is_ready else f"not Ready{f' ({why})' if why else ''}"
    troubles = f", with {', '.join(sorted(node.troubles))}" if node.troubles else ""
    return f"{ready}{since}{troubles}{', cordoned' if node.cordoned else ''}"
