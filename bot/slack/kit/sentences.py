"""The sentences in Slack that no single feature owns. They take plain text and return mrkdwn."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.render.headline import pieces
from bot.render.verdict import count
from bot.slack.kit.escaping import LONGEST_NAME, code, escape, plain, sentence, span
from bot.slack.kit.limits import MESSAGE_TEXT
from handlers.problem import Problem


def starting(cluster: str) -> str:
    return f"Checking {code(cluster)} …"


def joined(cluster: str, running_for: timedelta) -> str:
    return (
        f"{code(cluster)} is already being checked, for {span(running_for)} so far. The answer will be posted here too."
    )


def progress(cluster: str, evidence: tuple[int, int], questions: tuple[int, int]) -> str:
    if not questions[1]:
        return f"{code(cluster)}: looking for it in Azure"
    return f"{code(cluster)}: evidence {evidence[0]}/{evidence[1]}, checks {questions[0]}/{questions[1]}"


def found_so_far(codes: tuple[str, ...]) -> str:
    return "Found so far: " + ", ".join(code(name) for name in codes)


def unseen_so_far(wanted: tuple[str, ...]) -> str:
    return "Could not see: " + ", ".join(plain(action, LONGEST_NAME) for action in wanted)


PLAN_TITLE = "Checking {cluster}"
FIND, COLLECT, JUDGE = "Find the cluster", "Collect evidence", "Answer the questions"


def of(done: tuple[int, int]) -> str:
    return f"{done[0]} of {done[1]}"


# Sentences about the answer.

FOR = "For "
WHAT_TO_DO = "What to do"
PROOF = "What proves it"
IN_FULL = "In full"
BECAUSE_OF = "because of"
SAME_ERROR = "with the same error as above"
CONSEQUENCES = "What follows from it"
UNSEEN = "Could not see"
GRANT = "grant"
OTHER_CAUSES = "More causes"
ALSO = "Also found"
ALL_CHECKS = "All checks"
ENDED = {
    "found": "Found",
    "inconclusive": "No result",
    "crashed": "Failed with an error of its own",
    "clear": "Found nothing",
    "not-applicable": "Does not apply here",
}
NO_RUNBOOK = "There is no runbook for this."
RULED_OUT = "Looked for, not found"
NOT_LOOKED_AT = "Not looked at"
NO_CHECK_FOR = "No check for these yet"
NOT_PROVEN = "This is no all-clear: something could not be seen."

CHECK_AGAIN, CHECK_ALL, SHOW_ALL = "Check again", "Check everything", "Show all checks"
WRONG, STEPS = "Wrong answer", "Show the steps"
SUPPORT = "Support packet"
DETECTORS = "Azure's detectors"
WATCH_THIS, WATCH_END = "Watch this", "Tell me when it ends"


def verdict(cluster: str, label: str, summary: str) -> str:
    return f"*{code(cluster)}: {plain(label)}* · {plain(summary, 300)}"


def named(line: str) -> str:
    """A line of the runbook's head: what stands between backticks is a name."""
    return "".join(code(piece) if is_name else _between(piece) for piece, is_name in pieces(line))


def _between(words: str) -> str:
    """Words beside a name keep the spaces that hold them apart from it."""
    before, behind = " " if words[:1] == " " else "", " " if words[-1:] == " " else ""
    return f"{before}{plain(words)}{behind}" if words.strip() else words


def state(label: str, summary: str) -> str:
    return f"{plain(label)} · {plain(summary, 300)}"


def subject(code_name: str, subject_name: str) -> str:
    return f"{plain(subject_name, 300)} · {code(code_name)}"


def first_lines(effect: str, do: str) -> str:
    """For a lock screen."""
    return "\n".join(filter(None, (named(effect), named(do))))


def reported_besides(number: int) -> str:
    detectors = "1 of Azure's detectors reports" if number == 1 else f"{number} of Azure's detectors report"
    return f"{detectors} a problem that no finding here names: see the thread."


def age(time: timedelta) -> str:
    return f"This answer is {span(time)} old; *{CHECK_AGAIN}* makes a new one."


def as_of(moment: datetime) -> str:
    """For what is shown again later: things may have changed by then."""
    return f"as of {moment:%Y-%m-%d %H:%M} UTC"


NOT_DURABLE = "Redis is not reachable: this check would not have survived a restart, and buttons may not work yet."


