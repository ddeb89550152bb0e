"""The lines that are understood inside a cluster print what the real `kubectl` prints."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from handlers.clients.kube.inside.questions import QUESTIONS
from sandbox.kube.command.get import Asker
from sandbox.kube.command.script import run
from sandbox.kube.jsonpath import BadPath, find, render
from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox_kube.bodies import definition, node, pod, small_world, widget
from tests.sandbox_kube.kubectl import Kubectl, needs_kubectl

COMMANDS = (
    "kubectl get nodes",
    "kubectl get nodes,pods,pdb -A",
    "kubectl get pods -A -o wide",
    "kubectl get pods -n kube-system -o json",
    "kubectl get pod web-1 -o json",
    "kubectl get pods,nodes -o name -A",
    "kubectl get pdb -A --no-headers",
    "kubectl get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName,NONE:.spec.nothing",
    "kubectl get pods -A --sort-by=.spec.nodeName -o name",
    "kubectl get po -l app=web --field-selector=spec.nodeName=node-2 -o name",
    "kubectl get pods -o jsonpath='{.items[*].metadata.labels}'",
    'kubectl get pods -o jsonpath=\'{range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}\'',
    "kubectl get nodes -o jsonpath='{.items[?(@.metadata.name==\"node-1\")].status.conditions[0].type}'",
    "kubectl get --raw /api/v1/namespaces/kube-system/pods",
    "kubectl get widgets",
    "kubectl get pods -n none",
    "kubectl get pod none",
    "kubectl get things",
    *(question.command for question in QUESTIONS),
)


@pytest.fixture
def world() -> KubeWorld:
    late = pod("late", phase="Pending", ready=False, on="")
    late["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": "ImagePullBackOff"}}
    tainted = node("node-3", ready=False)
    tainted["spec"]["taints"] = [{"key": "a&b", "effect": "NoSchedule"}]
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "late.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "late"},
        "type": "Warning",
        "reason": "Failed",
        "message": "Back-off pulling image\n\tnow",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 3,
    }
    return small_world([definition(), widget("one"), late, tainted, event])


def asker(kube: KubeServer) -> Asker:
    return Asker(lambda path, accept: kube.ask(path, accept=accept), kube.kind_called)


@needs_kubectl
@pytest.mark.parametrize("command", COMMANDS)
async def test_it_prints_what_kubectl_prints(world: KubeWorld, tmp_path: Path, command: str) -> None:
    # Ages move between the two calls, so the clock stands still.
    now = world.clock()
    world.clock = lambda: now
    async with KubeServer(world) as kube:
        real = await Kubectl(tmp_path, kube.kubeconfig())(*shlex.split(command)[1:])
        ours = run(command, asker(kube))
    assert ours.logs == real.out + real.err
    assert ours.exit_code == real.code


@pytest.mark.parametrize(
    ("script", "logs", "code"),
    [
        ("echo one; echo two", "one\ntwo\n", 0),
        ("kubectl get pod none && echo never", 'Error from server (NotFound): pods "none" not found\n', 1),
        ("kubectl get pod none || echo 'a; b'", 'Error from server (NotFound): pods "none" not found\na; b\n', 0),
        ("echo one\n\nkubectl get pods -n default -o name", "one\npod/late\npod/web-1\npod/web-2\n", 0),
        ("kubectl get", "error: You must specify the type of resource to get.\n", 1),
        ("kubectl get pods --what", "error: unknown flag: --what\n", 1),
        ("kubectl get pods -o", "error: flag needs an argument: -o\n", 1),
        ("helm list", "/bin/sh: helm: not found\n", 127),
        ("kubectl get pods | wc -l", "/bin/sh: the sandbox understands no pipes\n", 2),
        ("kubectl delete pod web-1", 'error: the sandbox understands "kubectl get", not "kubectl delete"\n', 1),
    ],
)
async def test_lines_follow_one_another_as_in_a_shell(world: KubeWorld, script: str, logs: str, code: int) -> None:
    outcome = run(script, asker(KubeServer(world)))
    assert (outcome.logs, outcome.exit_code) == (logs, code)


DATA: dict[str, Any] = {
    "items": [
        {"name": "a", "size": 1, "tags": ["x", "y"], "on": True},
        {"name": "b", "size": 5, "labels": {"example.com/tier": "front"}, "nothing": None},
    ]
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".items[*].name", ["a", "b"]),
        (".items[0].tags[-1]", ["y"]),
        (".items[0].tags[0:2]", ["x", "y"]),
        (".items[?(@.size>2)].name", ["b"]),
        (".items[?(@.size<=1)].name", ["a"]),
        ('.items[?(@.name=="b")].labels.example\\.com/tier', ["front"]),
        (".items[?(@.labels['example.com/tier']=='front')].name", ["b"]),
        (".items[?(@.tags)].name", ["a"]),
        (".items[?(@.on==true)].name", ["a"]),
        ('.items[?(@.name=="a" || @.size==5)].name', ["a", "b"]),
        ('.items[?(@.name!="a" && @.size==5)].name', ["b"]),
        ("..name", ["a", "b"]),
        (".items[*].none", []),
        ("items[1].nothing", [None]),
        ("$.items[9]", []),
    ],
)
def test_a_path_leads_to_values(path: str, found: list[Any]) -> None:
    assert find(path, DATA) == found


def test_a_template_mixes_text_and_paths() -> None:
    assert render("sizes: {.items[*].size}, on: {.items[0].on}", DATA) == "sizes: 1 5, on: true"
    assert render('{range .items[*]}{.name}={.size};{end}{"\\n"}', DATA) == "a=1;b=5;\n"
    assert render("{.items[0].tags}", DATA) == '["x","y"]'


@pytest.mark.parametrize("template", ["{range .items[*]}{.name}", "{end}", "{.items[?(x)]}", "{.items[!]}"])
def test_what_is_no_template_is_refused(template: str) -> None:
    with pytest.raises(BadPath):
        render(template, DATA)
