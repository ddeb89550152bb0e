"""The log without secrets: every record of every logger, ours and the libraries', before any handler sees it."""

from __future__ import annotations

import logging
from typing import Any

from handlers.clients.redact import redact_text

AUDIT = "aksbot.audit"
"""Its lines are the sealed records: redacted before they were sealed, and compared with the audit by hash."""
_FORMATTER = logging.Formatter()


class RedactedRecord(logging.LogRecord):
    """A record whose message and traceback hold no secret. Exceptions quote what was typed, and so do clients."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.name != AUDIT:
            self._redact()

    def _redact(self) -> None:
        self.msg, self.args = redact_text(_message(self)), ()
        if self.exc_info and self.exc_info[0]:
            # A formatter takes this text, and makes none of its own.
            self.exc_text = redact_text(_FORMATTER.formatException(self.exc_info))
        if self.stack_info:
            self.stack_info = redact_text(self.stack_info)


def redact_logs() -> None:
    """From now on, in this process."""
    logging.setLogRecordFactory(RedactedRecord)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        # Logging itself would print the arguments to stderr.
        return f"{record.msg} (its arguments do not fit)"


def quiet_clients() -> None:
    """What they tell of themselves is for their makers."""
    for chatty in ("azure", "aiohttp", "slack_bolt", "slack_sdk", "streaq"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # It calls a connection that we close a failure, with a traceback; what matters of it the queue says.
    logging.getLogger("coredis").setLevel(logging.CRITICAL)