def cost(took_ms: float, arm_calls: int, kube_calls: int) -> str:
    parts = [f"{took_ms / 1000:.1f} s" if took_ms >= 950 else f"{took_ms:.0f} ms", count(arm_calls, "Azure call")]
    if kube_calls:
        parts.append(count(kube_calls, "Kubernetes call"))
    return " · ".join(parts)


def more(number: int) -> str:
    return f"… and {number} more"


def whole_in_file(name: str) -> str:
    return f"Parts of this were cut to fit into Slack. The full report is {code(name)} in this thread."


def stayed_open(names: list[str]) -> str:
    return "Without it, these checks have no result: " + ", ".join(names)


def runbook_unfilled(where: str) -> str:
    return f"({where} could not be filled in; <name> stands for what is missing.)"


CRASHED = "please report it with aksbot's log"


# Sentences where there is no answer.


def problem(stopped_by: Problem) -> str:
    """On one line, for notifications and where blocks are refused."""
    return plain(f"{sentence(stopped_by.what)}: {stopped_by.why}. What to do: {stopped_by.do}", MESSAGE_TEXT)


WHY, DO = "Why", "What to do"
NO_WORDS = "This could not be done; no reason was given."
GAVE_UP = "This could not be finished after several tries."


def no_such_cluster(name: str, why: str, *, near: bool) -> str:
    meant = " Perhaps you mean one of these:" if near else ""
    return f"I cannot find the cluster {code(name)}: {plain(why, 300)}.{meant}"


CHOOSE = "Choose a cluster"


def state_alone(cluster: str, label: str) -> str:
    return f"*{code(cluster)}: {plain(label)}*"


def not_checked(cluster: str) -> str:
    return f"{code(cluster)} could not be checked."


WHAT_WAS_NAMED = "the cluster that was named"
OUTSIDE = (
    "Guests or people of another company read this channel: the rest is shown only to whoever asked and may look. "
    "In a direct message or an internal channel I say all of it."
)
ONLY_YOU = (
    "Only you see this: guests or people of another company read this channel. To ask for a fix, check again in an "
    "internal channel."
)


def away(problem: Problem) -> str:
    """When Redis is away and the request needs it."""
    return plain(f"{sentence(problem.what)} ({problem.why}), so this cannot be done now: {problem.do}.", MESSAGE_TEXT)


# Immediate replies to commands.

LISTENER_FAILED = "Internal error; nothing was done. Please try again; aksbot's log has the details."
LOOKING_FOR_CLUSTERS = "Looking for your clusters …"
ONE_MOMENT = "One moment …"
RECOGNISED = "Recognised, not verified: nothing was looked up in Azure."
ERROR_INSIDE = "The error inside"
ALSO_SPOKEN_OF = "Also spoken of"
TO_PROVE_IT = "To prove it and have `&lt;…&gt;` filled in: `/aks check &lt;cluster&gt;`"
EXPLAIN_WHAT = "Paste the error after it: `/aks explain &lt;text&gt;`"
NOT_RECOGNISED = (
    "Not recognised: no runbook knows this text. `/aks check &lt;cluster&gt;` looks at the cluster itself, "
    "`/aks runbook` lists what I know."
)
RUNBOOKS = "Runbooks"
PICK = "Which cluster?"
PICK_PLACEHOLDER = "Choose a cluster"
INVITE = "Invite me"
INVITED = "I am in this channel now: ask again, and everybody here sees the answer."
NOT_INVITED = "I cannot join by myself. Type `/invite @aksbot` in this channel."
NOT_A_MEMBER = "I am not in this channel, so only you see this answer, and there is no thread."
REPORT_GONE = f"That answer has expired: its facts are kept for 30 days. *{CHECK_AGAIN}* shows how it is now."
STATE_UNKNOWN = "state unknown"
REPORT_AWAY = "Redis is not reachable, so the values of that answer are missing: `&lt;…&gt;` marks what to fill in."
NO_FLEET = "There is no cluster: either none exists, or my identity may not read it."

