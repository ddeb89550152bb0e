"""The policy of the demo and of drills: members of the approvers group approve what somebody else requests."""

from __future__ import annotations

import json
from pathlib import Path

from sandbox.slack.workspace import Workspace

APPROVERS = "aks-approvers"


def demo_policy(folder: Path, team: Workspace) -> Path | None:
    """A policy file; None if the workspace has no such group."""
    groups = [group.id for group in team.groups if group.handle == APPROVERS]
    if not groups:
        return None
    rule = {"clusters": ["*"], "approvers": groups, "requester_counts": False}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "policy.yaml"
    file.write_text(json.dumps({"fixes": {"rules": [rule]}}), "utf-8")  # JSON is YAML
    return file
