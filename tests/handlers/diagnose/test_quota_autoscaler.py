"""What the cluster autoscaler says that it could not get: a full quota behind a node group that is backed off."""

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import usage
from tests.handlers.diagnose.wire import Azure, asked, found

BACKED_OFF = """\
time: 2026-11-18 03:06:51.123456789 +0000 UTC
autoscalerStatus: Running
clusterWide:
  health:
    status: Healthy
nodeGroups:
- name: aks-apps-12345678-vmss
  health:
    status: Healthy
    nodeCounts:
      registered:
        total: 3
        ready: 3
    cloudProviderTarget: 3
    minSize: 1
    maxSize: 9
  scaleUp:
    status: Backoff
    backoffInfo:
      errorCode: cloudProviderError
      errorMessage: '%s'
    lastTransitionTime: "2026-11-18T03:01:04.603109712Z"
"""
AS_TEXT = """\
Cluster-autoscaler status at 2026-11-18 03:06:51.123456789 +0000 UTC:
Cluster-wide:
  Health:      Healthy (ready=3 unready=0 registered=3 longUnregistered=0)
  ScaleUp:     NoActivity (ready=3 registered=3)

NodeGroups:
  Name:        aks-apps-12345678-vmss
    Health:      Healthy (ready=3 registered=3 cloudProviderTarget=5 (minSize=1, maxSize=9))
    ScaleUp:     Backoff (ready=3 cloudProviderTarget=5)
"""


def autoscaled(status: str, used: int = 100) -> Azure:
    azure = Azure()
    azure.pool("apps", enableAutoScaling=True, minCount=1, maxCount=9)
    azure.usages[2] = usage("standardDSv5Family", used, 100)
    azure.autoscaler = status
    return azure


async def test_a_node_group_that_is_backed_off_for_want_of_cores_is_found() -> None:
    finding = await found("quota-exceeded", autoscaled(BACKED_OFF % "exceeding approved Cores quota"))
    assert finding.severity is Severity.ERROR
    assert finding.because[1] == (
        "pool apps wants 4 cores (1 × Standard_D4s_v5, 4 cores each, for the cluster autoscaler)"
    )
    assert finding.because[3] == (
        "cluster autoscaler: aks-apps-12345678-vmss is backed off since 2026-11-18T03:01:04 UTC: "
        "cloudProviderError: exceeding approved Cores quota"
    )


async def test_an_autoscaler_that_does_not_say_why_is_judged_by_the_arithmetic() -> None:
    azure = autoscaled(BACKED_OFF % "Azure failed to provision a node for this node group")
    assert (await found("quota-exceeded", azure)).facts["short"] == 4


async def test_the_older_text_says_that_it_is_backed_off_and_not_why() -> None:
    finding = await found("quota-exceeded", autoscaled(AS_TEXT))
    assert "pool apps wants 8 cores (2 ×" in finding.because[1]


@pytest.mark.parametrize(
    ("status", "used"),
    [
        (BACKED_OFF % "exceeding approved Cores quota", 60),
        (BACKED_OFF % 'Code="AllocationFailed" Message="no capacity"', 100),
        (BACKED_OFF.replace("Backoff", "NoActivity") % "", 100),
        ("", 100),
    ],
)
async def test_a_node_group_that_waits_for_no_cores_is_no_finding(status: str, used: int) -> None:
    assert (await asked("quota-exceeded", autoscaled(status, used))).outcome is Outcome.CLEAR


QUIET = BACKED_OFF.replace("Backoff", "NoActivity") % ""


@pytest.mark.parametrize(
    "status", ["", "no status at all", QUIET.replace("03:06:51", "02:01:51"), QUIET.partition("\n")[2]]
)
async def test_what_the_autoscaler_did_not_say_leaves_a_full_quota_open(status: str) -> None:
    azure = autoscaled(status)
    azure.denied = set() if status else {"cluster-autoscaler-status"}
    check = await asked("quota-exceeded", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "autoscaler" in check.why


async def test_where_every_pool_may_grow_to_its_limit_nothing_hangs_on_the_autoscaler() -> None:
    azure = autoscaled("", used=40)
    azure.denied = {"cluster-autoscaler-status"}
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR
