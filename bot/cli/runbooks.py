"""`aksbot runbooks list | show | catalogue | lint`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bot import settings
from bot.checks.library import load
from bot.render.clean import one_line, width, wrapped
from bot.render.line import Line
from bot.render.markdown import paragraphs
from bot.render.terminal import show_lines
from handlers.problem import Exit, Problem
from runbooks.library import FURTHER, OWN, SECTIONS, Library, Runbook
from runbooks.lint import lint

_MOST_PAGES = 10


def list_all(*, as_json: bool) -> int:
    library = load(settings.load())
    if as_json:
        sys.stdout.write(json.dumps([runbook.head() for runbook in library.values()], indent=2) + "\n")
        return Exit.CLEAR
    longest = max((len(code) for code in library), default=0)
    show_lines(
        Line.of((f"{code:<{longest}}  ", "code"), (one_line(runbook.title), "")) for code, runbook in library.items()
    )
    return Exit.CLEAR


def show(code: str) -> int:
    library = load(settings.load())
    wanted = code.strip().lower()
    pages = [wanted] if wanted in library else library.index.about(wanted)
    if len(pages) != 1:
        raise _not_one(code, pages, library)
    show_lines(page(library[pages[0]], width()))
    return Exit.CLEAR


def page(runbook: Runbook, columns: int) -> list[Line]:
    """A whole runbook, with a placeholder for each fact."""
    lines = [Line.of((runbook.title, "title"), (f"  {runbook.code} ({runbook.severity})", "dim"))]
    for section in SECTIONS:
        lines += [Line(), Line.of((section, "heading"))]
        lines += paragraphs(runbook.outline(section), columns)
    if runbook.links:
        lines += [Line(), Line.of((FURTHER, "heading")), *paragraphs(runbook.further, columns)]
    lines += [Line(), Line.of((f"reviewed {runbook.reviewed.isoformat()}", "dim"))]
    sources = wrapped("from " + "; ".join(runbook.sources), hang="  ", columns=columns)
    return lines + [Line.of((text, "dim")) for text in sources]


def write_catalogue(file: Path | None) -> int:
    """Only the package's own runbooks: a team's folder is not part of the repository."""
    from bot.report.catalogue import FILE, catalogue

    to = file or FILE
    try:
        to.write_text(catalogue(Library.load()), encoding="utf-8")
    except OSError as cannot:
        do = "run it in the checkout, or name another file"
        raise Problem(f"cannot write {to}", str(cannot), do, code=Exit.USAGE) from cannot
    show_lines([Line.of(("written: ", ""), (str(to), "dim"))])
    return Exit.CLEAR


def lint_folder(folder: Path | None) -> int:
    folders = (folder,) if folder else (OWN, *settings.load().runbooks)
    complaints = lint(*folders)
    for complaint in complaints:
        sys.stderr.write(f"{one_line(str(complaint))}\n")
    if wrong := sum(not complaint.warning for complaint in complaints):
        count = f"{wrong} thing{'s' if wrong > 1 else ''} wrong in them"
        raise Problem("cannot use these runbooks", count, "correct the lines named above", code=Exit.USAGE)
    show_lines([Line.of(("the runbooks are right: ", ""), (", ".join(str(path) for path in folders), "dim"))])
    return Exit.CLEAR


def _not_one(asked: str, pages: list[str], library: Library) -> Problem:
    cannot = "cannot show that runbook"
    if pages:
        several = f"{len(pages)} runbooks have the words {asked[:80]!r}"
        return Problem(cannot, several, f"name one of them: {', '.join(pages[:_MOST_PAGES])}", code=Exit.USAGE)
    near = library.index.nearest(asked)
    do = f"perhaps you mean {' or '.join(near)}" if near else "`aksbot runbooks list` shows all codes"
    return Problem(cannot, f"no runbook has the code or the words {asked[:80]!r}", do, code=Exit.USAGE)
