"""Watches in every visible state."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from bot.incidents.watching import Look, Watch
from bot.slack.inbound import replies
from bot.slack.watch import text as said
from bot.slack.watch import view as watch_view
from tests.bot import diagnoses
from tests.checking import LIBRARY

Surface = partial[Any]

CAUSES = (("quota-exceeded", "westeurope"),)
WATCH = Watch(
    *("w-1", "T0CONTOSO", str(diagnoses.TARGET.id), "prod-weu", "C0INCIDENTS", None, "U0REQUESTER"),
    began_ms=0,
    until_ms=43_200_000,
    state="Upgrading",
    causes=CAUSES,
)
LASTED = timedelta(minutes=34)
STILL = said.still(watch_view.waits_for("Upgrading", CAUSES, LIBRARY), "prod-weu")

WATCHES: dict[str, Surface] = {
    "watch-watching": partial(watch_view.watching, WATCH, LIBRARY),
    "watch-estimated": partial(
        watch_view.watching,
        replace(
            WATCH,
            causes=(),
            estimate="cluster prod-weu: created or updated, since 02:31 UTC. It took 31 min to 42 min "
            "the last 3 times, so it should end by 03:13 UTC.",
        ),
        LIBRARY,
    ),
    "watch-over": partial(watch_view.over, WATCH, LASTED, Look(diagnoses.clear(), "Succeeded"), LIBRARY),
    "watch-over-but": partial(watch_view.over, WATCH, LASTED, Look(diagnoses.found(), "Succeeded"), LIBRARY),
    "watch-over-unclear": partial(watch_view.over, WATCH, LASTED, Look(diagnoses.blind(), "Succeeded"), LIBRARY),
    "watch-not-over": partial(watch_view.gave_up, WATCH, timedelta(hours=12), STILL),
    "watch-unseen": partial(watch_view.gave_up, WATCH, timedelta(hours=12), said.unseen(said.NOT_SEEN, "prod-weu")),
    "watch-stopped": partial(watch_view.stopped, WATCH, "U0APPROVER"),
    "watch-ended": partial(watch_view.after_its_end, WATCH),
    "watch-listed": partial(watch_view.listed, [(WATCH, LASTED)]),
    **{
        name: partial(replies.only, line)
        for name, line in {
            "watch-none": said.NONE,
            "watch-nothing": said.nothing_to_wait_for("prod-weu"),
            "watch-cannot-tell": said.cannot_tell("prod-weu"),
            "watch-known": said.known("prod-weu"),
            "watch-too-many": said.too_many(30),
            "watch-gone": said.GONE,
        }.items()
    },
}
