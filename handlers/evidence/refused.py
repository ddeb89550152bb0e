"""Was a request of the activity log turned down at once, or did it fail after Azure had begun to work on it?

Both end as `Failed`. What was begun set the resource's state; what was turned down changed nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from handlers.evidence.wire import dig, text
from runbooks.linear import compile_linear

_NUMBER = compile_linear(r"\b([1-5]\d\d)\b")
_BY_NAME = {status.name.replace("_", "").lower(): status.value for status in HTTPStatus.__members__.values()}
"""`.subStatus.value` is a name of .NET: BadRequest, Conflict, TooManyRequests."""
_BEGUN = compile_linear(r'^\s*\{\s*"status"\s*:\s*"Failed"|"code"\s*:\s*"ResourceOperationFailure"')
"""How Azure Resource Manager words the end of an operation that it polled; also where the text was cut."""


def refused_at_once(failed: Mapping[str, Any]) -> bool:
    """Only a status of 400 to 499 says so: the end of an operation has none, and a 5xx leaves the state open."""
    status = _status(dig(failed, "subStatus"))
    return 400 <= status < 500 and not _polled(dig(failed, "properties", "statusMessage"))


def _status(sub_status: Any) -> int:
    value, spoken = text(sub_status, "value"), text(sub_status, "localizedValue")
    number = _NUMBER.search(value) or _NUMBER.search(spoken)
    return int(number[1]) if number else _BY_NAME.get(value.lower(), 0)


def _polled(status_message: Any) -> bool:
    said = status_message if isinstance(status_message, str) else json.dumps(status_message)
    return _BEGUN.search(said) is not None
