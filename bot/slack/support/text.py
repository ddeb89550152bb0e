"""What is said about support packets."""

from __future__ import annotations

from bot.slack.kit.escaping import code

NAME_A_CLUSTER = "Say for which cluster: `/aks support &lt;cluster&gt;`"
CONTENTS = "What is in it"
BEFORE_SENDING = (
    "Secrets are redacted; names, ids and addresses are not, as support needs them. Read it before you send it on."
)
COLLECTING_HERE = "Collecting the support packet: it will be posted here."
ELSEWHERE = "The support packet will come as a direct message to you: guests or people of another company read here."
NOT_A_MEMBER = "The support packet will come as a direct message to you: I am not in this channel."


def collecting(cluster: str) -> str:
    return f"Collecting what Azure support asks for about {code(cluster)} … This takes about half a minute."


def made(cluster: str, verdict: str) -> str:
    """`verdict`: plain words of ours."""
    return f"Support packet of {code(cluster)} ({verdict}): the file is in this thread."


def failed(cluster: str) -> str:
    return f"There is no support packet of {code(cluster)}."


def not_seen(number: int) -> str:
    what = "1 thing that belongs into it" if number == 1 else f"{number} things that belong into it"
    return f"{what} could not be read: `summary.md` says which, and what permission is missing."


def how_to_use(name: str) -> str:
    return (
        "Portal: the cluster, *Help*, *Support + Troubleshooting*, *Create a support request*, and attach it there. "
        f"{code('summary.md')} comes first. {code(f'aksbot replay {name}', 200)} repeats the diagnosis anywhere."
    )
