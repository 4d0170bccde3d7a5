"""The completion scripts of bash, zsh and fish, made from the tree of commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mt.cli.command_tree import Argument, Command

Settings = Mapping[str, Sequence[str]]  # dotted keys of a config, and the values that each may have

_BASH = r"""# bash completion for mt, made by `mt completion bash`. Works from bash 3.2 on.

_mt_options() { # those of a command
  case $1 in
@OPTIONS@
  esac
}

_mt_kind() { # what follows an option of a command, or what its arguments are; nothing for a switch
  case "$1 $2" in
@KINDS@
  esac
}

_mt_values() { # those of a setting
  case $1 in
@VALUES@
  esac
}

_mt_candidates() { # of a kind, for what is typed of it
  local file
  case $1 in
    words:*) compgen -W "${1#words:}" -- "$2" ;;
    model)
      for file in weights/*/config.yaml; do
        file=${file%/config.yaml}
        [[ -d $file && ${file#weights/} == "$2"* ]] && echo "${file#weights/}"
      done
      compgen -d -- "$2" ;;
    folder) compgen -d -- "$2" ;;
    file) compgen -f -- "$2" ;;
    config)
      compgen -f -X '!*.yaml' -- "$2"
      compgen -f -X '!*.yml' -- "$2"
      compgen -d -- "$2" ;;
    set)
      if [[ $2 == *=* ]]; then
        compgen -P "${2%%=*}=" -W "$(_mt_values "${2%%=*}")" -- "${2#*=}"
      else
        compgen -S = -W "@SETTINGS@" -- "$2"
      fi ;;
  esac
}

_mt() {
  local words=() n=-1 i kind="" lead="" value cut="" candidate plain=""
  for ((i = 0; i <= COMP_CWORD; i++)); do # bash takes = for a word of its own; words as typed
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == = ]]; then
      words[n]+=${COMP_WORDS[i]}
    else
      words[++n]=${COMP_WORDS[i]}
    fi
  done
  for ((i = 1; i < n; i++)); do [[ ${words[i]} == -- ]] && plain=yes; done
  value=${words[n]}
  if ((n == 1)); then
    kind="words:@COMMANDS@"
    [[ $value == -* ]] && kind="words:$(_mt_options "")"
  elif [[ ! $plain && $value == --*=* ]]; then
    lead=${value%%=*}=
    kind=$(_mt_kind "${words[1]}" "${value%%=*}")
    value=${value#*=}
  else
    [[ ! $plain && ${words[n - 1]} == -* ]] && kind=$(_mt_kind "${words[1]}" "${words[n - 1]}")
    if [[ ! $kind ]]; then
      if [[ ! $plain && $value == -* ]]; then
        kind="words:$(_mt_options "${words[1]}")"
      else
        kind=$(_mt_kind "${words[1]}" "")
      fi
    fi
  fi
  [[ $COMP_WORDBREAKS == *=* && ${words[n]} == *=* ]] && cut=${words[n]%"${words[n]##*=}"}
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate=$lead$candidate
    COMPREPLY+=("${candidate#"$cut"}")
  done < <(_mt_candidates "$kind" "$value" | sort -u)
  case $kind in
    file | folder | config | model) compopt -o filenames 2>/dev/null ;;
    set) [[ $value == *=* ]] || compopt -o nospace 2>/dev/null ;;
  esac
}

complete -F _mt mt
"""

_ZSH = r"""#compdef mt
# zsh completion for mt, made by `mt completion zsh`.

_mt_models() {
  local -a names
  names=(weights/*/config.yaml(N:h:t))
  compadd -- $names
  _files -/
}

_mt_settings() {
  if compset -P '*='; then
    case ${IPREFIX%=} in
@VALUES@
    esac
  else
    compadd -S = -- @SETTINGS@
  fi
}

_mt() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands
  commands=(
@COMMANDS@
  )
  _arguments -C \
@WHOLE@
    '1: :->command' '*:: :->arguments' && return
  case $state in
    command) _describe -t commands command commands ;;
    arguments)
      case $words[1] in
@ARGUMENTS@
      esac ;;
  esac
}

if [[ $funcstack[1] == _mt ]]; then _mt "$@"; else compdef _mt mt; fi
"""

_FISH = r"""# fish completion for mt, made by `mt completion fish`.

function __mt_is --description 'whether the command is this one; without one, whether none is yet'
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end

function __mt_typed --description 'of the value, as in --model=VALUE'
    string replace -r -- '^--[^=]*=' '' (commandline -ct)
end

