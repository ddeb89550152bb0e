"""The same kinds of fault with other names, numbers, times and wordings: the root stays the same."""

from __future__ import annotations

import pytest

from tests.cloud_opsbench.recording import load, names
from tests.cloud_opsbench.serving import diagnosed
from tests.cloud_opsbench.variations import VARIATIONS, varied
from tests.sample import takes

ONE_OF, OF_ALL = 160, 4
"""How many of recordings times variations a usual run takes, and a soak."""
SILENT_LATER = frozenset({"oom_killed", "liveness_probe_incorrect_port", "liveness_probe_incorrect_protocol"})
"""Kinds of fault of which only the kubelet's events tell. It would have tried again by then (a sandbox, a probe), and
said so; a recording holds what it had said."""

pytestmark = pytest.mark.skipif(not names(), reason="no recordings (AKSBOT_TEST_OPSBENCH)")

PAIRS = [(name, variation) for name in names() for variation in VARIATIONS]


def _chosen(of: int) -> list[tuple[str, str]]:
    return [pair for pair in PAIRS if takes(" ".join(pair), of)]


async def _judged(name: str, variation: str) -> None:
    recorded = load(name)
    if not recorded.asked_for or (recorded.kind in SILENT_LATER and variation.endswith("later")):
        return
    score = await diagnosed(varied(recorded, variation))
    assert score.right, [(one.finding.code, one.finding.subject) for one in score.diagnosis.findings]
    assert score.beside == ()


@pytest.mark.parametrize(("name", "variation"), _chosen(ONE_OF))
async def test_the_root_does_not_hang_on_names_numbers_times_or_wordings(name: str, variation: str) -> None:
    await _judged(name, variation)


@pytest.mark.soak
@pytest.mark.parametrize("variation", VARIATIONS)
async def test_nor_does_it_in_many_more_of_them(variation: str) -> None:
    for name, other in _chosen(OF_ALL):
        if other == variation:
            await _judged(name, other)
