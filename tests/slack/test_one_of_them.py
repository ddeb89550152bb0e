"""One thing is spoken of as one."""

from __future__ import annotations

import pytest

from bot.render.packet.errors import MOST_ERRORS, MOST_TIMES, ErrorText, as_markdown
from bot.slack.inbound.triage_text import and_more
from bot.slack.kit.sentences import too_many_to_pick


@pytest.mark.parametrize(("number", "says"), [(1, "1 more does not fit"), (2, "2 more do not fit")])
def test_clusters_that_do_not_fit_into_a_menu(number: int, says: str) -> None:
    assert too_many_to_pick(number).startswith(says)


@pytest.mark.parametrize(("number", "says"), [(1, "1 more cluster; "), (2, "2 more clusters; ")])
def test_clusters_that_a_message_names(number: int, says: str) -> None:
    assert and_more(number).startswith(f"It names {says}")


@pytest.mark.parametrize(("number", "says"), [(0, "\n"), (1, ", and once more\n"), (2, ", and 2 times more\n")])
def test_times_at_which_an_error_came(number: int, says: str) -> None:
    times = [f"2026-11-18 03:{minute:02d}" for minute in range(MOST_TIMES + number)]
    page = as_markdown("prod-weu", [ErrorText("Failed", "prod-weu", "no capacity", times)], [])
    assert f"{times[MOST_TIMES - 1]}{says}" in page


@pytest.mark.parametrize(("number", "says"), [(1, "1 more is in `recording.json`."), (2, "2 more are in")])
def test_errors_that_are_not_shown(number: int, says: str) -> None:
    known = [ErrorText("Failed", "prod-weu", f"error {one}") for one in range(MOST_ERRORS + number)]
    assert says in as_markdown("prod-weu", known, [])
