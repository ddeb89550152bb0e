"""Subscription-level reads: a reader limited to resource groups is told which permission is missing where."""

from __future__ import annotations

import pytest

from handlers.model import Outcome, Why
from tests.handlers.diagnose.bodies import LOCATION, SUB
from tests.handlers.diagnose.wire import NETWORK, Azure, asked


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("quota-exceeded", f"{LOCATION}/usages"),
        ("quota-exceeded", "/providers/Microsoft.Compute/skus"),
        ("public-ip-count-limit", f"{NETWORK}/usages"),
        ("subscription-not-registered", "/providers/Microsoft.Compute"),
    ],
)
async def test_it_names_the_subscription_on_which_the_permission_is_missing(question: str, part: str) -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {part}
    check = await asked(question, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    [unseen] = [one for one in check.unseen if "a role on resource groups does not show it" in one.detail]
    assert unseen.why is Why.DENIED
    assert unseen.detail.startswith(f"missing on /subscriptions/{SUB}: ")
