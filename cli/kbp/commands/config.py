"""`kbp config`: the settings that hold, where they come from, and what there are."""

import json
from collections.abc import Callable
from typing import Annotated

import typer

from kbp import configuration, dialects
from kbp.commands.console import DONE, TO_REPORT, Console, Stop
from kbp.commands.options import bad_choice
from kbp.display import safe_line
from kbp.files import shown
from kbp.output.jsontext import dump


def _show(console: Console) -> int:
    """Every setting with its value, and where that stands."""
    project = console.configuration
    for setting in configuration.SETTINGS:
        is_own = setting.is_personal and setting.name not in project.values
        is_own |= setting.name == "history" and not console.own_configuration.value("history")  # off anywhere is off
        found = console.own_configuration if is_own else project
        line = found.lines.get(setting.name)
        where = "default"
        if setting.name in found.values and found.path:
            where = f"{shown(found.path)}:{line}" if line else shown(found.path)
        value = json.dumps(found.value(setting.name), ensure_ascii=False)
        console.print(f"{safe_line(setting.name)} = {safe_line(value)}  # {safe_line(where)}\n")
    return DONE


def _path(console: Console) -> int:
    """The file that the settings stand in. 1 when there is none."""
    found = console.configuration
    if found.path is None:
        console.hint("no kbp.toml, .kbp.toml or [tool.kbp] here or above")
        return TO_REPORT
    console.print_text(f"{found.path}\n")
    return DONE


def _schema(console: Console) -> int:
    """The JSON Schema of the file."""
    console.print(dump(configuration.schema(dialects.names())))
    return DONE


WHAT: dict[str, Callable[[Console], int]] = {"show": _show, "path": _path, "schema": _schema}


def config(
    console: Console,
    what: Annotated[str, typer.Argument(metavar="|".join(WHAT), help="What to print of the settings.")],
) -> int:
    """Print the settings that hold, the file they stand in, or the schema of it.

    \b
      kbp config show        every setting, its value, and where that comes from
      kbp config path        the file: kbp.toml, .kbp.toml, or a pyproject.toml with [tool.kbp]
      kbp config schema      JSON Schema, for editors

    The nearest file here or above holds; --config names another, --no-config means none.
    """
    faults = bad_choice("kbp config", what, WHAT)
    if faults:
        raise Stop(faults)
    return WHAT[what](console)
