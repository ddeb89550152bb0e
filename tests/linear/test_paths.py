"""Every path that reads user text takes linear time, end to end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.incidents.alerts import alertmanager, azure_monitor
from bot.render.clean import clean
from bot.render.markdown import paragraphs
from bot.slack.inbound import replies
from bot.slack.inbound.commands import read_command, read_mention
from bot.slack.inbound.message_reader import Me, asks_for_silence, read
from bot.slack.kit import escaping, rich_text
from bot.slack.kit.quoting import brief
from bot.triage.cards import still_open
from bot.triage.clusters import FleetNames
from bot.triage.explain import explain
from bot.triage.message_text import readable
from bot.triage.model.features import bare, phrased, spoken
from bot.triage.named import named_clusters
from bot.triage.plain_text import plain
from bot.triage.quiet import Quiet
from bot.triage.reading import read_alert, read_message
from bot.triage.recognise import Recogniser
from bot.triage.talk import changes_asked, read_talk
from bot.triage.with_files import WithFiles
from handlers.clients.redact import redact, redact_text
from handlers.diagnose.overconstrained_allocation import applied
from handlers.evidence.errors import ErrorDetail, innermost
from handlers.evidence.extension_errors import read_extension_error
from handlers.evidence.policy_violations import violations
from handlers.evidence.signs import named_cause
from handlers.fleet.cluster_text import safe_to_repeat
from runbooks.library import Library
from runbooks.values import extract
from tests.linear.growth import all_not_linear, all_too_dear

LIBRARY = Library.load()
FLEET = FleetNames(("prod-weu", "prod-eus2", "staging-neu", *(f"dev-shared-{number:02}" for number in range(1, 17))))
RECOGNISER, QUIET, WITH_FILES = Recogniser(LIBRARY), Quiet(), WithFiles()


def _heard(text: str) -> object:
    message = {"channel_type": "channel", "channel": "C1", "ts": "1800000000.0", "text": text}
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]
    return read({"team_id": "T1", "event": message | {"blocks": blocks}}, Me("U1", "B1", "A1"), 1_800_000_000.0)


def _azure_alert(text: str) -> object:
    essentials = {"alertRule": text, "description": text, "monitorCondition": "Fired"}
    return azure_monitor({"data": {"essentials": essentials, "alertContext": {"said": text}}})


def _alertmanager(text: str) -> object:
    alert = {"labels": {"alertname": "a"}, "annotations": {"summary": text, "description": text}}
    return alertmanager({"alerts": [alert], "commonLabels": {"said": text}})


PATHS: dict[str, Callable[[str], object]] = {
    "redaction of a text": redact_text,
    "redaction of an answer": lambda text: redact({"message": text, "tags": {"a": text}}),
    "recognition": lambda text: RECOGNISER.recognise(text, FLEET),
    "recognition's plain text": plain,
    "the alerts of a card": still_open,
    "reasons for silence": QUIET.found,
    "words beside files": WITH_FILES.against,
    "clusters": FLEET.find,
    "features": lambda text: (spoken(bare(text)), phrased(text)),
    "explain": lambda text: explain(text, LIBRARY),
    "explain, as an answer": lambda text: replies.explained(text, LIBRARY),
    "values for a runbook": lambda text: extract(LIBRARY["quota-exceeded"], text),
    "an error of Azure's": innermost,
    "the policies that an error names": lambda text: violations(f"policyAssignments {text}"),
    "the cause that an error names": lambda text: named_cause("Conflict", text),
    "what an extension says": lambda text: read_extension_error(ErrorDetail("VMExtensionProvisioningError", text)),
    "the conditions that Azure lists": lambda text: applied(f"Constraints applied are: {text}"),
    "a message": _heard,
    "a message with a card": lambda text: read_message({"text": "", "attachments": [{"title": text, "text": text}]}),
    "a message, as people see it": lambda text: readable({"text": text}),
    "a mention": read_mention,
    "a command": read_command,
    "a misspelt command": lambda text: read_command(text).near,
    "what is said to the bot": lambda text: read_talk(text, FLEET, LIBRARY),
    "a question about changes": lambda text: changes_asked(f"changed {text}"),
    "a wish for silence": asks_for_silence,
    "clusters that a text names": lambda text: named_clusters(text, []),
    "an alert of Azure Monitor": _azure_alert,
    "an alert of Alertmanager": _alertmanager,
    "an alert's body": lambda text: read_alert({"a": {"b": [text, text]}}),
    "rendering for a terminal": lambda text: paragraphs(text, 80),
    "cleaning": clean,
    "rendering as rich text": lambda text: rich_text.markdown(text, text),
    "escaping": lambda text: (escaping.escape(text), escaping.code(text), escaping.plain(text)),
    "cutting": lambda text: (escaping.fits(text, len(text) - 9), escaping.fits(escaping.escape(text), len(text) // 2)),
    "quoting": brief,
    "a name to repeat": safe_to_repeat,
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_takes_twice_as_long_over_twice_the_text(name: str) -> None:
    assert all_not_linear(PATHS[name], 2_000) == {}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_costs_little_per_letter(name: str) -> None:
    assert all_too_dear(PATHS[name], 2_000) == {}
