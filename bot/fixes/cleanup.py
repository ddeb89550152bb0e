"""What a lost fix has left, a relaxed budget or a probe pod: found in the clusters themselves, and tidied up."""

from __future__ import annotations

import logging

from bot.audit.record import Actor, Entry, What
from bot.audit.store import Audit
from bot.checks.remedies import remedies
from bot.fixes.store.executions import Executions
from bot.fixes.writer_clients import WriterClientFactory
from bot.policy.fixes import Fixes
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError
from handlers.evidence.azure import MANAGED_CLUSTER
from handlers.fleet.clusters import FleetMember, fleet
from handlers.model import Target
from handlers.remedy.cleanup import Restored, Tidy, remove_orphaned_probe, restore_relaxed_budgets
from handlers.resource_id import ResourceId

log = logging.getLogger(__name__)

_BUDGETS = "poddisruptionbudgets"
_PROBES = "create pods"


class Cleanup:
    """Looks into the clusters in which the policy lets budgets be relaxed, or probe pods be made."""

    def __init__(
        self, policy: Fixes, arm: ArmReader, bench: WriterClientFactory, executions: Executions, audit: Audit
    ) -> None:
        self._policy, self._arm, self._bench = policy, arm, bench
        self._executions, self._audit = executions, audit

    async def restore(self) -> None:
        if not self._policy.rules:
            return
        try:
            members = await fleet(self._arm)
        except ArmError as error:
            log.warning("cannot look for budgets that were left relaxed: %s", error)
            return
        for member in members:
            if member.type.lower() != MANAGED_CLUSTER.lower():
                continue
            if self._may_hold(member.name, _BUDGETS):
                await self._look_in(member, "relaxed budgets", restore_relaxed_budgets)
            if self._may_hold(member.name, _PROBES):
                await self._look_in(member, "a probe pod", remove_orphaned_probe)

    def _may_hold(self, cluster: str, act: str) -> bool:
        """Whether the policy lets a fix that does this act there."""
        doing = [remedy.name for remedy in remedies().all if any(act in known for known in remedy.acts)]
        return any(self._policy.rule_for(cluster, name) for name in doing)

    async def _look_in(self, member: FleetMember, what: str, tidy: Tidy) -> None:
        target = Target(ResourceId.parse(member.id))
        try:
            async with self._bench.write_clients(target) as write_clients:
                done = await tidy(write_clients, self._running)
        except ArmError as error:
            log.info("cannot look for %s in %s: %s", what, member.name, error)
            return
        except Exception:  # the edge of a round: one cluster that nobody expected so must not cost the others
            log.exception("looking for %s in %s failed", what, member.name)
            return
        for restored in done:
            if restored.execution:
                # What cannot be put back is tried in every round, by every worker, and is one thing to know.
                name = f"restored {restored.execution} {restored.name} {restored.trouble}"
                await self._audit.write_once(_entry(restored, member.id), name)

    async def _running(self) -> list[str]:
        return [name async for name in self._executions.running()]


def _entry(restored: Restored, cluster: str) -> Entry:
    log.warning("put back what fix %s left relaxed: %s %s", restored.execution, restored.name, restored.trouble)
    details = ({"trouble": restored.trouble} if restored.trouble else {}) | (
        {"changed_meanwhile": True} if restored.changed else {}
    )
    return Entry(What.RESTORED, Actor(), cluster, restored.execution, target=restored.name, details=details)
