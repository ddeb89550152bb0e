"""Settings come from the environment and a file; an invalid one is reported with its location and what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import settings
from handlers.problem import Exit, Problem


def wrong() -> Problem:
    with pytest.raises(Problem) as refused:
        settings.load()
    assert refused.value.code is Exit.USAGE
    return refused.value


def test_without_anything_it_is_public_azure() -> None:
    chosen = settings.load()
    assert chosen.azure_resource_manager == "https://management.azure.com"
    assert chosen.azure_authority == "https://login.microsoftonline.com"
    assert chosen.runbooks == ()


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    monkeypatch.setenv("AKSBOT_AZURE_RESOURCE_MANAGER", "https://127.0.0.1:4443/")
    monkeypatch.setenv("AKSBOT_RUNBOOKS", f"{tmp_path / 'one'}:{tmp_path / 'two'}")
    monkeypatch.setenv("AKSBOT_CHECK_TIMEOUT_S", "12")
    monkeypatch.setenv("AKSBOT_CA_BUNDLE", "")
    chosen = settings.load()
    assert chosen.azure_resource_manager == "https://127.0.0.1:4443"
    assert chosen.runbooks == (tmp_path / "one", tmp_path / "two")
    assert chosen.check_timeout_s == 12.0
    assert chosen.ca_bundle is None


def test_the_file_beside_you_is_read_and_the_environment_beats_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "aksbot.toml").write_text(
        'azure_authority = "https://login.example"\nazure_resource_manager = "https://arm.example"\n'
    )
    monkeypatch.setenv("AKSBOT_AZURE_AUTHORITY", "https://other.example")
    chosen = settings.load()
    assert chosen.azure_resource_manager == "https://arm.example"
    assert chosen.azure_authority == "https://other.example"


def test_paths_in_the_file_start_at_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "etc"
    (folder / "ours").mkdir(parents=True)
    (folder / "ca.pem").touch()
    (folder / "our.toml").write_text('ca_bundle = "ca.pem"\nrunbooks = ["ours"]\ndata_dir = "data"\n')
    monkeypatch.setenv("AKSBOT_CONFIG", str(folder / "our.toml"))
    chosen = settings.load()
    assert chosen.ca_bundle == folder / "ca.pem"
    assert chosen.runbooks == (folder / "ours",)
    assert chosen.data_dir == folder / "data"


@pytest.mark.parametrize(
    ("text", "what", "why", "do"),
    [
        ("check_timeout_s = 0", "`check_timeout_s` in aksbot.toml", "'0'", "more than 0"),
        ('azure_authority = "login"', "`azure_authority` in aksbot.toml", "'login'", "https://"),
        ("azure_authority = 7", "`azure_authority` in aksbot.toml", "'7'", "https://"),
        ('ca_bundle = "no.pem"', "`ca_bundle` in aksbot.toml", "no.pem", "a file of certificates"),
        ('runbooks = ["no"]', "`runbooks` in aksbot.toml", "no", "folders of runbooks that exist"),
        ("check_timeout = 5", "the settings in aksbot.toml", "`check_timeout` is not a setting", "check_timeout_s"),
        ("\ncheck_timeout_s = ?", "the settings in aksbot.toml", "line 2", "correct that line"),
    ],
)
def test_a_wrong_file_is_refused_by_file_and_key(tmp_path: Path, text: str, what: str, why: str, do: str) -> None:
    (tmp_path / "aksbot.toml").write_text(text)
    problem = wrong()
    assert what in problem.what
    assert why in problem.why
    assert do in problem.do


def test_a_wrong_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AKSBOT_CHECK_TIMEOUT_S", "soon")
    problem = wrong()
    assert "AKSBOT_CHECK_TIMEOUT_S in the environment" in problem.what
    assert "'soon'" in problem.why


def test_a_file_that_is_named_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AKSBOT_CONFIG", str(tmp_path / "no.toml"))
    problem = wrong()
    assert "no.toml" in problem.what
    assert "No such file" in problem.why
