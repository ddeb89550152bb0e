"""A title says what is done to what, however long a name is."""

from __future__ import annotations

import pytest

from handlers.remedy.titles import LONGEST_TITLE, shortened, titled


def test_a_title_that_fits_stays_as_it_is() -> None:
    assert titled("Reconcile cluster {}", "prod-weu") == "Reconcile cluster prod-weu"


@pytest.mark.parametrize(
    ("words", "name", "begins", "ends"),
    [
        (
            "Abort the operation on cluster {}",
            "aks-payments-prod-westeurope-01",
            "Abort the operation on cluster aks-",
            "westeurope-01",
        ),
        (
            "Relax budget {}, then go on",
            "checkout-service-canary-disruption-budget",
            "Relax budget checkout-service-",
            "budget, then go on",
        ),
    ],
)
def test_of_a_long_name_the_middle_is_left_out_and_that_is_marked(
    words: str, name: str, begins: str, ends: str
) -> None:
    said = titled(words, name)
    assert len(said) == LONGEST_TITLE
    assert (said.startswith(begins), said.endswith(ends), "…" in said) == (True, True, True), said


def test_names_that_begin_alike_have_titles_of_their_own() -> None:
    alike = "checkout-service-canary-disruption-budget-of-the-"
    assert titled("Relax budget {}, then go on", f"{alike}blue") != titled("Relax budget {}, then go on", f"{alike}red")


def test_a_name_is_never_longer_than_it_may_be() -> None:
    assert [len(shortened("x" * 80, longest)) for longest in (3, 4, 37, 80, 81)] == [3, 4, 37, 80, 80]
