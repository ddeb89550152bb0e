"""An invalid signature is rejected at import time, not at run time."""

from collections.abc import Iterator

import pytest

from handlers.engine.declare import BadDeclaration, Diagnostic, collector, diagnostic
from handlers.engine.graph import Graph
from handlers.model import Clear, Evidence, Finding, NotApplicable, Target, Unavailable


class Weather(Evidence):
    pass


class Season(Evidence):
    pass


@collector(reads=())
async def weather(target: Target) -> Weather:
    """the weather"""
    raise NotImplementedError


@collector(reads=())
async def season(weather: Weather) -> Season | NotApplicable:
    """the season"""
    raise NotImplementedError


def asks_about(*needs: str) -> Diagnostic:
    @diagnostic(codes=("wet",), area="sky")
    def is_it_wet(weather: Weather) -> Iterator[Finding | Clear]:
        """It rains."""
        yield Clear("dry")

    return is_it_wet


def test_annotations_are_the_contract() -> None:
    @diagnostic(codes=("wet",), area="sky")
    def is_it_wet(weather: Weather, season: Season | Unavailable | NotApplicable) -> Iterator[Finding]:
        """It rains.

        More for the reader of the code.
        """
        yield Finding("wet", "sky", ("rain",))

    assert is_it_wet.id == "is-it-wet"
    assert is_it_wet.asks == "It rains."
    assert [(need.kind, need.or_unavailable, need.or_not_applicable) for need in is_it_wet.needs] == [
        (Weather, False, False),
        (Season, True, True),
    ]


def test_a_diagnostic_must_be_a_plain_generator() -> None:
    async def asynchronous(weather: Weather) -> Finding:
        """It rains."""
        return Finding("wet", "sky", ("rain",))

    def returning(weather: Weather) -> list[Finding]:
        """It rains."""
        return []

    for wrong in (asynchronous, returning):
        with pytest.raises(BadDeclaration, match="plain generator"):
            diagnostic(codes=("wet",), area="sky")(wrong)  # type: ignore[arg-type]


def test_a_diagnostic_without_docstring_code_or_evidence_is_refused() -> None:
    def silent(weather: Weather) -> Iterator[Finding]:
        yield Finding("wet", "sky", ("rain",))

    def blind(target: Target) -> Iterator[Finding]:
        """It rains."""
        yield Finding("wet", "sky", ("rain",))

    with pytest.raises(BadDeclaration, match="docstring"):
        diagnostic(codes=("wet",), area="sky")(silent)
    with pytest.raises(BadDeclaration, match="needs no evidence"):
        diagnostic(codes=("wet",), area="sky")(blind)
    with pytest.raises(BadDeclaration, match="no finding code"):
        diagnostic(codes=(), area="sky")(silent)


def test_a_parameter_is_one_class() -> None:
    def unsure(weather: Weather | Season) -> Iterator[Finding]:
        """It rains."""
        yield Finding("wet", "sky", ("rain",))

    with pytest.raises(BadDeclaration, match="must be one class"):
        diagnostic(codes=("wet",), area="sky")(unsure)


def test_a_collector_must_make_one_kind_of_evidence() -> None:
    async def text(target: Target) -> str:
        """words"""
        return ""

    with pytest.raises(BadDeclaration, match="must return one Evidence class"):
        collector(reads=())(text)  # type: ignore[arg-type]


def test_the_graph_refuses_evidence_that_nobody_collects_and_evidence_collected_twice() -> None:
    with pytest.raises(BadDeclaration, match="nothing collects it"):
        Graph.of([], [asks_about()])
    with pytest.raises(BadDeclaration, match="two collectors make Weather"):
        Graph.of([weather, weather], [])
    with pytest.raises(BadDeclaration, match="one name"):
        Graph.of([weather], [asks_about(), asks_about()])


def test_the_graph_refuses_a_loop() -> None:
    @collector(reads=())
    async def weather_again(season: Season) -> Weather:
        """the weather"""
        raise NotImplementedError

    with pytest.raises(BadDeclaration, match="Weather -> Season -> Weather"):
        Graph.of([weather_again, season], [asks_about()])


def test_only_what_a_question_needs_is_collected() -> None:
    assert [one.name for one in Graph.of([weather, season], [asks_about()]).wanted] == ["Weather"]
