"""The display name of a finding's subject."""

import pytest

from bot.render.subject import short

GROUP = "/subscriptions/5a1c0000-0000-4000-8000-000000000001/resourceGroups/rg-one/providers"
ABOVE = "/providers/Microsoft.Management/managementGroups/platform/providers"


@pytest.mark.parametrize(
    ("subject", "called"),
    [
        (f"{GROUP}/Microsoft.Network/loadBalancers/kubernetes", "load balancer kubernetes"),
        (f"{GROUP}/Microsoft.Authorization/policyAssignments/tags", "policy tags"),
        (f"{ABOVE}/Microsoft.Authorization/policyAssignments/tags", "policy tags"),
        (f"{GROUP}/Microsoft.OperationalInsights/workspaces/logs", "workspace logs"),
        ("kube-system/Deployment/coredns", "kube-system/Deployment/coredns"),
        (
            "/providers/Microsoft.Management/managementGroups/platform",
            "/providers/Microsoft.Management/managementGroups/platform",
        ),
    ],
)
def test_a_subject_is_called_by_its_kind_and_name(subject: str, called: str) -> None:
    assert short(subject) == called
