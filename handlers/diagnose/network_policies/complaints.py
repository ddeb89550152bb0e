"""What a dropped connection looks like in a log: it never comes about, and nobody refuses it."""

from __future__ import annotations

from collections.abc import Iterable

from handlers.diagnose.network_policies.paths import DNS, Target
from runbooks.linear import compile_linear

# Go, Java, .NET, Node, Python, libc: what their clients say when nothing comes back.
_SILENCE = compile_linear(
    r"(?i)time[d]?[ -]?out|ETIMEDOUT|deadline exceeded|no route to host|EHOSTUNREACH|unreachable"
    r"|not possible to connect|request canceled while waiting for connection"
)
# A name that does not exist (no such host, NXDOMAIN, ENOTFOUND) was answered: that is no silence of DNS.
_NAMES = compile_linear(
    r"(?i)temporary failure in name resolution|EAI_AGAIN|server misbehaving|lookup [^ ]{1,253}.{0,80}i/o timeout"
    r"|UnknownHostException|(could not|failed to|couldn't|cannot) resolve|resolving timed out"
)
_REFUSED = compile_linear(r"(?i)refused|ECONNREFUSED")
LONGEST = 240


def complaint(lines: Iterable[str], target: Target) -> str:
    """The last line that says that nothing comes back from this target; empty where none does."""
    said = [line for line in lines if _is_about(line, target)]
    return said[-1][:LONGEST] if said else ""


def _is_about(line: str, target: Target) -> bool:
    if target.name == DNS:
        return _NAMES.search(line) is not None
    named = any(item in line for item in target.said_as)
    return named and _SILENCE.search(line) is not None and _REFUSED.search(line) is None
