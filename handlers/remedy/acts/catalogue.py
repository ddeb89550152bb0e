"""Which act carries out which verb."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.remedy.acts.abort_latest import AbortLatest
from handlers.remedy.acts.act import Act
from handlers.remedy.acts.budgets.relax_budget import RelaxBudget
from handlers.remedy.acts.budgets.restore_budget import RestoreBudget
from handlers.remedy.acts.delete_pod import DeletePod
from handlers.remedy.acts.enable_isolation_domain import EnableIsolationDomain
from handlers.remedy.acts.probe_from_pod import ProbeFromPod
from handlers.remedy.acts.put_as_read import PutAsRead, PutClusterAsRead
from handlers.remedy.acts.reapply_machine import ReapplyMachine
from handlers.remedy.acts.register_provider import RegisterProvider
from handlers.remedy.acts.update_instance import UpdateInstance
from handlers.remedy.plan import Verb

ACTS: Mapping[Verb, Act] = {
    Verb.ABORT_LATEST: AbortLatest(),
    Verb.DELETE_POD: DeletePod(),
    Verb.ENABLE_ISOLATION_DOMAIN: EnableIsolationDomain(),
    Verb.PROBE_FROM_POD: ProbeFromPod(),
    Verb.PUT_CLUSTER_AS_READ: PutClusterAsRead(),
    Verb.PUT_POOL_AS_READ: PutAsRead(),
    Verb.REAPPLY_MACHINE: ReapplyMachine(),
    Verb.REGISTER_PROVIDER: RegisterProvider(),
    Verb.RELAX_BUDGET: RelaxBudget(),
    Verb.RESTORE_BUDGET: RestoreBudget(),
    Verb.UPDATE_INSTANCE: UpdateInstance(),
}
