"""Which Azure, and as whom."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

WELL_KNOWN_AUTHORITIES = frozenset(
    {"login.microsoftonline.com", "login.microsoftonline.us", "login.chinacloudapi.cn", "login.windows.net"}
)


@dataclass(frozen=True, slots=True)
class AzureAccess:
    """The endpoints of one cloud, and the environment that credentials are found in (the process's own by default)."""

    resource_manager: str = "https://management.azure.com"
    authority: str = "https://login.microsoftonline.com"
    ca_bundle: Path | None = None
    tenant: str | None = None
    identity: Mapping[str, str] | None = field(default=None, repr=False, compare=False)

    @property
    def endpoint(self) -> str:
        return self.resource_manager.rstrip("/")

    @property
    def scope(self) -> str:
        return f"{self.endpoint}/.default"

    @property
    def environment(self) -> Mapping[str, str]:
        return os.environ if self.identity is None else self.identity

    @property
    def authority_host(self) -> str:
        """The authority without the tenant: AD FS is written `https://host/adfs`, and `adfs` is its tenant."""
        parts = urlsplit(self.authority if "://" in self.authority else f"https://{self.authority}")
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def tenant_id(self) -> str | None:
        path = urlsplit(self.authority).path.strip("/") if "://" in self.authority else ""
        return path or self.tenant or self.environment.get("AZURE_TENANT_ID")

    @property
    def well_known(self) -> bool:
        """Whether Microsoft vouches for the authority; another one must not be looked up at Microsoft."""
        return urlsplit(self.authority_host).netloc.lower() in WELL_KNOWN_AUTHORITIES