function __mt_models
    set -l configs weights/*/config.yaml
    string replace -r -- '^weights/(.*)/config.yaml$' '$1' $configs
    __fish_complete_directories (__mt_typed)
end

function __mt_configs
    set -l typed (__mt_typed)
    set -l configs $typed*.yaml $typed*.yml
    string join \n -- $configs
    __fish_complete_directories $typed
end

function __mt_settings
    printf '%s\n' @SETTINGS@
end

complete -c mt -f
"""


def bash(whole: Command, commands: Sequence[Command], settings: Settings) -> str:
    """The script for bash."""
    options = [
        f"    {_shell(c.name)}) echo {_shell(' '.join(f for o in c.options for f in o.flags))} ;;"
        for c in (whole, *commands)
    ]
    kinds = [
        f"    {_shell(f'{command.name} {flag}')}) echo {_shell(_bash_kind(argument))} ;;"
        for command in commands
        for argument in command.arguments
        if argument.value
        for flag in argument.flags or ("",)
    ]
    return _fill(
        _BASH,
        OPTIONS=options,
        KINDS=kinds,
        VALUES=_values(settings, "echo"),
        SETTINGS=[" ".join(settings)],
        COMMANDS=[" ".join(command.name for command in commands)],
    )


def _bash_kind(argument: Argument) -> str:
    return f"words:{' '.join(argument.words)}" if argument.kind == "words" else argument.kind


def zsh(whole: Command, commands: Sequence[Command], settings: Settings) -> str:
    """The script for zsh."""
    cases = []
    for command in commands:
        specs = [_shell(_zsh_spec(argument)) for argument in command.arguments]
        cases += [f"        {command.name})", "          _arguments -s \\"]
        cases += [f"            {spec} \\" for spec in specs[:-1]]
        cases += [f"            {specs[-1]} ;;"]
    names = [f"{c.name}:{c.summary.replace(':', chr(92) + ':')}" for c in commands]
    return _fill(
        _ZSH,
        VALUES=_values(settings, "compadd --"),
        SETTINGS=[" ".join(settings)],
        COMMANDS=[f"    {_shell(name)}" for name in names],
        WHOLE=[f"    {_shell(_zsh_spec(option))} \\" for option in whole.options],
        ARGUMENTS=cases,
    )


def _zsh_spec(argument: Argument) -> str:
    meaning = _short(argument.meaning)
    for character in "\\[]:":
        meaning = meaning.replace(character, f"\\{character}")
    action = {
        "words": f"({' '.join(argument.words)})",
        "file": "_files",
        "folder": "_files -/",
        "config": "_files -g '*.(yaml|yml)'",
        "model": "_mt_models",
        "set": "_mt_settings",
        "text": " ",
    }[argument.kind]
    if not argument.flags:
        return f"{'*' if argument.many else ''}:{argument.value}:{action}"
    value = f":{argument.value.replace(':', chr(92) + ':')}:{action}" if argument.value else ""
    return f"{'*' if argument.many else ''}{argument.name}{'=' if value else ''}[{meaning}]{value}"


def fish(whole: Command, commands: Sequence[Command], settings: Settings) -> str:
    """The script for fish."""
    known = [f"{key}={value}" for key, values in settings.items() for value in values or ("",)]
    lines = [_fill(_FISH, SETTINGS=[" ".join(known)])]
    lines += [_fish_line("", option) for option in whole.options]
    for command in commands:
        lines.append(
            f"complete -c mt -n '__mt_is \"\"' -a {command.name} -d {_fish(command.summary)}\n"
        )
        lines += [_fish_line(command.name, argument) for argument in command.arguments]
    return "".join(lines)


def _fish_line(command: str, argument: Argument) -> str:
    value = {
        "words": f" -a {_fish(' '.join(argument.words))}",
        "file": " -F",
        "folder": " -a '(__fish_complete_directories (__mt_typed))'",
        "config": " -a '(__mt_configs)'",
        "model": " -a '(__mt_models)'",
        "set": " -a '(__mt_settings)'",
        "text": "",
    }[argument.kind if argument.value else "text"]
    flags = "".join(
        f" -{'l' if f.startswith('--') else 's'} {f.lstrip('-')}" for f in argument.flags
    )
    exclusive = " -x" if argument.flags and argument.value and argument.kind != "file" else ""
    needed = " -r" if argument.flags and argument.kind == "file" and argument.value else ""
    condition = _fish(f'__mt_is "{command}"')
    meaning = f" -d {_fish(_short(argument.meaning))}" if argument.flags else ""
    return f"complete -c mt -n {condition}{flags}{exclusive}{needed}{value}{meaning}\n"


def _values(settings: Settings, say: str) -> list[str]:
    return [f"    {key}) {say} {' '.join(values)} ;;" for key, values in settings.items() if values]


def _short(meaning: str) -> str:
    """Its first clause: a menu has one line for it."""
    return re.split(r"[;:.] | \(default", meaning)[0]


def _fill(template: str, **parts: list[str]) -> str:
    for name, lines in parts.items():
        template = template.replace(f"@{name}@", "\n".join(lines))
    return template


def _shell(text: str) -> str:
    """In single quotes, for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(text: str) -> str:
    """In single quotes, for fish, which knows two escapes in them."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
