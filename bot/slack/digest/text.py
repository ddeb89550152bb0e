"""What is said about digests, in Slack only."""

from __future__ import annotations

TITLE = "Digest"
LOOKING = "Checking your clusters for the digest …"
NOTHING_TO_CHECK = "There is no cluster here of which a digest could tell."
STEPS = "`/aks check &lt;cluster&gt;` says what to do; `/aks clusters` lists all of them."


def mute_ends(code: str, cluster: str, at: str) -> str:
    return f"the mute of {code} on {cluster}, at {at}"


def fix_ended(cluster: str, said: str) -> str:
    return f"{cluster}: {said}"
