"""Which scenarios exist, and the error for one that cannot be used."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from handlers.problem import Exit, Problem
from sandbox.scenario import BadScenario, Scenario


def scenario_names() -> tuple[str, ...]:
    """The scenarios shipped with aksbot."""
    return Scenario.names()


def scenario_called(name: str) -> Scenario:
    """A shipped scenario by its name, or a person's own by its folder."""
    what = f"cannot serve the scenario {name[:80]!r}"
    known = Scenario.names()
    if name not in known and not Path(name).is_dir():
        near = get_close_matches(name, known, n=1)
        do = f"choose one of {', '.join(known)}, or a folder"
        why = "there is no such scenario" + (f"; perhaps you mean {near[0]}" if near else "")
        raise Problem(what, why, do, code=Exit.USAGE)
    try:
        return Scenario.load(name if name in known else Path(name))
    except BadScenario as bad:
        raise Problem(what, str(bad), "correct that file", code=Exit.USAGE) from bad
