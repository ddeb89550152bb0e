"""Secrets and people in addresses: the part before an `@`, and signed queries."""

from __future__ import annotations

from handlers.clients.redaction.span import Span, is_marked
from handlers.clients.secret_keys import looks_harmless
from runbooks.linear import compile_linear

_FAR = 320
_LOCAL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+#'-"
_NEVER_BEFORE = frozenset(' \t\r\n<>"@')
"""What stands before an `@` that ends nothing: a mention's bracket, a blank, another one."""
_DOMAIN = compile_linear(r"^[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}\.([A-Za-z]{2,63})\b")
_ENDS = compile_linear(r"[\s\"<>`|]|\\[nrt\"]")
_ACCOUNT = compile_linear(r"[A-Za-z0-9_-]{20,}")
_UNITS = frozenset({"service", "socket", "slice", "scope", "timer", "mount", "automount", "target", "path", "device"})
"""What systemd calls its units (`user@1000.service`); no address ends so."""
_SIGNED = compile_linear(r"^[^&\s\"'<>\\]{6,}")
_CODE = compile_linear(r"^[A-Za-z0-9_\-+/=%]{20,}")
_HOOK = compile_linear(r"^[^\s\"'<>\\|]{8,}")
HOOKS = (
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    ".webhook.office.com/webhookb2/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "chat.googleapis.com/v1/spaces/",
    "logic.azure.com/workflows/",
    "api.telegram.org/bot",
)
"""Whoever knows the rest of such an address may write there."""
SIGNED = ("&s=", "&h=", "&c=", "&t=", "?t=", "?s=", "?h=", "?c=", "\\u0026s=", "\\u0026h=", "\\u0026c=", "\\u0026t=")


def before_at(text: str, at: int, since: int) -> Span | None:
    """What ends at this `@`: the user and password of a URL, or a person's address. `since`: the previous `@`."""
    if not at or text[at - 1] in _NEVER_BEFORE:
        return None
    scheme = text.rfind("://", since, at)
    if scheme < 0 < since:
        # A password may hold an `@` itself.
        scheme = text.rfind("://", max(0, at - _FAR), at)
    if scheme >= 0 and (span := _user_info(text, scheme + 3, at)):
        return span
    if span := _in_a_label(text, since, at):
        return span
    return _person(text, at, text[max(0, at - _FAR) : at])


def _in_a_label(text: str, since: int, at: int) -> Span | None:
    """A Slack link repeats its address in its label, often without `https://`: `<https://u:X@h|u:X@h>`."""
    bar = text.rfind("|", max(since, at - _FAR), at)
    if bar < 0:
        return None
    opened = text.rfind("<", max(0, bar - 2048), bar)
    return _user_info(text, bar + 1, at) if opened >= 0 and text.startswith("<http", opened) else None


def _user_info(text: str, start: int, at: int) -> Span | None:
    info = text[start:at]
    if _ENDS.search(info) or is_marked(info):
        return None
    user, colon, password = info.partition(":")
    if not colon:
        return Span(start, at, "basic-auth") if _ACCOUNT.fullmatch(info) else None
    port, slash, _ = password.partition("/")
    is_path = "/" in user or "?" in user or (bool(slash) and port.isdigit())
    return None if is_path or not password or looks_harmless(password) else Span(start, at, "basic-auth")


def _person(text: str, at: int, head: str) -> Span | None:
    domain = _DOMAIN.match(text[at + 1 : at + 260])
    if not domain or domain[1].lower() in _UNITS:
        return None
    local = head[_local_start(head) :].lstrip("'")
    if not local.strip("'.%+#-_") or local == "git":
        return None
    return Span(at - len(local), at + 1 + domain.end(), "email")


def _local_start(head: str) -> int:
    """ASCII first, which is quick; then the letters of other alphabets."""
    at = len(head.rstrip(_LOCAL))
    while at and head[at - 1].isalnum():
        at = len(head[: at - 1].rstrip(_LOCAL))
    return at


def hook_at(text: str, end: int) -> Span | None:
    found = _HOOK.match(text[end : end + 2048])
    return Span(end, end + found.end(), "webhook") if found and not is_marked(found[0]) else None


def signed_at(text: str, end: int) -> Span | None:
    """A part of the signature in the URL of a long-running operation."""
    found = _SIGNED.match(text[end : end + 8192])
    return Span(end, end + found.end(), "signed-url") if found and not is_marked(found[0]) else None


def code_at(text: str, end: int) -> Span | None:
    """The key of an Azure function."""
    found = _CODE.match(text[end : end + 2048])
    return Span(end, end + found.end(), "function-key") if found else None
