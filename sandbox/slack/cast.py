"""The workspaces of the demo, of drills and of most tests: their people and channels."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.slack.workspace import Channel, Group, Person, Workspace


def on_call_workspace(name: str = "Contoso Platform") -> Workspace:
    """People with different permissions and channels of every kind; the bot is a member of some."""
    staff = ["requester", "approver", "visitor"]
    return Workspace(
        name=name,
        people=[
            Person("requester", title="On call"),
            Person("approver", title="Platform lead"),
            Person("visitor", title="Not on call"),
            Person("guest", title="Contractor", guest="single-channel"),
            Person("partner", title="Northwind", home_team="T0NORTHWIND"),
            Person("former", deleted=True),
        ],
        channels=[
            Channel("general", [*staff], topic="What concerns everybody"),
            Channel("incidents", [*staff, "aksbot"], topic="What is broken right now"),
            Channel("platform-on-call", [*staff, "aksbot"], topic="Clusters and who looks after them"),
            Channel("random", [*staff]),
            Channel("payments-private", ["requester", "approver", "aksbot"], kind="private"),
            Channel("leads-private", ["approver"], kind="private"),
            Channel("partner-support", ["requester", "partner", "aksbot"], shared_with="T0NORTHWIND"),
            Channel("contractors", [*staff, "guest", "aksbot"], topic="Work that others do for us"),
            Channel("old-incidents", ["requester", "aksbot"], archived=True),
        ],
        groups=[
            Group("aks-oncall", ["requester", "approver"], name="On call for AKS"),
            Group("aks-approvers", ["approver"], name="May approve fixes"),
        ],
    )


def drill_workspace(clusters: Iterable[str]) -> Workspace:
    """A requester, an approver, and for each cluster a channel with the bot in it."""
    people = ["requester", "approver"]
    return Workspace(
        name="Contoso Drill",
        people=[Person(name) for name in people],
        channels=[Channel(name, [*people, "aksbot"]) for name in clusters],
        groups=[Group("aks-oncall", ["requester", "approver"]), Group("aks-approvers", ["approver"])],
    )
