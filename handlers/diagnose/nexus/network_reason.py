"""Why a network of Nexus failed: the nested message of the activity log, else the sentence on the resource."""

from __future__ import annotations

from handlers.evidence.errors import ErrorDetail
from handlers.evidence.nexus.history import SiteActivityLog
from handlers.evidence.nexus.networks import NexusNetwork
from handlers.model import NotApplicable, Unavailable
from runbooks.linear import compile_linear

_DENIED = compile_linear(r"denied the request: (?P<reason>[^\n]+)", ignore_case=True)

Log = SiteActivityLog | NotApplicable | Unavailable


def error_of(network: NexusNetwork, log: Log) -> ErrorDetail | None:
    """The error of the last failed write to it."""
    event = log.last_failure(network.id) if isinstance(log, SiteActivityLog) else None
    return event.error if event else None


def reason_of(network: NexusNetwork, log: Log) -> str:
    """The reason in one sentence, without the wrapping of the admission webhook; empty where none is given."""
    error = error_of(network, log)
    if error is None:
        return network.says
    found = _DENIED.search(error.message)
    return found["reason"] if found else error.message
