"""The add-ons in a cluster's profile. Their names and settings are spelt in any case: `omsagent` and `omsAgent`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handlers.evidence.wire import dig


def is_on(properties: Any, name: str) -> bool:
    """Whether an add-on, by its name in lower case, is on."""
    return _enabled(properties, name) is not None


def settings(properties: Any, name: str) -> Mapping[str, str]:
    """The settings of an add-on that is on, by their names in lower case."""
    config = dig(_enabled(properties, name), "config")
    if not isinstance(config, Mapping):
        return {}
    return {setting.lower(): value for setting, value in config.items() if isinstance(value, str)}


def uses_managed_identity(config: Mapping[str, str]) -> bool:
    """`useAADAuth` is a text on the wire, in either case."""
    return config.get("useaadauth", "").lower() == "true"


def _enabled(properties: Any, name: str) -> Any:
    addons = dig(properties, "addonProfiles")
    found = (addon for key, addon in addons.items() if key.lower() == name) if isinstance(addons, Mapping) else ()
    return next((item for item in found if dig(item, "enabled") is True), None)
