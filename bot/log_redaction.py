"""Redacts the log: every record of every logger, ours and the libraries', before any handler sees it."""

from __future__ import annotations

import logging
from typing import Any

from handlers.clients.redact import redact_text

AUDIT = "aksbot.audit"
"""Its lines are the sealed records: redacted before they were sealed, and compared with the audit by hash."""
_FORMATTER = logging.Formatter()


class RedactedRecord(logging.LogRecord):
    """A record with redacted message and traceback. Exceptions quote what people typed, and so do clients."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.name != AUDIT:
            self._redact()

    def _redact(self) -> None:
        self.msg, self.args = redact_text(_message(self)), ()
        if self.exc_info and self.exc_info[0]:
            # A formatter uses this text instead of formatting the traceback itself.
            self.exc_text = redact_text(_FORMATTER.formatException(self.exc_info))
        if self.stack_info:
            self.stack_info = redact_text(self.stack_info)


def redact_logs() -> None:
    """Redact all logs of this process from now on."""
    logging.setLogRecordFactory(RedactedRecord)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        # logging itself would print the arguments to stderr.
        return f"{record.msg} (its arguments do not fit)"


def quiet_clients() -> None:
    """Silence messages that only concern the makers of the client libraries."""
    for chatty in ("azure", "aiohttp", "slack_bolt", "slack_sdk", "streaq"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # It logs a traceback for a connection that we close on purpose; the queue logs what matters.
    logging.getLogger("coredis").setLevel(logging.CRITICAL)
