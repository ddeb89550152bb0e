"""Renders Slack's mrkdwn as HTML. HTML in the text is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import groupby

from markupsafe import Markup, escape

from sandbox.slack.page.emoji import BY_NAME
from sandbox.slack.page.icons import DRAWN, icon
from sandbox.slack.page.look import Look

_FENCE = re.compile(r"```\n?(.+?)\n?```", re.DOTALL)
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|<(?P<reference>[^<>\n]+)>"
    r"|(?<![\w*])\*(?P<bold>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
    r"|(?<![\w])_(?P<italic>[^\s_](?:[^\n]*?[^\s_])?)_(?![\w])"
    r"|(?<![\w~])~(?P<strike>[^\s~](?:[^~\n]*[^\s~])?)~(?![\w~])"
    r"|:(?P<emoji>[a-z0-9_+-]+):"
)
_QUOTED = re.compile(r"^(?:&gt;|>) ?")
_SAFE = ("https://", "http://", "mailto:")


def plain(text: str) -> Markup:
    """Plain text; emoji names are replaced here too."""
    return _lines(Markup().join(_emoji_only(text)))


def _emoji_only(text: str) -> list[Markup]:
    parts = re.split(r":([a-z0-9_+-]+):", text)
    return [emoji(part) if number % 2 else escape(part) for number, part in enumerate(parts)]


def mrkdwn(text: str, look: Look) -> Markup:
    """A complete text: code blocks, quotes and inline formatting."""
    parts = _FENCE.split(text)
    done = []
    for number, part in enumerate(parts):
        if number % 2:
            done.append(Markup("<pre>{}</pre>").format(decoded(part)))
        elif part:
            done.append(_paragraphs(part, look))
    return Markup().join(done)


def decoded(text: str) -> str:
    """Undo Slack's escaping of `&`, `<` and `>`."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _paragraphs(text: str, look: Look) -> Markup:
    done = []
    for quoted, lines in groupby(text.strip("\n").split("\n"), key=lambda line: bool(_QUOTED.match(line))):
        shown = _lines(inline("\n".join(_QUOTED.sub("", line) if quoted else line for line in lines), look))
        done.append(Markup("<blockquote>{}</blockquote>").format(shown) if quoted else shown)
    return Markup().join(done)


def _lines(html: Markup) -> Markup:
    return Markup(str(html).replace("\n", "<br>"))  # noqa: S704 - it is escaped, and this adds line breaks only


def inline(text: str, look: Look) -> Markup:
    """Inline formatting."""
    done, end = [], 0
    for match in _INLINE.finditer(text):
        done += [escape(decoded(text[end : match.start()])), _marked(match, look)]
        end = match.end()
    return Markup().join([*done, escape(decoded(text[end:]))])


def _marked(match: re.Match[str], look: Look) -> Markup:
    kind = str(match.lastgroup)
    inner = match[kind]
    if kind == "code":
        return Markup("<code>{}</code>").format(decoded(inner))
    if kind == "reference":
        return reference(inner, look)
    if kind == "emoji":
        return emoji(inner)
    tag = {"bold": "b", "italic": "i", "strike": "s"}[kind]
    return Markup("<{0}>{1}</{0}>").format(tag, inline(inner, look))


def emoji(name: str) -> Markup:
    if name not in BY_NAME and name not in DRAWN:
        return escape(f":{name}:")
    shown = icon(f"e-{name}", "emoji") if name in DRAWN else escape(BY_NAME[name])
    return Markup('<span class="emoji" role="img" title=":{0}:" aria-label="{0}">{1}</span>').format(name, shown)


def reference(inner: str, look: Look) -> Markup:
    """A reference in angle brackets: a mention, channel, date or link."""
    what, _, label = inner.partition("|")
    for start, show in _REFERENCES.items():
        if what.startswith(start):
            return show(what.removeprefix(start), label, look)
    return link(decoded(what), decoded(label))


def link(url: str, label: str = "") -> Markup:
    """A link, if it is http(s); else only its text."""
    if not url.startswith(_SAFE):
        return escape(f"<{url}|{label}>" if label else f"<{url}>")
    shown = label or url.removeprefix("mailto:")
    return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>').format(url, shown)


def mention(name: str) -> Markup:
    return Markup('<span class="mention">{}</span>').format(name)


def _date(what: str, label: str, look: Look) -> Markup:
    seconds = what.split("^")[0]
    if not seconds.isdigit():
        return escape(label)
    shown = datetime.fromtimestamp(int(seconds), tz=UTC).astimezone().strftime("%d %B %Y, %H:%M")
    return Markup('<time title="{}">{}</time>').format(label, shown)


_REFERENCES: dict[str, Callable[[str, str, Look], Markup]] = {
    "@": lambda what, label, look: mention("@" + look.user(what)),
    "#": lambda what, label, look: mention("#" + look.channel(what)),
    "!subteam^": lambda what, label, look: mention("@" + look.group(what)),
    "!date^": _date,
    "!": lambda what, label, look: mention("@" + what),
}
