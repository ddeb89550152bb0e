"""Which Azure cloud to call, and with which identity."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from handlers.clients.versions import OfferedVersions

WELL_KNOWN_AUTHORITIES = frozenset(
    {"login.microsoftonline.com", "login.microsoftonline.us", "login.chinacloudapi.cn", "login.windows.net"}
)

LOG_ANALYTICS = {
    "management.azure.com": "https://api.loganalytics.io",
    "management.usgovcloudapi.net": "https://api.loganalytics.us",
    "management.chinacloudapi.cn": "https://api.loganalytics.azure.cn",
}
"""By the host of Resource Manager. Azure Stack has none."""
WRITER = "AKSBOT_WRITER_"
_PROOFS = ("AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE", "AZURE_USERNAME", "AZURE_PASSWORD")
"""What proves that one is the reader proves nothing of the writer. A federated token file serves both."""


@dataclass(frozen=True, slots=True)
class AzureAccess:
    """The endpoints of one cloud, and the environment that credentials are found in (the process's own by default)."""

    resource_manager: str = "https://management.azure.com"
    authority: str = "https://login.microsoftonline.com"
    ca_bundle: Path | None = None
    tenant: str | None = None
    log_analytics: str = ""
    """Where Log Analytics is queried; empty: as the cloud has it."""
    identity: Mapping[str, str] | None = field(default=None, repr=False, compare=False)
    versions: OfferedVersions = field(default_factory=OfferedVersions, repr=False, compare=False)
    """What the cloud was heard to offer: whoever asks the same Azure learns it once."""

    def as_writer(self) -> AzureAccess:
        """The same Azure with the writer's credentials: `AKSBOT_WRITER_X` replaces `AZURE_X`; without any, the
        reader's.
        """
        own = {
            f"AZURE_{name.removeprefix(WRITER)}": value
            for name, value in self.environment.items()
            if name.startswith(WRITER) and value
        }
        if not own:
            return self
        others = {name: value for name, value in self.environment.items() if not name.startswith(_PROOFS)}
        return replace(self, identity=others | own)

    @property
    def endpoint(self) -> str:
        return self.resource_manager.rstrip("/")

    @property
    def log_analytics_endpoint(self) -> str:
        """Empty in a cloud whose address is not known. Its audience is the same address."""
        return (self.log_analytics or LOG_ANALYTICS.get(urlsplit(self.endpoint).netloc.lower(), "")).rstrip("/")

    @property
    def scope(self) -> str:
        return f"{self.endpoint}/.default"

    @property
    def environment(self) -> Mapping[str, str]:
        return os.environ if self.identity is None else self.identity

    @property
    def authority_host(self) -> str:
        """The authority without the tenant. AD FS is written `https://host/adfs`; there `adfs` is the tenant."""
        parts = urlsplit(self.authority if "://" in self.authority else f"https://{self.authority}")
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def tenant_id(self) -> str | None:
        path = urlsplit(self.authority).path.strip("/") if "://" in self.authority else ""
        return path or self.tenant or self.environment.get("AZURE_TENANT_ID")

    @property
    def well_known(self) -> bool:
        """Whether this is one of Microsoft's own authorities. Instance discovery at Microsoft must be off for any
        other.
        """
        return urlsplit(self.authority_host).netloc.lower() in WELL_KNOWN_AUTHORITIES
