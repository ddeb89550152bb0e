"""How accurate a model is on messages that it was not trained on, for several thresholds."""

from __future__ import annotations

from collections.abc import Sequence

from bot.triage.model.labelled import NONE, PHRASE, LabelledMessage


def table(found: Sequence[tuple[LabelledMessage, float, list[str]]]) -> str:
    """For each threshold: the share of the problems that get the right answer (silence included where it is as good),
    and the share of the other messages that get any answer.
    """
    found = [example for example in found if example[0].kind != PHRASE]
    ours = [item for item in found if item[0].code != NONE]
    theirs = [odds for message, odds, _ in found if message.code == NONE and not message.also]
    if not ours or not theirs:
        return f"{len(ours)} problems, {len(theirs)} others: too few to judge by"
    ranked = sum(codes[0] in message.right for message, _, codes in ours)
    lines = [f"{len(ours)} problems, {len(theirs)} others; were all answered, {ranked / len(ours):.1%} would be right"]
    for least in (-1.0, 0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0):
        text = [(message.right, codes if odds >= least else [NONE]) for message, odds, codes in ours]
        first, two = (
            sum(codes[0] in right for right, codes in text),
            sum(bool(right & {*codes}) for right, codes in text),
        )
        false = sum(odds >= least for odds in theirs)
        shares = f"first {first / len(ours):.1%}, one of two {two / len(ours):.1%}, others {false / len(theirs):.1%}"
        lines.append(f"  odds from {least:+.1f}: {shares}")
    return "\n".join(lines)
