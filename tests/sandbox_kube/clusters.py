"""The two clusters for contract tests: the sandbox's, and a real API server if available.

The real one is started from the KUBEBUILDER_ASSETS folder (etcd and kube-apiserver, as for envtest) on
free ports, without any kubelets or controllers, so the sandbox's are turned off here too.
"""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from kubernetes.aio import client

from sandbox.kube.server import KubeServer
from sandbox.kube.world import Account, KubeWorld
from tests.sandbox_kube.bodies import ADMIN_TOKEN, NOBODY_TOKEN, READER, READER_TOKEN

ASSETS = os.environ.get("KUBEBUILDER_ASSETS", "")
USERS = (
    (ADMIN_TOKEN, "kubernetes-admin", "system:masters"),
    (READER_TOKEN, READER, "system:serviceaccounts"),
    (NOBODY_TOKEN, "nobody", ""),
)


@dataclass(frozen=True)
class Cluster:
    """A cluster's address and credentials."""

    url: str
    ca_file: Path

    @asynccontextmanager
    async def client(self, token: str = ADMIN_TOKEN) -> AsyncIterator[client.ApiClient]:
        settings = client.Configuration(host=self.url)
        settings.ssl_ca_cert = str(self.ca_file)
        settings.api_key = {"BearerToken": f"Bearer {token}"}
        async with client.ApiClient(settings) as api:
            yield api


def is_real_there() -> bool:
    return bool(ASSETS) and all((Path(ASSETS) / name).exists() for name in ("etcd", "kube-apiserver"))


@asynccontextmanager
async def sandbox_cluster() -> AsyncIterator[Cluster]:
    world = KubeWorld(controllers=False, usage=None)
    world.accounts = [Account(user, (group,) if group else (), token) for token, user, group in USERS]
    async with KubeServer(world) as kube:
        yield Cluster(kube.url, kube.ca_file)


@contextmanager
def real_cluster(folder: Path) -> Iterator[Cluster]:
    """The real cluster, shared by all tests of a module, because it takes seconds to start."""
    etcd_port, peer_port, port = _free_port(), _free_port(), _free_port()
    etcd = [
        f"{ASSETS}/etcd",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls=http://127.0.0.1:{etcd_port}",
        f"--advertise-client-urls=http://127.0.0.1:{etcd_port}",
        f"--listen-peer-urls=http://127.0.0.1:{peer_port}",
        "--unsafe-no-fsync",
    ]
    server = _api_server(folder, port, etcd_port)
    with _running(etcd, folder / "etcd.log"), _running(server, folder / "kube-apiserver.log"):
        cluster = Cluster(f"https://127.0.0.1:{port}", folder / "ca.pem")
        _until_ready(cluster, folder)
        yield cluster


REAL = pytest.param(
    "real",
    marks=pytest.mark.skipif(
        not is_real_there(), reason=f"KUBEBUILDER_ASSETS ({ASSETS or 'not set'}) has no etcd and kube-apiserver"
    ),
)


@pytest.fixture(params=["sandbox", REAL], scope="module")
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster | None]:
    """The real cluster, or None for the sandbox's."""
    if request.param == "sandbox":
        yield None
    else:
        with real_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
            yield cluster


def _api_server(folder: Path, port: int, etcd_port: int) -> list[str]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    shown = authority.issue_cert("127.0.0.1", "localhost")
    shown.private_key_pem.write_to_path(str(folder / "server.key"))
    (folder / "server.pem").write_bytes(b"".join(blob.bytes() for blob in shown.cert_chain_pems))
    key = rsa.generate_private_key(65537, 2048)
    (folder / "accounts.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    rows = [f'{token},{user},{user},"{group}"' for token, user, group in USERS]
    (folder / "tokens.csv").write_text("\n".join(rows) + "\n")
    return [
        f"{ASSETS}/kube-apiserver",
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={folder / 'made'}",
        f"--tls-cert-file={folder / 'server.pem'}",
        f"--tls-private-key-file={folder / 'server.key'}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--anonymous-auth=false",
        "--service-account-issuer=https://127.0.0.1",
        f"--service-account-key-file={folder / 'accounts.key'}",
        f"--service-account-signing-key-file={folder / 'accounts.key'}",
        "--service-cluster-ip-range=10.0.0.0/24",
        # No controller creates service accounts here, and pods are not admitted without one.
        "--disable-admission-plugins=ServiceAccount",
        "--endpoint-reconciler-type=none",
    ]


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            yield
        finally:
            process.kill()


def _until_ready(cluster: Cluster, folder: Path) -> None:
    context = ssl.create_default_context(cafile=str(cluster.ca_file))
    request = urllib.request.Request(f"{cluster.url}/readyz", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})
    until = time.monotonic() + 90
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(request, timeout=5, context=context):
                return
        except OSError:
            # Poll, as there is no notification when the process is ready.
            time.sleep(0.2)
    raise TimeoutError((folder / "kube-apiserver.log").read_text()[-2000:])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
