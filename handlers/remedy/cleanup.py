"""Cleans up after fixes whose records are lost: what they left in a cluster is found by its annotation, and restored or
removed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.errors import ArmError, NotFound
from handlers.evidence.budgets import RELAXED_FROM
from handlers.evidence.permissions_inside import PROBED_IN
from handlers.remedy.acts.act import KubeWriterClient, WriterClients
from handlers.remedy.acts.budgets.budget import (
    annotations_of,
    path_of,
    relaxed_from,
    restoring_patch,
    was_changed_by_others,
)
from handlers.remedy.acts.delete_pod import pod_path
from handlers.remedy.acts.probe_from_pod import MADE_BY, removal_of
from handlers.remedy.probe_from_pod import NAME as PROBE

BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
CONFLICT = 409
"""Somebody was faster: the next round sees what they made of it."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A relaxed budget or left-over pod, and its fix. `trouble`: why it could not be restored or removed."""

    name: str
    execution: str
    trouble: str = ""
    changed: bool = False
    """Somebody has changed it meanwhile: their values were kept, and only our annotation was removed."""


Running = Callable[[], Awaitable[Collection[str]]]
Tidy = Callable[[WriterClients, Running], Awaitable[tuple[Restored, ...]]]


async def restore_relaxed_budgets(write_clients: WriterClients, running: Running) -> tuple[Restored, ...]:
    """Restore every relaxed budget whose fix is not running any more.

    `running` returns the ids of running fixes. It is called after the budgets were read, so that a fix that starts in
    between is not taken for lost. The reader finds the budgets; the writer needs no list permission. Raises an ArmError
    if the budgets could not be read.
    """
    listed = await write_clients.nodes.list(BUDGETS, _where_relaxed)
    found = [(namespace, name, await _body(write_clients.kube, namespace, name)) for namespace, name in listed.items]
    known = await running() if found else ()
    done = [await _put_back(write_clients.kube, *item, known) for item in found]
    return tuple(restored for restored in done if restored is not None)


async def remove_orphaned_probe(write_clients: WriterClients, running: Running) -> tuple[Restored, ...]:
    """Remove the probe pod of a fix that is not running any more: it would block the next probe.

    It has one fixed name, so nothing is listed. A pod without our annotation is somebody else's. Raises an ArmError if
    it could not be read.
    """
    path = pod_path(PROBED_IN, PROBE)
    try:
        pod = await write_clients.kube.get(path)
    except NotFound:
        return ()
    execution = str(annotations_of(pod).get(MADE_BY, ""))
    if not execution or execution in await running():
        return ()
    called = f"{PROBED_IN}/Pod/{PROBE}"
    try:
        await write_clients.kube.delete(path, removal_of(pod))
    except NotFound:
        return ()
    except ArmError as error:
        return (Restored(called, execution, error.detail),)
    return (Restored(called, execution),)


def _where_relaxed(body: Mapping[str, Any]) -> tuple[str, str] | None:
    metadata = body["metadata"]
    return (metadata["namespace"], metadata["name"]) if RELAXED_FROM in annotations_of(body) else None


async def _body(kube: KubeWriterClient, namespace: str, name: str) -> Any:
    """The budget as it is, or why it could not be read. None: it no longer exists."""
    try:
        return await kube.get(path_of(namespace, name))
    except NotFound:
        return None
    except ArmError as error:
        return error


async def _put_back(
    kube: KubeWriterClient, namespace: str, name: str, body: Any, running: Collection[str]
) -> Restored | None:
    called = f"{namespace}/PodDisruptionBudget/{name}"
    if isinstance(body, ArmError):
        return Restored(called, "", body.detail)
    if body is None or RELAXED_FROM not in annotations_of(body):
        return None
    was = relaxed_from(body)
    if was is None:
        return Restored(called, "", "its annotation cannot be read: compare it with what it should be, by hand")
    if was.execution in running:
        return None
    try:
        # With the resourceVersion that was read: a concurrent change wins.
        await kube.merge_patch(path_of(namespace, name), restoring_patch(body, was))
    except NotFound:
        return None
    except ArmError as error:
        return None if error.status == CONFLICT else Restored(called, was.execution, error.detail)
    return Restored(called, was.execution, changed=was_changed_by_others(body, was))
