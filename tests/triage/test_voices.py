"""What people say is told from what they paste."""

from __future__ import annotations

import pytest

from bot.triage.recognise import Recogniser
from bot.triage.voices import voices
from runbooks.library import Library


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nsubnet stuff\n```",
        "`Unable to connect to the server: EOF`",
        "E0607 22:31:58.660127 5510 proxier.go:346] sync failed",
        '{"error": {"code": "Conflict", "message": "no"}}',
        "Warning  FailedMount  3s  kubelet  no",
        "NAME    READY   STATUS",
        "Error: failed to create thing: rpc error: code = Unknown",
        "2025-06-18T07:45:12.0031174Z step failed",
    ],
)
def test_pasted_lines_are_a_machines(pasted: str) -> None:
    said = voices(f"who has seen this?\n{pasted}\nsince noon")
    assert said.people.split() == ["who", "has", "seen", "this?", "since", "noon"]
    assert said.machines.strip()


def test_sentences_are_peoples() -> None:
    text = "prod-weu: nodes don't come up, since the firewall change. Any ideas? (it's urgent)"
    assert (voices(text).people, voices(text).machines) == (text, "")


def test_an_error_that_no_pattern_knows_is_somebody_elses_problem() -> None:
    recogniser = Recogniser(Library.load())
    around = "quota exceeded maybe? "
    pasted = 'AttachVolume.Attach said: Status=429 Code="TooMany" Message="requests exceeded the limit of 12000"'
    assert recogniser.recognise(pasted).codes == ()
    assert recogniser.recognise(f"node pool can't scale, {around}").codes[:1] == ("quota-exceeded",)
