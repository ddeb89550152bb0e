"""The registry of all methods, filled by importing their modules."""

from __future__ import annotations

from sandbox.slack.api import chat, conversations, files, identity, people, reactions, views
from sandbox.slack.api.call import METHODS, Call, Entry

__all__ = ["METHODS", "Call", "Entry", "chat", "conversations", "files", "identity", "people", "reactions", "views"]
