"""What is said when somebody calls an answer wrong."""

from __future__ import annotations

from bot.slack.kit.escaping import code, plain, sentence
from handlers.problem import Problem

TITLE, SEND = "Wrong answer", "Send"
WHAT_IS_WRONG = "What is wrong with it?"
WHAT_HAPPENS = (
    "The answer and your words are kept for whoever looks after me. I ask Azure and the cluster once more, and send "
    "you that recording, redacted, as a direct message."
)


def kept(report: str, recording: str, folder: str) -> str:
    """Where the case is, and from when its parts are."""
    return (
        f"Thank you. The case is kept, redacted, in {code(folder, 300)} for whoever looks into it: {code(report)} is "
        f"the answer that I gave, with your words. What Azure and the cluster answer *now* is in your direct messages: "
        f"{code(recording)}."
    )


def here_is(cluster: str, name: str) -> str:
    """Beside the file, in a direct message."""
    replay = code(f"aksbot replay {name}", 200)
    return (
        f"You called my answer about {code(cluster)} wrong. Here is what Azure and the cluster answer now, redacted: "
        f"{replay} diagnoses it again, anywhere."
    )


def kept_without_recording(report: str, folder: str, problem: Problem) -> str:
    """The answer is kept all the same."""
    return (
        f"Thank you. The answer that I gave is kept, redacted, as {code(report)} in {code(folder, 300)}. A recording "
        f"to replay is not there: {plain(sentence(problem.what))} ({plain(problem.why, 300)}). To have one, "
        f"{plain(problem.do, 300)}, and press *Wrong answer* again."
    )
