"""What is said when somebody calls an answer wrong."""

from __future__ import annotations

from bot.slack.kit.escaping import code, plain, sentence
from handlers.problem import Problem


def kept(report: str, recording: str, folder: str) -> str:
    """Where the case is, and from when its parts are."""
    return (
        f"Thank you. The case is kept, redacted, in {code(folder, 300)} for whoever looks into it: {code(report)} is "
        f"the answer that I gave, {code(recording)} is what Azure and the cluster answer *now*. "
        f"{code(f'aksbot replay {recording}', 200)} diagnoses that again, anywhere."
    )


def kept_without_recording(report: str, folder: str, problem: Problem) -> str:
    """The answer is kept all the same."""
    return (
        f"Thank you. The answer that I gave is kept, redacted, as {code(report)} in {code(folder, 300)}. A recording "
        f"to replay is not there: {plain(sentence(problem.what))} ({plain(problem.why, 300)}). To have one, "
        f"{plain(problem.do, 300)}, and press *Wrong answer* again."
    )
