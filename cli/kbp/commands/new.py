"""`kbp new`: a first file for a prompt."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kbp import dialects, settings
from kbp.ask.terminal import may_ask
from kbp.commands.console import DONE, Console, Stop, write_whole
from kbp.commands.edit import edit_file
from kbp.commands.options import bad_choice
from kbp.commands.sources import Reading
from kbp.converter.base import scalar, skill_name, spellable
from kbp.converter.plan import own_folder
from kbp.converter.run import convert
from kbp.dialects.base import Dialect
from kbp.display import said_of
from kbp.files import Manner, Place, Roots, read, shown
from kbp.search import Surroundings
from kbp.values import is_unicode

_ARGUMENT = re.compile(r"(?P<name>[^=!]+)(?:=(?P<default>.*?))?(?P<required>!)?", re.DOTALL)
_DIALECT = "kb"
_ARGUMENT_ASKED = "An argument: NAME, NAME=DEFAULT, or NAME! where it is required (Enter: no more):"


def new(
    console: Console,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the prompt is called; folders are parted by /.")],
    dialect: Annotated[
        str, typer.Option("--dialect", metavar="|".join(dialects.DIALECTS), help="The dialect to write it in.")
    ] = _DIALECT,
    description: Annotated[
        str | None, typer.Option("--description", metavar="TEXT", help="What the prompt does.")
    ] = None,
    argument: Annotated[
        list[str] | None,
        typer.Option("--argument", metavar="NAME[=DEFAULT][!]", help="An argument; ! makes it required. Repeatable."),
    ] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Open it in $VISUAL or $EDITOR.")] = False,
) -> int:
    """Write a first file for a prompt, in the folder where the clients of its dialect look.

    \b
      kbp new debug --description 'Debug an app' --argument app! --argument since=1h
      kbp new git/commit --dialect claude --edit

    On a terminal what the prompt does and its arguments are asked for, when neither is given. Prints the path of the
    file. A file that is there is never written over.
    """
    words = tuple(word for word in dialects.names() if word != "auto")
    faults = [*bad_choice("--dialect", dialect, words), *_name_faults(name)]
    is_asked = description is None and not argument and not edit and not faults
    if is_asked and may_ask(no_input=console.no_input):
        _check_free(name, dialect)
        description, argument = _ask(console)
    arguments = [match for text in argument or [] if (match := _ARGUMENT.fullmatch(text))]
    faults += [
        f"--argument {text!r}: write NAME, NAME=DEFAULT or NAME!"
        for text in argument or []
        if not _ARGUMENT.fullmatch(text)
    ]
    faults += [fault for match in arguments for fault in _argument_faults(match)]
    texts = [name, description or "", *(argument or [])]
    faults += [f"{text!r} is not UTF-8" for text in texts if not is_unicode(text)]
    names = [match["name"] for match in arguments]
    faults += [f"--argument: `{each}` is given twice" for each in dict.fromkeys(names) if names.count(each) > 1]
    if edit and not settings.editor():
        faults.append("--edit: there is no editor: VISUAL or EDITOR names one")
    if faults:
        raise Stop(faults)
    target = dialects.dialect_called(dialect) or dialects.DIALECTS[_DIALECT]
    path = _check_free(name, dialect)
    text = _text(path, _kb_text(name, description, arguments), target, console)
    _check_place(path, text, target, console)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        raise Stop(f"{shown(path)} cannot be written: {said_of(error)}") from None
    console.print(f"{shown(path)}\n")
    if edit:
        edit_file(path, console)
    return DONE


def _check_free(name: str, dialect: str) -> Path:
    """The path that the file is to have.

    Raises:
        Stop: something is there.
    """
    path = _path(name, dialects.dialect_called(dialect) or dialects.DIALECTS[_DIALECT])
    if os.path.lexists(path):
        raise Stop(f"{shown(path)} is there already")
    return path


def _ask(console: Console) -> tuple[str | None, list[str]]:
    """What a person says of the prompt: what it does, and its arguments as `--argument` takes them."""
    from kbp.ask.questions import ask_line
    from kbp.ask.text import Back

    given: list[str] = []

    def no_fault(text: str) -> None:
        return None

    def fault(text: str) -> str | None:
        match = _ARGUMENT.fullmatch(text)
        if match is None:
            return "write NAME, NAME=DEFAULT or NAME!" if text.strip() else None
        said = _argument_faults(match)
        said += [f"`{match['name']}` is there already"] if match["name"] in map(_named, given) else []
        return said[0].removeprefix(f"--argument {text!r}: ") if said else None

    texts: list[str] = []
    typed = ""
    while True:
        label, check = (_ARGUMENT_ASKED, fault) if texts else ("What does it do?", no_fault)
        given[:] = texts[1:]
        try:
            text = ask_line(label, default=typed, fault=check, color=console.color)
        except Back:
            typed = texts.pop() if texts else ""
            continue
        if texts and not text:
            return texts[0] or None, texts[1:]
        texts.append(text)
        typed = ""


def _named(argument: str) -> str:
    return re.split("[=!]", argument)[0]


def _check_place(path: Path, text: str, target: Dialect, console: Console) -> None:
    """See that the file is read as what it is where it is to lie, and lies in the project.

    Raises:
        Stop: it is not.
    """
    place = Surroundings().place_of(path)
    found = read(text.encode(), place, Reading().manner(path, console.configuration, skills=True))
    if found.dialect is not target:
        name = f"a {found.dialect.name} file" if found.dialect else "no prompt file"
        raise Stop(f"{shown(path)} would be read as {name}: {found.detection.why}")
    root = Roots().marked(Path.cwd()) or Path.cwd()
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        raise Stop(f"{shown(path)} leads out of {shown(root)} by a symbolic link")


def _name_faults(name: str) -> list[str]:
    parts = name.split("/")
    is_word = all(part and not part.startswith((".", "-")) and not any(map(str.isspace, part)) for part in parts)
    if not is_word or not name.isprintable() or "---" in name:
        return [f"{name!r} is no name for a prompt: it is a word without blanks, and no dot or dash in front of it"]
    if name.endswith(".md"):
        return [f"{name!r} is a file: give the name without its ending"]
    return []


def _argument_faults(match: re.Match[str]) -> list[str]:
    if match["required"] and match["default"] is not None:
        return [f"--argument {match[0]!r}: a required argument has no default"]
    near = spellable(match["name"])
    if near != match["name"]:
        say = f"; did you mean '{near}'?" if near else ""
        return [f"--argument {match[0]!r}: a name is letters, digits and underscores{say}"]
    return []


def _path(name: str, target: Dialect) -> Path:
    """Where the file is to lie: the folder of the dialect in the project or plugin, else in the current folder."""
    here = Path.cwd()
    *folders, stem = name.split("/")
    folder = own_folder(Roots().marked(here) or here, target)
    if target.home.is_flat:
        folders, stem = [], "-".join((*folders, stem))
    if "own folder" in target.expresses:
        stem = skill_name(stem)
        if not stem:
            raise Stop(f"'{name}' leaves no name for a skill: it has lower-case letters, digits and dashes")
    return folder.joinpath(*folders) / f"{stem}{target.home.ending}"


def _kb_text(name: str, description: str | None, arguments: Sequence[re.Match[str]]) -> str:
    """The prompt in the dialect that can say all of it."""
    words = " ".join(re.split(r"[-_/ ]+", name)).strip()
    lines = ["---", f"description: {scalar(description or words.capitalize())}"]
    if arguments:
        lines.append("arguments:")
    for match in arguments:
        lines.append(f"- name: {scalar(match['name'])}")
        if match["required"]:
            lines.append("  required: true")
        elif match["default"]:
            lines.append(f"  default: {scalar(match['default'])}")
    body = "".join(f"\n{match['name']}: {{{{ {match['name']} }}}}\n" for match in arguments)
    return "\n".join([*lines, "---", "Say here what is to be done.", body])


def _text(path: Path, text: str, target: Dialect, console: Console) -> str:
    """The prompt in its dialect.

    Raises:
        Stop: it cannot be one.
    """
    home = dialects.DIALECTS[_DIALECT]
    source = read(text.encode(), Place(path.with_suffix(".md"), path.parent, outright=True), Manner(home))
    if source.template is None:
        raise Stop([problem.message for problem in source.problems])
    converted = convert(source, target, name=path.parent.name if "own folder" in target.expresses else None)
    if converted.text is None:
        raise Stop([problem.message for problem in converted.problems])
    for loss in converted.losses:
        if not loss.what.startswith("name "):
            console.hint(f"{target.name} cannot say {loss.what}: {loss.where}")
    return converted.text
