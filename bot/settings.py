"""Settings: environment variables `AKSBOT_*`, then `aksbot.toml` (in the working directory, or at AKSBOT_CONFIG)."""

from __future__ import annotations

import os
import tomllib
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    DirectoryPath,
    Field,
    FilePath,
    SecretStr,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from handlers.clients.kube.access import PROBE_IMAGE
from handlers.problem import Exit, Problem

PREFIX = "AKSBOT_"
FILE = "aksbot.toml"
_PATHS = ("ca_bundle", "data_dir", "kubeconfig", "policy", "runbooks")

_UNPREFIXED = ("redis_url", "slack_api_url", "slack_app_token", "slack_bot_token", "slack_signing_secret")
"""What everybody else calls by these names, too."""

_TOKENS = {"slack_bot_token": "xoxb-", "slack_app_token": "xapp-"}
_SECRETS = ("alerts_token", "redis_url", *_TOKENS, "slack_signing_secret")

HttpsUrl = Annotated[str, StringConstraints(pattern=r"^https://[^/\s]+(/[^\s]*)?$")]


class Settings(BaseSettings):
    """Every setting. Each field is `AKSBOT_<NAME>` in the environment and `<name>` in the file.

    Slack's and Redis's are plain `<NAME>` in the environment.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True)

    azure_resource_manager: HttpsUrl = Field(
        "https://management.azure.com", description="a URL that starts with https://"
    )
    azure_authority: HttpsUrl = Field(
        "https://login.microsoftonline.com", description="a URL that starts with https://"
    )
    log_analytics: HttpsUrl | None = Field(
        None, description="the URL where Log Analytics is queried, which starts with https:// and is its audience, too"
    )
    ca_bundle: FilePath | None = Field(None, description="a file of certificates (PEM) that exists")
    runbooks: Annotated[tuple[DirectoryPath, ...], NoDecode] = Field(
        (), description=f"folders of runbooks that exist (in the environment joined by {os.pathsep!r})"
    )
    data_dir: Path = Field(Path("~/.local/state/aksbot"), description="a folder")
    kubeconfig: FilePath | None = Field(None, description="a kubeconfig with a context named like each cluster")
    run_command: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="globs of cluster names where a command may be run inside (in the environment joined by ,)"
    )
    probe_image: str = Field(PROBE_IMAGE, min_length=1, description="an image with python3, for the probe pod")
    own_addresses: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="public addresses or prefixes that aksbot leaves from (in the environment joined by ,)",
    )
    pod_proxy: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="globs of namespaces, or cluster/namespace, whose pods may be asked through the API server whether "
        "they listen (in the environment joined by ,)",
    )
    check_timeout_s: float = Field(30.0, gt=0, le=600, description="seconds, more than 0 and at most 600")

    policy: FilePath | None = Field(None, description="a policy file (YAML) that exists: who may look at which cluster")

    role: Literal["all", "web", "worker"] = Field("all", description="one of all, web and worker")
    door_open_s: float = Field(
        5.0, ge=0, le=20, description="seconds, 0 to 20, for which Slack is still heard over HTTP after a SIGTERM"
    )
    http_host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="an address of this machine to listen on, 0.0.0.0 for all",
    )
    http_port: int = Field(8080, ge=0, le=65535, description="a port for Slack and alerts, or 0 for a free one")
    ops_port: int | None = Field(
        None, ge=0, le=65535, description="a port for health and metrics, or 0 for a free one; unset, that of http_port"
    )
    redis_url: SecretStr | None = Field(
        None, validation_alias="redis_url", description="a URL that starts with redis://"
    )
    alerts_token: SecretStr | None = Field(
        None, min_length=16, description="the secret that senders of alerts show, of at least 16 characters"
    )
    slack_api_url: str = Field(
        "https://slack.com/api/",
        validation_alias="slack_api_url",
        pattern=r"^https?://[^/\s]+/\S*$",
        description="a URL that ends with /api/",
    )
    slack_bot_token: SecretStr | None = Field(
        None, validation_alias="slack_bot_token", description="the bot token of the Slack app (xoxb-…)"
    )
    slack_app_token: SecretStr | None = Field(
        None, validation_alias="slack_app_token", description="the app-level token of the Slack app (xapp-…)"
    )
    slack_signing_secret: SecretStr | None = Field(
        None, validation_alias="slack_signing_secret", description="the signing secret of the Slack app"
    )

    @field_validator("slack_api_url")
    @classmethod
    def _with_slash(cls, url: str) -> str:
        return url if url.endswith("/") else f"{url}/"

    @field_validator("slack_bot_token", "slack_app_token", "slack_signing_secret")
    @classmethod
    def _looks_right(cls, token: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        begins = _TOKENS.get(str(info.field_name), "")
        if token and not token.get_secret_value().startswith(begins):
            raise ValueError(f"begins with {begins}")
        return token

    @field_validator("azure_resource_manager", "azure_authority")
    @classmethod
    def _without_slash(cls, url: str) -> str:
        return url.rstrip("/")

    @field_validator("runbooks", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(filter(None, value.split(os.pathsep))) if isinstance(value, str) else value

    @field_validator("own_addresses")
    @classmethod
    def _are_addresses(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        for address in addresses:
            ip_network(address, strict=False)
        return addresses

    @field_validator("run_command", "own_addresses", "pod_proxy", mode="before")
    @classmethod
    def _globs(cls, value: Any) -> Any:
        return tuple(filter(None, value.split(","))) if isinstance(value, str) else value

    @field_validator("data_dir")
    @classmethod
    def _home(cls, folder: Path) -> Path:
        return folder.expanduser()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # Constructor arguments come from the file here, and the environment overrides the file.
        return env_settings, init_settings


def load() -> Settings:
    """The settings of this process, or a Problem that names the file, the key and the expected value."""
    file = _file()
    values = _read(file) if file else {}
    try:
        return Settings(**values)
    except ValidationError as invalid:
        raise _problem(invalid, file) from invalid


def _file() -> Path | None:
    chosen = os.environ.get(f"{PREFIX}CONFIG")
    if chosen:
        return Path(chosen)
    path = Path(FILE)
    return path if path.exists() else None


def _read(file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as unreadable:
        why = unreadable.strerror or str(unreadable)
        do = f"create it, or set {PREFIX}CONFIG to the file you mean"
        raise Problem(f"cannot read the settings in {file}", why, do, code=Exit.USAGE) from unreadable
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as malformed:
        raise Problem(
            f"cannot read the settings in {file}",
            f"it is not TOML: {malformed}",
            "correct that line",
            code=Exit.USAGE,
        ) from malformed
    return {key: _from(file.parent, value) if key in _PATHS else value for key, value in values.items()}


def _from(folder: Path, value: Any) -> Any:
    """Relative paths in the file are relative to the file, not to the working directory."""
    if isinstance(value, list):
        return [_from(folder, item) for item in value]
    return folder / Path(value).expanduser() if isinstance(value, str) else value


def _problem(invalid: ValidationError, file: Path | None) -> Problem:
    first = invalid.errors(include_url=False)[0]
    key = str(first["loc"][0])
    variable = key.upper() if key in _UNPREFIXED else PREFIX + key.upper()
    from_environment = bool(os.environ.get(variable))
    name, where = (variable, "the environment") if from_environment else (f"`{key}`", str(file))
    field = Settings.model_fields.get(key)
    if field is None:
        known = ", ".join(Settings.model_fields)
        return Problem(
            f"cannot use the settings in {where}",
            f"{name} is not a setting",
            f"remove it; known are {known}",
            code=Exit.USAGE,
        )
    given = f"its value is {str(first['input'])!r:.200}"
    return Problem(
        f"cannot use the setting {name} in {where}",
        "its value (not shown) looks like something else" if key in _SECRETS else given,
        f"give it {field.description}",
        code=Exit.USAGE,
    )
