"""The scope of an answer: what was checked, what was left out, and what no check covers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.render.verdict import clear_in_part, label, only, summary
from bot.report.catalogue import section_of
from bot.report.events import EVERYTHING, Selection
from bot.report.known import checked_codes, questions
from bot.report.scope import kind_of, scope_of, selection_of
from handlers.model import Check, Diagnosis, Outcome, Target
from handlers.resource_id import ResourceId
from tests.bot import diagnoses
from tests.bot.diagnoses import SUBSCRIPTION, wider_library
from tests.checking import LIBRARY

AREAS = sorted({one.area for one in questions().values()})


def asked(*names: str, outcome: Outcome = Outcome.CLEAR) -> Diagnosis:
    checks = tuple(Check(name, questions()[name].codes, outcome, "fine", 0.1) for name in names)
    return replace(diagnoses.clear(), checks=checks)


def of_area(area: str) -> list[str]:
    return [name for name, one in questions().items() if one.area == area]


def test_a_whole_check_has_asked_all_that_can_be_asked() -> None:
    scope = scope_of(asked(*questions()), LIBRARY)
    assert (scope.only, scope.left_out, scope.narrowed) == (EVERYTHING, (), False)
    assert set(scope.codes) == checked_codes()
    assert list(scope.areas) == AREAS


def test_what_is_asked_and_what_cannot_be_is_every_problem_of_that_kind_of_cluster() -> None:
    scope = scope_of(asked(*questions()), LIBRARY)
    assert set(scope.codes) & set(scope.cannot_ask) == set()
    of_others = {code for code in scope.codes if LIBRARY[code].kind != "aks"}
    assert (set(scope.codes) - of_others) | set(scope.cannot_ask) == LIBRARY.of_kind("aks")


@pytest.mark.parametrize("area", AREAS)
def test_a_check_of_one_area_knows_what_it_has_left_out(area: str) -> None:
    diagnosis = asked(*of_area(area))
    scope = scope_of(diagnosis, LIBRARY)
    assert scope.narrowed
    assert area not in scope.left_out
    assert {*scope.left_out, area} == set(AREAS)
    assert scope.cannot_ask == scope_of(asked(*questions()), LIBRARY).cannot_ask


@pytest.mark.parametrize("name", sorted(questions()))
def test_a_check_of_one_code_is_never_clear_of_more(name: str) -> None:
    diagnosis = asked(name)
    assert selection_of(diagnosis) == Selection(only=questions()[name].codes[0])
    assert label(diagnosis) == (f"HEALTHY for {questions()[name].codes[0]} only", "part")
    assert summary(diagnosis, LIBRARY) == "1 check found nothing; the rest was not looked at"


@pytest.mark.parametrize("area", AREAS)
def test_a_narrowed_check_is_never_plainly_clear(area: str) -> None:
    for outcome in (Outcome.CLEAR, Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE):
        diagnosis = asked(*of_area(area), outcome=outcome)
        assert label(diagnosis) not in (("HEALTHY in what was asked", "clear"), ("HEALTHY", "part"))
        assert "only" in label(diagnosis)[0] + summary(diagnosis)


def test_its_twin_with_every_question_is() -> None:
    assert label(asked(*questions())) == ("HEALTHY in what was asked", "clear")
    assert not clear_in_part(asked(*questions()))


def test_a_check_that_got_no_answer_was_asked_and_one_that_does_not_apply_was_not() -> None:
    first, second, third = diagnoses.clear_in_network().checks
    blind = replace(first, outcome=Outcome.INCONCLUSIVE)
    beside = replace(second, outcome=Outcome.NOT_APPLICABLE)
    scope = scope_of(replace(diagnoses.clear(), checks=(blind, beside, third)), LIBRARY)
    assert set(scope.codes) == {*blind.codes, *third.codes}
    assert not {*beside.codes} & {*scope.cannot_ask}


def test_checks_that_do_not_apply_are_not_counted_as_having_found_nothing() -> None:
    first, *others = diagnoses.clear().checks
    stopped = replace(
        diagnoses.clear(), checks=(first, *(replace(one, outcome=Outcome.NOT_APPLICABLE) for one in others))
    )
    assert summary(stopped) == "1 check found nothing"


def test_a_whole_check_that_was_recorded_when_there_were_fewer_questions_is_whole() -> None:
    fewer = diagnoses.clear()
    assert len(fewer.checks) < len(questions())
    scope = scope_of(fewer, wider_library())
    assert not scope.narrowed
    assert scope.cannot_ask == ("memory-saturation", "vnet-blocked")
    assert summary(fewer, wider_library()) == "6 checks found nothing; 2 kinds of problem have no check"


def test_guides_and_problems_of_other_kinds_of_cluster_are_not_missed() -> None:
    cannot = scope_of(asked(*questions()), LIBRARY).cannot_ask
    assert not [code for code in cannot if LIBRARY[code].kind != "aks"]
    guides = {"support-packet", "arc-logs", "reconcile", "maintenance-window"}
    assert guides == LIBRARY.of_kind("guide")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("Microsoft.ContainerService/managedClusters/prod-weu", "aks"),
        ("Microsoft.Kubernetes/connectedClusters/edge-nexus-01", "hybrid"),
        ("Microsoft.NetworkCloud/kubernetesClusters/edge-nexus-01", "hybrid"),
        ("microsoft.resourceconnector/Appliances/arc-bridge-hq", "arc-bridge"),
    ],
)
def test_each_kind_of_cluster_has_problems_of_its_own(path: str, kind: str) -> None:
    target = Target(ResourceId.parse(f"{SUBSCRIPTION}/resourceGroups/rg/providers/{path}"))
    diagnosis = replace(asked(*questions(), outcome=Outcome.NOT_APPLICABLE), target=target)
    scope = scope_of(diagnosis, LIBRARY)
    assert (kind_of(target.id), scope.kind) == (kind, kind)
    assert scope.codes == ()
    assert set(scope.cannot_ask) == LIBRARY.of_kind(kind) - checked_codes()


KIND_OF_DOCUMENT = {"AKS hybrid on Azure Operator Nexus": "hybrid", "Azure Arc resource bridge": "arc-bridge"}


def test_the_kind_of_a_page_is_that_of_the_document_it_was_made_from() -> None:
    for one in LIBRARY.values():
        assert one.kind in ("guide", KIND_OF_DOCUMENT.get(section_of(one), "aks")), one.code


def test_a_check_asks_about_a_problem_not_about_a_guide() -> None:
    assert not checked_codes() & LIBRARY.of_kind("guide")


def test_what_was_found_is_said_as_ever() -> None:
    assert summary(diagnoses.warned(), LIBRARY) == "1 warning"
    assert only(EVERYTHING) == ""
