"""Scripts that complete a command line in bash, zsh and fish. None of them starts Python: a key is answered at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.cli.completion.words import Spoken

_BASH = """\
# Completion of aksbot in bash. Load it with: source <(aksbot completion bash)
_aksbot() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" at="" said number
  for ((number = 1; number < COMP_CWORD; number++)); do
    said="${{at:+$at }}${{COMP_WORDS[number]}}"
    case "$said" in
      {paths}) at="$said" ;;
    esac
  done
  COMPREPLY=()
  case "$at $before" in
{values}
  esac
  case "$at" in
{words}
  esac
}}
complete -o default -F _aksbot aksbot
"""
_ZSH = """\
# Completion of aksbot in zsh. Load it with: source <(aksbot completion zsh)
autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
"""


def bash(commands: Sequence[Spoken]) -> str:
    paths = "|".join(f'"{command.path}"' for command in commands if command.path)
    values = "\n".join(line for command in commands for line in _values(command))
    words = "\n".join(f'    "{command.path}") {_offer(command.words)} ;;' for command in commands)
    return _BASH.format(paths=paths, values=values, words=words)


def _values(command: Spoken) -> Iterator[str]:
    for option, values in command.values.items():
        yield f'    "{command.path} {option}") {_offer(values)}; return ;;'
    for option in command.files:
        yield f'    "{command.path} {option}") COMPREPLY=($(compgen -f -- "$word")); return ;;'


def _offer(words: Sequence[str]) -> str:
    return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word"))'


def zsh(commands: Sequence[Spoken]) -> str:
    """zsh runs completions of bash."""
    return _ZSH + bash(commands).partition("\n")[2]


def fish(commands: Sequence[Spoken]) -> str:
    lines = ["# Completion of aksbot in fish. Load it with: aksbot completion fish | source", "complete -c aksbot -f"]
    return "\n".join([*lines, *(line for command in commands for line in _fish(command, commands))]) + "\n"


def _fish(command: Spoken, commands: Sequence[Spoken]) -> Iterator[str]:
    there = _there(command, commands)
    options = [word for word in command.words if word.startswith("--")]
    others = [word for word in command.words if not word.startswith("--")]
    if others:
        yield f"complete -c aksbot -n '{there}' -a '{' '.join(others)}'"
    if command.takes_file:
        yield f"complete -c aksbot -n '{there}' -F"
    for option in options:
        yield f"complete -c aksbot -n '{there}' -l {option.removeprefix('--')}{_after(command, option)}"


def _after(command: Spoken, option: str) -> str:
    if option in command.values:
        return f" -xa '{' '.join(command.values[option])}'"
    return " -rF" if option in command.files else ""


def _there(command: Spoken, commands: Sequence[Spoken]) -> str:
    """Where fish offers it: behind all words of this command, and before those of a command below it."""
    if not command.path:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.path.split())
    below = [other.path.split()[-1] for other in commands if other.path.rpartition(" ")[0] == command.path]
    return f"{seen}; and not __fish_seen_subcommand_from {' '.join(below)}" if below else seen


WRITERS = {"bash": bash, "zsh": zsh, "fish": fish}
