"""Runs the real `kubectl` in its own folder."""

from __future__ import annotations

import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

KUBECTL = os.environ.get("AKSBOT_TEST_KUBECTL") or shutil.which("kubectl")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not on PATH")


@dataclass(frozen=True)
class Said:
    """The result of one call."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.out.splitlines()]


@dataclass(frozen=True)
class Kubectl:
    """Calls kubectl with one kubeconfig."""

    folder: Path
    config: str

    async def __call__(self, *arguments: str, sent: str = "") -> Said:
        file = self.folder / "config"
        file.write_text(self.config)
        file.chmod(0o600)
        environment = {"HOME": str(self.folder), "KUBECONFIG": str(file), "PATH": os.environ["PATH"]}
        process = await asyncio.create_subprocess_exec(
            KUBECTL or "kubectl",
            *arguments,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            out, err = await process.communicate(sent.encode())
        return Said(process.returncode or 0, out.decode(), err.decode())
