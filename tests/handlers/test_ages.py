from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from handlers.ages import ago

NOW = datetime(2026, 11, 19, 3, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s ago"),
        (119, "119 s ago"),
        (120, "2 min ago"),
        (7199, "119 min ago"),
        (7200, "2 h ago"),
        (172_799, "47 h ago"),
        (172_800, "2 days ago"),
    ],
)
def test_the_larger_unit_is_used_from_two_of_it(seconds: int, words: str) -> None:
    assert ago(NOW - timedelta(seconds=seconds), NOW) == words
