"""Numbers with their noun."""

import pytest

from handlers.counted import counted


@pytest.mark.parametrize(
    ("number", "noun", "plural", "reads"),
    [
        (0, "node", "", "no node"),
        (1, "node", "", "1 node"),
        (3, "node", "", "3 nodes"),
        (1, "policy", "policies", "1 policy"),
        (2, "policy", "policies", "2 policies"),
    ],
)
def test_a_number_reads_with_its_noun(number: int, noun: str, plural: str, reads: str) -> None:
    assert counted(number, noun, plural) == reads
