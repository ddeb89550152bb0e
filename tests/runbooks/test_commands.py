"""The commands in runbooks exist: as the table says, and the table says what the programs say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from runbooks.commands import complaint_about, programs
from runbooks.library import OWN
from tests.runbooks.rendered import wrong_with

TABLE = OWN / "commands.yaml"


@pytest.mark.parametrize(
    "line",
    [
        "az aks show --name prod-weu --resource-group 'a (b)' --query id --output tsv",
        "az aks show -n x -g y -o tsv | jq .",
        "az lock delete --ids {{ lock.id }}",
        "az network vnet show --ids x --query={{ name }}",
        'ID=$(az aks show -n x -g y --query id -o tsv) && az resource update --ids "$ID"',
        'echo "$(az account show --query id)"',
        "kubectl get pods --namespace kube-system -o wide",
        "kubectl exec -it web -- ls --colour",
        "kubectl top node --sort-by=memory   # don't wait",
        "curl --fail https://example.com",
        "# az nonsense",
        "{% if x %}az account list{% endif %}",
    ],
)
def test_commands_that_exist_are_accepted(line: str) -> None:
    assert complaint_about(line) is None


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("az aks kollect --name x", "`az aks kollect` is not"),
        ("az monitor activity-log show", "not in commands.yaml"),
        ("az vmss update-instances -n a -g b --instance-id 3", "no option `--instance-id`"),
        ("az aks show x", "not in commands.yaml"),
        ("az", "`az` is not"),
        ("echo a; az aks show -n x", "needs `--resource-group`"),
        ('echo "$(az aks nonsense)"', "`az aks nonsense` is not"),
        ("kubectl rollout pods", "`kubectl rollout pods` is not"),
        ("kubectl get pods --sort", "no option `--sort`"),
        ("az aks show --name 'x", "not a shell line"),
    ],
)
def test_commands_that_do_not_exist_are_named(line: str, what: str) -> None:
    assert what in (complaint_about(line) or "")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("az aks show --name '' --resource-group rg", "`--name` has no value"),
        ('az aks show --name x --resource-group=""', "`--resource-group` has no value"),
        ("az aks kollect --name x", "is not in commands.yaml"),
        ("kubectl get pods --selector ''x", ""),
        ("az aks show --name x --resource-group 'a b'", ""),
    ],
)
def test_a_line_filled_in_without_a_value_is_named(line: str, what: str) -> None:
    assert wrong_with(line) == what if not what else what in wrong_with(line)


EXTENSIONS = frozenset(yaml.safe_load(TABLE.read_text(encoding="utf-8"))["az"]["extensions"].split())
_AZ_OPTION = re.compile(r" {4}(--?[a-zA-Z][\w-]*(?: --?[a-zA-Z][\w-]*)*)((?:\s+\[[A-Za-z ]+\])*)\s*:")
_KUBECTL_OPTION = re.compile(r" {4}(?:(-\w), )?(--[\w-]+)=")


@pytest.mark.soak
@pytest.mark.parametrize("command", sorted(programs()["az"].commands))
def test_az_knows_every_command_of_the_table(command: str, tmp_path: Path) -> None:
    az = os.environ.get("AKSBOT_TEST_AZ") or shutil.which("az")
    if not az:
        pytest.skip("az is not installed; AKSBOT_TEST_AZ may name it")
    environment = os.environ | {"AZURE_CONFIG_DIR": str(tmp_path), "COLUMNS": "400"}
    ran = subprocess.run([az, *command.split(), "--help"], capture_output=True, text=True, env=environment, check=False)
    if ran.returncode and command.split()[0] in EXTENSIONS:
        pytest.skip(f"the extension of az that brings `{command}` is not installed")
    assert ran.returncode == 0, ran.stderr
    options: set[str] = set()
    required: set[tuple[str, ...]] = set()
    for line in ran.stdout.split("Global Arguments")[0].splitlines():
        if found := _AZ_OPTION.match(line):
            options |= set(found[1].split())
            required |= {tuple(found[1].split())} if "[Required]" in found[2] else set()
    known = programs()["az"].commands[command]
    assert known.options == options
    assert set(known.required) == required


@pytest.mark.soak
@pytest.mark.parametrize("command", sorted(programs()["kubectl"].commands))
def test_kubectl_knows_every_command_of_the_table(command: str) -> None:
    kubectl = shutil.which("kubectl")
    if not kubectl:
        pytest.skip("kubectl is not installed")
    ran = subprocess.run([kubectl, *command.split(), "--help"], capture_output=True, text=True, check=True)
    found = filter(None, map(_KUBECTL_OPTION.match, ran.stdout.splitlines()))
    options = {spelling for one in found for spelling in one.groups() if spelling}
    assert programs()["kubectl"].commands[command].options == options
