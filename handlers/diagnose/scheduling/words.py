"""What the scheduler itself said of a pod, by cause: it confirms what the nodes show, or says what they do not."""

from __future__ import annotations

from runbooks.linear import compile_linear

# The reasons of kube-scheduler's plugins (pkg/scheduler/framework/plugins, ErrReason…), as they stand in
# "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable. preemption: …".
_REASONS = (
    ("volume-limit", "exceed max volume count"),
    ("volume-zone", "had volume node affinity conflict"),
    ("volume-zone", "had no available volume zone"),
    ("node-affinity", "didn't match Pod's node affinity"),
    ("pod-affinity", "didn't match pod affinity rules"),
    ("anti-affinity", "anti-affinity rules"),
    ("topology-spread", "didn't match pod topology spread constraints"),
    ("taint", "had untolerated taint"),
    ("cordon", "were unschedulable"),
    ("cpu", "Insufficient cpu"),
    ("memory", "Insufficient memory"),
    ("ephemeral-storage", "Insufficient ephemeral-storage"),
    ("pods-per-node", "Too many pods"),
    ("host-port", "didn't have free ports"),
    ("extended-resource", "Insufficient "),
)
_OF_VOLUMES = (
    "unbound immediate PersistentVolumeClaims",
    "didn't find available persistent volumes to bind",
    "did not have enough free storage",
    "waiting for ephemeral volume controller to create the persistentvolumeclaim",
)
_CLAIM_GONE = compile_linear(r'persistentvolumeclaim "[^"]{1,253}" (not found|is being deleted|bound to non-existent)')
_PREEMPTION = " preemption:"
UNSEEN_BY_US = frozenset({"volume-limit"})
"""What only the scheduler says: how many disks a node takes is not read."""


def told_causes(said: str) -> tuple[str, ...]:
    """The causes in a message of the scheduler, as it orders them."""
    reasons = said.partition(_PREEMPTION)[0]
    found = [(reasons.index(words), cause) for cause, words in _REASONS if words in reasons]
    causes = tuple(dict.fromkeys(cause for _, cause in sorted(found)))
    named = {"cpu", "memory", "ephemeral-storage"} & set(causes)
    only_named = reasons.count("Insufficient ") == len(named)
    return tuple(cause for cause in causes if cause != "extended-resource" or not only_named)


def about_volumes(said: str) -> bool:
    """A claim that is missing or not bound: its volume is the question, and no node is."""
    return any(words in said for words in _OF_VOLUMES) or _CLAIM_GONE.search(said) is not None


def only_about_volumes(said: str) -> bool:
    """Where it names something else, too, some node would do but for that."""
    return about_volumes(said) and not told_causes(said)


def being_made(said: str) -> bool:
    """A volume that is made before its pod has a node: for some seconds every such claim is without one."""
    return _OF_VOLUMES[0] in said


def shortened(said: str) -> str:
    """Without what it says of preemption, which repeats that nobody else can be evicted."""
    return said.partition(_PREEMPTION)[0].strip()
