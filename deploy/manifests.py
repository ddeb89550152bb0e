"""Renders the Kubernetes manifests and validates every object by Kubernetes' own schemas, as part of `make check`."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

KUBERNETES = Path(__file__).with_name("kubernetes")
WAYS = (KUBERNETES, KUBERNETES / "overlays" / "http")
"""What `kubectl apply -k` is given."""
ALONE = (KUBERNETES / "reader.yaml", KUBERNETES / "secret.example.yaml")
VERSIONS = ("1.32", "1.35")
"""An old and a new one that AKS runs."""

Body = dict[str, Any]


def why_not() -> str | None:
    """What is missing to validate them here, or None."""
    if not shutil.which("kubectl"):
        return "kubectl is not on this machine"
    if not importlib.util.find_spec("kubernetes_validate"):
        return "the Python package kubernetes-validate is not installed"
    return None


def rendered(way: Path) -> list[Body]:
    """The objects of a kustomization."""
    command = ["kubectl", "kustomize", str(way)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - nobody else's words
    return list(yaml.safe_load_all(done.stdout))


def faults(body: Body, version: str) -> Iterator[str]:
    """What this Kubernetes version would refuse, including unknown fields."""
    kubernetes_validate: Any = importlib.import_module("kubernetes_validate")
    try:
        kubernetes_validate.validate(body, version, strict=True)
    except kubernetes_validate.ValidationError as refused:
        where = "/".join(map(str, refused.path))
        yield f"{body['kind']} {body['metadata']['name']}, Kubernetes {version}: {where}: {refused.message}"


def main() -> int:
    missing = why_not()
    if missing:
        sys.stdout.write(f"the Kubernetes manifests are not checked: {missing}\n")
        return 0
    objects = [body for way in WAYS for body in rendered(way)]
    objects += [body for file in ALONE for body in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
    found = [fault for body in objects for version in VERSIONS for fault in faults(body, version)]
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
