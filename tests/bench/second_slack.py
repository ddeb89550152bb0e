"""The first sign in a Slack that we have not written (`tests/second_slack`); no figure where it is not installed."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.bench.figure import Figure
from tests.second_slack.serving import serving
from tests.second_slack.slack import EXECUTABLE, second_slack, why_not

SCENARIO = "nodepool-failed"
CLUSTERS = ("prod-weu", "prod-eus2", "staging-neu", "dev-shared", "payments-prod")
REPORT = "{cluster}: node pool is in a failed state, provisioningState Failed"


def figures() -> Iterator[Figure]:
    if why_not(EXECUTABLE) is None:
        yield asyncio.run(_first_sign())


async def _first_sign() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            ArmServer(Scenario.load(SCENARIO).world) as arm,
            second_slack(Path(folder)) as slack,
            serving(slack, arm, Path(folder)),
        ):
            signs = []
            for cluster in CLUSTERS:
                said = await slack.say("requester", REPORT.format(cluster=cluster))
                signs.append(await slack.first_sign_s(said))
                await slack.with_button("show_all_checks", said["ts"])
    told = f"the latest of {len(signs)} reports in local-slack; median {median(signs):.2f} s; "
    load = f"the load was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return Figure("second-slack-first-sign", max(signs), "s", 1, told + load)


if __name__ == "__main__":
    for figure in figures():
        sys.stdout.write(
            f"{'ok    ' if figure.ok else 'MISSED'} {figure.name} {figure.value:.3f} {figure.unit}: {figure.detail}\n"
        )
