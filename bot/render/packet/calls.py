"""What aksbot asked of Azure and the cluster for a support packet, with the request ids of the answers."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.render.packet.recorded import KUBE
from bot.render.packet.timeline import utc

if TYPE_CHECKING:
    from handlers.clients.recording.case import Recording

COLUMNS = ("utc", "method", "path", "api_version", "answer", "request_id", "correlation_id")


def as_csv(recording: Recording) -> str:
    """One line for each call."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for call in recording.calls:
        version = dict(call.question.params).get("api-version", "")
        at = utc(call.taken_at) if call.taken_at else ""
        path = urlsplit(call.url).path.removeprefix(KUBE) or "/"
        ids = (call.headers.get("x-ms-request-id", ""), call.headers.get("x-ms-correlation-request-id", ""))
        writer.writerow([at, call.method, path, version, call.failed or call.status, *ids])
    return out.getvalue()
