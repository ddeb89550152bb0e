"""The files of a support packet, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.render.clean import one_line
from bot.render.json_report import as_dict
from bot.render.packet import calls, commands, errors, identity, logs, operator, timeline
from bot.render.packet.archive import Archive, Member, archive_name
from bot.render.packet.clean_material import clean_material
from bot.render.packet.errors import ErrorText
from bot.render.packet.material import Material
from bot.render.verdict import count, verdict
from bot.render.whole import unseen_lines, whole_lines
from handlers.clients.recording.file import INSIDE
from handlers.evidence.azure import ManagedCluster
from handlers.model import Unavailable
from runbooks.library import Library

SUMMARY = "summary.md"
PICTURE = "timeline.png"
_MOST_IDS = 5
_REDACTED = (
    "Secrets are replaced by `[redacted:…]`; names, ids and addresses stay, as support needs them. "
    "Read it before you send it."
)


def archive(material: Material, library: Library, picture: bytes | None = None) -> Archive:
    """The packet. The summary comes first, and lists the rest."""
    material = clean_material(material)
    failed = errors.errors(material.recording)
    rest = tuple(_members(material, library, failed, picture))
    summary = Member(SUMMARY, "what is wrong, which cluster, and this list", _summary(material, library, failed, rest))
    name = archive_name(material.cluster, material.made_at)
    return Archive(name, (summary, *rest), material.made_at)


def _members(material: Material, library: Library, failed: list[ErrorText], picture: bytes | None) -> Iterator[Member]:
    name, recording, report = material.cluster, material.recording, material.report
    refused, rows = errors.refusals(recording), timeline.rows(material)
    yield Member("errors.md", "every error, complete, with times and ids", errors.as_markdown(name, failed, refused))
    yield Member(
        "timeline.md", "what happened: Azure, Kubernetes and aksbot together", timeline.as_markdown(name, rows)
    )
    if picture:
        yield Member(PICTURE, "the same as a picture", picture)
    yield Member("timeline.csv", "the same as a table, with exact times and all ids", timeline.as_csv(rows))
    if operator.is_there(recording):
        managed = operator.objects(recording)
        said = "what Azure Service Operator is, and what its objects say"
        yield Member("azure-service-operator.md", said, operator.as_markdown(name, managed))
    if material.fact(ManagedCluster):
        said = "errors of the last hour in the control plane's logs, or how to have them kept"
        yield Member("api-server-logs.md", said, logs.as_markdown(material, library))
    templates = "templates that made the cluster, and the commands that show all this by hand"
    yield Member("commands.md", templates, commands.as_markdown(material, library))
    lines = [*whole_lines(report, library), *unseen_lines(report), ""]
    yield Member("report.txt", "aksbot's whole report, with all of its proof", "\n".join(lines))
    yield Member("report.json", "the same for programs", as_dict(report, library))
    yield Member("calls.csv", "what aksbot asked of Azure and the cluster, with request ids", calls.as_csv(recording))
    yield Member(INSIDE, "the answers themselves, for `aksbot replay`", recording.as_mapping())


def _summary(material: Material, library: Library, failed: list[ErrorText], rest: Sequence[Member]) -> str:
    made = f"Made at {timeline.utc(material.made_at)} (UTC) by aksbot {material.version}. {_REDACTED}"
    lines = [
        f"# Support packet of {material.cluster}",
        "",
        made,
        "",
        "## What is wrong",
        "",
        f"**{one_line(verdict(material.report.diagnosis, library).text)}**",
        "",
        *_causes(material, library),
        "## Which cluster",
        "",
        *identity.as_table(identity.ids(material)),
        "",
        *_latest(failed, str(material.report.diagnosis.target.id)),
        "## What is in this packet",
        "",
        "| file | what it holds |",
        "|---|---|",
        f"| `{SUMMARY}` | this page |",
        *(f"| `{member.name}` | {member.holds} |" for member in rest),
        "",
        *_unseen(material),
    ]
    return "\n".join(lines)


def _causes(material: Material, library: Library) -> Iterator[str]:
    for ranked in material.report.diagnosis.findings:
        if ranked.root:
            finding = ranked.finding
            runbook = library.get(finding.code)
            title = runbook.title if runbook else finding.code
            yield f"- **{title}** (`{finding.code}`), `{one_line(finding.subject)}`"
            yield f"  {one_line(finding.because[0])}"
            yield ""


def _latest(failed: list[ErrorText], cluster: str) -> Iterator[str]:
    """What the form of a support request asks for first."""
    error = errors.latest(failed, cluster)
    if error is None:
        return
    yield "## The latest error"
    yield ""
    yield f"- operation: {one_line(error.what)}"
    yield f"- at: {max(error.times, default=f'unknown, read at {error.read_at}')}"
    yield f"- resource id: `{one_line(error.about)}`"
    yield from (f"- {name}" for name in error.ids[:_MOST_IDS])
    more = f", and {count(len(failed) - 1, 'more error')}" if len(failed) > 1 else ""
    yield f"- complete text{more}: `errors.md`"
    yield ""


def _unseen(material: Material) -> Iterator[str]:
    blind = unseen(material)
    if not blind:
        return
    yield "## What could not be read"
    yield ""
    yield from (f"- {_told(unavailable)}" for unavailable in blind)
    yield ""


def unseen(material: Material) -> list[Unavailable]:
    """What belongs into the packet and could not be read, each once."""
    return list(dict.fromkeys((*material.unseen, *material.report.diagnosis.unseen)))


def _told(unavailable: Unavailable) -> str:
    grant = f"; grant `{unavailable.grant}` to the identity that aksbot runs as" if unavailable.grant else ""
    return one_line(f"{unavailable}{grant}")
