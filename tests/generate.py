"""What is made of the command line: the table of completion, the scripts in `completions/`, the man page.

`python tests/generate.py` writes them, `tests/test_generated.py` fails when they are stale.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from kbp import __version__
from kbp.app import COMMANDS, HELP, app_of
from kbp.commands.completions import SHELLS, shell_called
from kbp.linter.rules import RULES

TOP = Path(__file__).parent.parent

# What the values of options and arguments are, by their metavar and by their own names.
_KINDS = {"DIR": "file", "FILE": "file", "PATH": "file", "PATHS": "file…", "RULES": "rules", "NAME|URL": "server"}
_KINDS_BY_NAME = {
    **dict.fromkeys(
        [("render", "NAME"), ("show", "NAME"), ("edit", "NAME"), ("list", "PATTERN"), ("pick", "QUERY")], "prompt"
    ),
    ("render", "WORDS"): "file…",
    ("diff", "A B"): "prompt…",
    ("rules", "NAME"): "rule",
    ("server", "NAME"): "server",
    "--arg": "argument",
    "-A": "raw argument",
}


def _command() -> Any:
    return typer.main.get_command(app_of(COMMANDS))


def _kind(command: str, parameter: Any) -> str:
    """What the value of a parameter is, as `kbp.complete` knows it."""
    if getattr(parameter, "is_flag", False):
        return ""
    metavar = parameter.metavar or "TEXT"
    named = [*parameter.opts, (command, metavar)]
    known = next((_KINDS_BY_NAME[each] for each in named if each in _KINDS_BY_NAME), _KINDS.get(metavar))
    if known:
        return known
    words = [word for word in metavar.split("|") if re.fullmatch(r"[a-z][a-z0-9-]*", word)]
    return "|".join(words) or "text"


def _options(command: Any) -> dict[str, tuple[str, str]]:
    found = {"--help": ("", "Show what it does and takes.")}
    for parameter in command.params:
        if parameter.param_type_name == "option":
            for name in sorted(parameter.opts, key=len, reverse=True):
                found[name] = (_kind(command.name, parameter), parameter.help)
    return dict(sorted(found.items(), key=lambda each: each[0].lstrip("-").lower()))


def _arguments(command: Any) -> tuple[str, ...]:
    return tuple(_kind(command.name, each) for each in command.params if each.param_type_name == "argument")


def _summary(command: Any) -> str:
    return str(command.help or "").strip().split("\n")[0]


def table() -> str:
    """The module with what completion knows of the command line."""
    tree = _command()
    commands = {name: (_summary(each), _options(each), _arguments(each)) for name, each in tree.commands.items()}
    rules = {rule.name: rule.summary for rule in RULES.values()}
    return "\n".join(
        [
            '"""The commands, options, values and rules that a Tab press offers. Made by `tests/generate.py`."""',
            "# fmt: off",
            "# ruff: noqa: E501",
            "",
            "OPTIONS: dict[str, tuple[str, str]] = " + _dict(_options(tree)),
            "COMMANDS: dict[str, tuple[str, dict[str, tuple[str, str]], tuple[str, ...]]] = {",
            *(
                f"    {name!r}: ({help!r}, {_own(options, _options(tree))}, {kinds!r}),"
                for name, (help, options, kinds) in commands.items()
            ),
            "}",
            "RULES: dict[str, str] = " + _dict(rules),
            "",
        ]
    )


def _dict(content: dict[str, Any], first: str = "") -> str:
    return "{" + first + "\n" + "".join(f"    {key!r}: {value!r},\n" for key, value in content.items()) + "}"


def _own(options: dict[str, Any], common: dict[str, Any]) -> str:
    """The options of a command: those of every command are named, not repeated."""
    return _dict({name: value for name, value in options.items() if common.get(name) != value}, "**OPTIONS,")


# The man page


def man() -> str:
    """The man page, in the macros of `man`."""
    tree = _command()
    lines = [
        f'.TH KBP 1 "" "kbp {__version__}" "User Commands"',
        ".SH NAME",
        r"kbp \- lint, convert and render prompt files",
        ".SH SYNOPSIS",
        r".B kbp",
        r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]...",
        ".SH DESCRIPTION",
        *_prose(HELP),
        ".SH COMMANDS",
    ]
    for name, command in tree.commands.items():
        words = [each for each in command.params if each.param_type_name == "argument"]
        synopsis = " ".join(f"[{each.metavar}]" + ("..." if each.nargs == -1 else "") for each in words)
        lines += [f".SS {_roff(f'kbp {name} [OPTIONS] {synopsis}'.rstrip())}", *_prose(command.help or "")]
        common = {option for each in tree.params for option in each.opts}
        for each in command.params:
            if each.param_type_name == "argument" or not common.intersection(each.opts):
                lines += _entry(each)
    lines += [".SH OPTIONS", "Every command takes these, before its name or behind it."]
    for each in tree.params:
        lines += _entry(each)
    return "\n".join([*lines, *_man_end()]) + "\n"


def _man_end() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, said in (
        ("0", "Done, and nothing to report."),
        ("1", "Done, and there is something to report; or the person left with Ctrl\\-D."),
        ("2", "The request is wrong."),
        ("3", "A server cannot be reached, or fails."),
        ("70", "A bug in kbp."),
        ("130", "The person left with Ctrl\\-C or Esc."),
    ):
        yield from (".TP", f".B {code}", said)
    yield ".SH ENVIRONMENT"
    for name, said in (
        ("KBP_CONFIG", "The file of settings."),
        ("KBP_LOG", "\\fBdebug\\fR tells what \\-\\-verbose does."),
        ("KBP_NO_INPUT, CI", "Never ask a question."),
        ("KBP_PATH", "More files, folders and globs with prompts, separated as in PATH."),
        ("NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE", "Whether to print colours."),
        ("PAGER, VISUAL, EDITOR", "The programs that page and edit."),
    ):
        yield from (".TP", f".B {name}", said)


def _entry(parameter: Any) -> list[str]:
    """An option or an argument with its help."""
    if parameter.param_type_name == "argument":
        head = rf"\fI{_roff(parameter.metavar)}\fR"
    else:
        names = ", ".join(rf"\fB{_roff(name)}\fR" for name in parameter.opts)
        head = names if getattr(parameter, "is_flag", False) else rf"{names} \fI{_roff(parameter.metavar or 'TEXT')}\fR"
    return [".TP", head, _roff(parameter.help or "")]


def _prose(help: str) -> Iterator[str]:
    """A help text: paragraphs, and examples as they are."""
    for paragraph in re.split(r"\n\s*\n", help.strip()):
        lines = [line.strip() for line in paragraph.strip().split("\n")]
        if lines[0] in ("\b", "\\b"):
            yield from (".PP", ".nf", *map(_roff, (f"  {line}" for line in lines[1:])), ".fi")
        else:
            yield from (".PP", _roff(" ".join(lines)))


def _roff(text: str) -> str:
    """The text as roff reads it."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    return r"\&" + escaped if escaped[:1] in (".", "'") else escaped


def files() -> dict[Path, str]:
    """All that is made, by its path."""
    scripts = {TOP / "completions" / found.script: found.text for found in map(shell_called, SHELLS)}
    return {TOP / "cli/kbp/complete/table.py": table(), TOP / "completions/kbp.1": man(), **scripts}


if __name__ == "__main__":
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
