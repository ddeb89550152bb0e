"""Images that cannot be pulled, and the registries that they come from."""

from __future__ import annotations

from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from runbooks.linear import compile_linear

REASONS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"}
)
DOCKER_HUB = "docker.io"
_AZURES = compile_linear(r"^[A-Za-z0-9-]{1,63}\.azurecr\.(?:io|cn|us)$")
"""Azure Container Registry, in each of its clouds."""


def failed_pulls(symptoms: Symptoms) -> tuple[Symptom, ...]:
    return tuple(symptom for symptom in symptoms.of(Sign.WAITING) if symptom.reason in REASONS)


def image_of(symptom: Symptom) -> str:
    return symptom.container.image if symptom.container else ""


def registry_of(image: str) -> str:
    """The host that an image comes from; without one it is Docker Hub."""
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else DOCKER_HUB


def is_azures(registry: str) -> bool:
    return _AZURES.search(registry.lower()) is not None