HELP = (
    "*What I can do*\n"
    "`/aks check [cluster | id | portal link] [area] [detectors]` finds out what is wrong with a cluster, and why; "
    "with `detectors` it also runs Azure's own\n"
    "`/aks check &lt;cluster&gt; …` with one of these behind it answers that alone:\n"
    "`path &lt;ns/pod&gt; &lt;ns/service:port&gt;` what stops this connection\n"
    "`pod &lt;ns/pod&gt;`, `node &lt;name&gt;`, `ns &lt;namespace&gt;` what is wrong with this one\n"
    "`from &lt;ip&gt;` whether this address may reach the API server\n"
    "`rbac &lt;ns/service account&gt; &lt;verb&gt; &lt;resource&gt;` whether this service account may do that\n"
    "`logs` what the control plane has logged in the last hour\n"
    "`/aks check all` checks every cluster that you may view; `/aks clusters` lists them by last verdict\n"
    "`/aks default [cluster | none]` shows or sets this channel's default cluster\n"
    "`/aks explain &lt;text&gt;` explains a pasted error\n"
    "`/aks changes &lt;cluster&gt; [2h]` shows who changed what there, newest first\n"
    "`/aks history &lt;cluster&gt;` shows the past verdicts, incidents and fixes\n"
    "`/aks digest` tells what is new on your clusters since yesterday, what was mended, and what ends soon\n"
    "`/aks fixes &lt;cluster&gt;` shows the available fixes and the open approvals\n"
    "`/aks support &lt;cluster&gt;` collects what Azure support asks for, as a redacted file\n"
    "`/aks audit` shows which fixes ran, and who approved them\n"
    "`/aks mute &lt;code&gt; &lt;cluster&gt; until &lt;date or 4h&gt; &lt;reason&gt;` mutes a finding; "
    "`/aks mute` lists, `/aks unmute &lt;code&gt; &lt;cluster&gt;` ends it\n"
    "`/aks watch &lt;cluster&gt;` notifies you when the problem or operation there is over; `/aks watch` lists\n"
    "`/aks runbook [code | words]` shows what I know about a problem, or finds it: `/aks runbook pdb`\n"
    "`/aks help` shows the most important\n"
    "In threads, where Slack has no commands: `@aksbot check &lt;cluster&gt;`, and so on; in a direct message to me "
    "without the `@aksbot`.\n"
    "*Triage this*, in the menu of any message, recognises cluster and problem.\n"
    "In channels where I am a member I read along, and answer in a thread; `stop` in the thread silences me.\n"
    "My *Home* tab shows the fleet.\n"
    "I only read, unless someone approves a fix: then I send exactly the calls of the plan that was shown."
)


HELP_IN_SHORT = (
    "*What I can do:* find out what is wrong with a cluster, and repair it once someone approves.\n"
    "`/aks check &lt;cluster&gt;` what is wrong there, and why\n"
    "`/aks explain &lt;pasted error&gt;` what an error means, and what to do\n"
    "`/aks clusters` your clusters by last verdict\n"
    "In a thread or a direct message just say it: `@aksbot why is &lt;cluster&gt; broken?`"
)
MORE = "More"


def looking_at(cluster: str) -> str:
    return f"Checking {code(cluster)}: the answer will be posted here."


def misuse(problem: Problem) -> str:
    """An invalid command. What to do contains code spans of ours."""
    return f"I {plain(problem.what)}: {plain(problem.why)}. {escape(sentence(problem.do))}"


def unknown(word: str, near: list[str]) -> str:
    perhaps = " or ".join(code(f"/aks {name}") for name in near)
    return f"I do not know the command {code(word)}. Perhaps you mean {perhaps}."


def no_runbook(name: str, near: list[str]) -> str:
    perhaps = f"Perhaps you mean {' or '.join(code(name) for name in near)}. " if near else ""
    return f"There is no runbook {code(name)}, and none has these words. {perhaps}`/aks runbook` lists all."


def runbooks_about(words: str, number: int) -> str:
    return f"{count(number, 'runbook')} about {code(words)}: `/aks runbook &lt;code&gt;` shows one."


def too_many_to_pick(number: int) -> str:
    do = "does" if number == 1 else "do"
    return f"{number} more {do} not fit into this menu: type `/aks check &lt;cluster&gt;` with a name or an id."


def delayed(seconds: float) -> str:
    return f"Slack's rate limit delayed this by {span(timedelta(seconds=seconds))}."


def answered_elsewhere(channel: str, why: str) -> str:
    return f"You asked in {code(channel)}, where I could not answer ({plain(why, 80)})."


def rest_elsewhere(number: int) -> str:
    return f"{count(number, 'message')} more would follow in a channel where I am a member."


def file_refused(why: str) -> str:
    return f"The full report could not be attached as a file ({plain(why, 80)})."


CANNOT_LIST = "cannot list the clusters"
TRY_AGAIN = "try again in a minute; if it fails again, see aksbot's log"


def no_answer_within(seconds: float) -> str:
    return f"Azure did not answer within {seconds:g} s"


NAME_A_CLUSTER = "Say for which cluster: `/aks fixes &lt;cluster&gt;`"
