"""Scores the recordings: `python -m tests.cloud_opsbench [part of a name …]`. Prints a table by kind of fault."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from time import perf_counter

from tests.cloud_opsbench.recording import Score, load, names
from tests.cloud_opsbench.serving import diagnosed


async def scored(wanted: list[str]) -> list[tuple[Score, float]]:
    scores = []
    for name in names():
        recorded = load(name)
        if recorded.asked_for and (not wanted or any(one in f"{name} {recorded.kind}" for one in wanted)):
            began = perf_counter()
            scores.append((await diagnosed(recorded), perf_counter() - began))
    return scores


def table(scores: list[Score]) -> str:
    kinds: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        kinds[score.recorded.kind].append(score)
    lines = [f"{'kind':38} {'right':>8} {'clear':>6} {'beside':>7}"]
    for kind, of_kind in [*sorted(kinds.items()), ("all", scores)]:
        right, clear = sum(one.right for one in of_kind), sum(one.false_clear for one in of_kind)
        beside = sum(len(one.beside) for one in of_kind)
        lines.append(f"{kind:38} {right:4}/{len(of_kind):3} {clear:6} {beside:7}")
    return "\n".join(lines)


def main() -> None:
    """Print every wrong case with its findings, then the table."""
    verbose = "-v" in sys.argv
    timed = asyncio.run(scored([one for one in sys.argv[1:] if one != "-v"]))
    for score, took_s in timed:
        if score.right and not score.beside and not verbose:
            continue
        print(
            f"{'right' if score.right else 'WRONG'} {score.recorded.name} {score.recorded.kind}",
            f"{score.recorded.object} {took_s:.2f}s",
        )
        for one in score.diagnosis.findings:
            facts = {key: value for key, value in one.finding.facts.items() if key in ("cause", "resource", "probe")}
            print(f"   {'ROOT' if one.root else '   -'} {one.finding.code} {one.finding.subject} {facts}")
            if verbose:
                for line in one.finding.because:
                    print(f"          {line[:200]}")
        if verbose:
            for check in score.diagnosis.checks:
                if check.outcome not in ("clear", "found", "not-applicable"):
                    print(f"   {check.outcome} {check.id}: {check.why[:200]}")
    print(table([score for score, _ in timed]))
    print(f"slowest {max((took_s for _, took_s in timed), default=0):.2f} s")


if __name__ == "__main__":
    main()
