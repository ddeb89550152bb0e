"""What Azure's own detectors say: which are run, how one is read, and what is left open where one cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from bot.checks.remedies import detectors_of
from bot.render.detectors import detector_lines, reported_besides
from bot.report.detectors import Asked, compared, summed_up
from handlers.clients.arm.reader import ArmReader
from handlers.engine.run import Engine, Finished
from handlers.evidence.detectors import CRITICAL, MOST, NONE, SAME_AS, SUCCESS, WARNING, Detectors, read_detector
from handlers.model import CannotSee, Diagnosis, State, Unavailable, Why
from tests.handlers.diagnose.bodies import CLUSTER, Body, rows
from tests.handlers.diagnose.wire import GRAPH, LIBRARY, Azure
from tests.handlers.remedy.asking import clients_of

CRUD, ADVICE = "Create, Upgrade, Delete and Scale", "Best Practices"


def listed(name: str, category: str = CRUD, kind: str = "Detector") -> Body:
    metadata = {"id": name, "name": f"About {name}", "category": category, "type": kind}
    status = {"message": None, "statusId": 4}
    return {"id": f"{CLUSTER}/detectors/{name}", "name": name, "properties": {"metadata": metadata, "status": status}}


def insights(*said: tuple[str, str]) -> Body:
    columns = [{"columnName": name} for name in ("Status", "Message", "Data.Name", "Data.Value")]
    table = {"columns": columns, "rows": [[status, message, "", ""] for status, message in said]}
    return {"renderingProperties": {"type": 7, "isVisible": True}, "table": table}


def ran(name: str, *said: tuple[str, str], status_id: int = 4) -> Body:
    body = listed(name)
    search = {"renderingProperties": {"type": 23}, "table": {"columns": [{"columnName": "X"}], "rows": [[True]]}}
    body["properties"] |= {"dataset": [insights(*said), search], "status": {"message": None, "statusId": status_id}}
    return body


def with_detectors(azure: Azure, *bodies: Body) -> Azure:
    """The cluster has these, and each says what its body holds when it is run."""
    azure.more[f"{CLUSTER}/detectors"] = rows(listed(body["name"]) for body in bodies)
    azure.more |= {f"{CLUSTER}/detectors/{body['name']}": body for body in bodies}
    return azure


def healthy() -> Azure:
    azure = Azure()
    azure.pool("apps")
    for number in range(3):
        azure.node(f"node-{number}", machine=number)
    return azure


async def asked(azure: Azure) -> tuple[Asked, Diagnosis]:
    """A whole check of the cluster, and then its detectors."""
    async with clients_of(azure) as (target, clients):
        async for event in Engine(GRAPH, LIBRARY.explains).check(target, clients):
            if isinstance(event, Finished):
                return await detectors_of(event, target, clients), event.diagnosis
    raise AssertionError("a check ends")


async def read(azure: Azure) -> Detectors:
    told, _ = await asked(azure)
    assert isinstance(told, Detectors), told
    return told


def lines(told: Asked, diagnosis: Diagnosis) -> list[str]:
    return [f"{line.mark} {line.name} {line.says}" for line in detector_lines(told, diagnosis)]


async def test_at_most_eight_are_run_and_first_those_that_look_at_what_a_check_looks_at() -> None:
    others = [ran(f"other-{number:02}", (SUCCESS, "well")) for number in range(12)]
    azure = with_detectors(healthy(), *others, ran("nodes-not-ready-alerts", (SUCCESS, "well")))
    told = await read(azure)
    assert (len(told.ran), told.offered) == (MOST, 13)
    assert [one.id for one in told.ran][:2] == ["nodes-not-ready-alerts", "other-00"]
    assert summed_up(told) == "8 of 13 run over the last 24 hours, 8 found nothing"


async def test_overviews_and_advice_are_not_run() -> None:
    azure = healthy()
    offered = [listed("aks-category-crud", kind="CategoryOverview"), listed("b-series", ADVICE), listed("pool-x")]
    azure.more[f"{CLUSTER}/detectors"] = rows(offered)
    azure.more[f"{CLUSTER}/detectors/pool-x"] = ran("pool-x", (SUCCESS, "well"))
    assert [one.id for one in (await read(azure)).ran] == ["pool-x"]


async def test_a_usual_check_runs_none() -> None:
    azure = with_detectors(healthy(), ran("nodes-not-ready-alerts", (CRITICAL, "Node a is not ready.")))
    async with clients_of(azure) as (target, clients):
        diagnosis = await Engine(GRAPH, LIBRARY.explains).diagnose(target, clients)
        paths = [call.path.lower() for call in clients[ArmReader].calls]
    assert paths
    assert not [path for path in paths if "/detectors" in path]
    assert diagnosis.state is not State.FOUND


# -- one of them ----------------------------------------------------------------------------------------------------


def test_the_worst_insight_is_the_result_and_what_is_well_is_not_told() -> None:
    one = read_detector(ran("x", (SUCCESS, "well"), (WARNING, "<b>SubnetIsFull</b> in\n pool"), (WARNING, "again")))
    assert (one.status, one.says) == (WARNING, ("SubnetIsFull in pool", "again"))
    assert one.same_as == ("subnet-full",)


@pytest.mark.parametrize(("status_id", "status"), [(0, CRITICAL), (3, SUCCESS), (4, NONE), (9, NONE)])
def test_without_insights_its_own_status_counts(status_id: int, status: str) -> None:
    one = read_detector(ran("x", status_id=status_id))
    assert (one.status, one.reports) == (status, status == CRITICAL)


def test_one_without_a_result_has_not_found_nothing() -> None:
    assert not read_detector(ran("x")).found_nothing


@pytest.mark.parametrize("table", [None, {}, {"columns": [], "rows": [None, 3, [None]]}, {"rows": "x"}])
def test_a_strange_table_is_no_crash_and_no_result(table: Any) -> None:
    body = ran("x")
    body["properties"]["dataset"] = [{"renderingProperties": {"type": 7}, "table": table}, None]
    assert read_detector(body).status == NONE


def test_an_answer_without_datasets_is_not_read_as_well() -> None:
    with pytest.raises(CannotSee):
        read_detector(listed("x"))


def test_each_finding_that_a_detector_may_repeat_exists() -> None:
    assert {code for codes in SAME_AS.values() for code in codes} - set(LIBRARY.explains) <= {
        "autoscaler-stuck",
        "arm-throttled",
        "snat-exhausted",
        "service-principal-expired",
    }


# -- next to our own findings ---------------------------------------------------------------------------------------


async def test_what_a_finding_says_already_is_said_once() -> None:
    azure = healthy()
    azure.pools["apps"]["provisioningState"] = "Failed"
    told, diagnosis = await asked(
        with_detectors(azure, ran("ProvisioningStatusNodePool", (CRITICAL, "Node pool 'apps' is 'Failed'.")))
    )
    assert reported_besides(told, diagnosis) == 0
    assert lines(told, diagnosis)[0] == (
        "=  the same as found above: About ProvisioningStatusNodePool (nodepool-failed)"
    )


async def test_what_no_finding_names_stands_beside_our_own_verdict() -> None:
    said = "Pod Disruption Budget shop/web allows no disruption."
    told, diagnosis = await asked(with_detectors(healthy(), ran("incorrect-pod-disruption-budgets", (WARNING, said))))
    assert reported_besides(told, diagnosis) == 1
    assert lines(told, diagnosis)[0].startswith(f"! About incorrect-pod-disruption-budgets {said} (our check of pdb-")
    assert "is clear: " in lines(told, diagnosis)[0]
    assert diagnosis.state is not State.FOUND  # a hint of another tool is no finding of ours


async def test_where_our_check_could_not_look_that_is_what_is_said_beside_it() -> None:
    azure = with_detectors(healthy(), ran("nodes-not-ready-alerts", (CRITICAL, "Node node-0 is not ready.")))
    azure.denied = {"/api/v1/nodes"}
    told, diagnosis = await asked(azure)
    assert "our check of node-not-ready stayed open: " in lines(told, diagnosis)[0]


async def test_what_nobody_here_looks_at_says_so_and_critical_ones_come_first() -> None:
    azure = with_detectors(healthy(), ran("a", (WARNING, "odd")), ran("b", (CRITICAL, "bad")))
    told, diagnosis = await asked(azure)
    assert lines(told, diagnosis)[:2] == [
        "✗ About b bad (no check of ours looks at this)",
        "! About a odd (no check of ours looks at this)",
    ]
    assert isinstance(told, Detectors)
    assert [one.critical for one in compared(told, diagnosis)] == [True, False]


# -- what cannot be seen --------------------------------------------------------------------------------------------


async def test_who_may_not_read_them_is_told_so() -> None:
    azure = with_detectors(healthy(), ran("x", (SUCCESS, "well")))
    azure.denied = {"/detectors"}
    told, diagnosis = await asked(azure)
    assert isinstance(told, Unavailable)
    assert told.why is Why.DENIED
    assert lines(told, diagnosis)[0].startswith("?  could not be read: 403")


async def test_one_that_cannot_be_run_is_a_gap_and_no_all_clear() -> None:
    azure = with_detectors(healthy(), ran("x", (SUCCESS, "well")), ran("y", (SUCCESS, "well")))
    azure.denied = {"/detectors/y"}
    told, diagnosis = await asked(azure)
    assert isinstance(told, Detectors)
    assert ([one.id for one in told.ran], len(told.gaps)) == (["x"], 1)
    assert lines(told, diagnosis)[-1].endswith(
        "1 of 2 run over the last 24 hours, 1 found nothing, 1 could not be read"
    )


async def test_a_cluster_without_detectors_has_none_that_found_nothing() -> None:
    azure = healthy()
    azure.more[f"{CLUSTER}/detectors"] = rows([])
    assert summed_up(await read(azure)) == "0 of 0 run over the last 24 hours, 0 found nothing"
