"""`kbp rules`: what lint looks for, and why."""

from typing import Annotated

import typer

from kbp.commands.console import DONE, Console, Stop
from kbp.commands.options import bad_choice
from kbp.linter.rules import RULES
from kbp.output import manual

FORMATS = ("text", "json")


def rules(
    console: Console,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One rule. None: all of them.")] = None,
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How rules are printed.")
    ] = "text",
) -> int:
    """Explain what a rule of lint wants, and why.

    \b
      kbp rules                      the table of all
      kbp rules unquoted-hint        one manual, with examples
      kbp rules --format json
    """
    faults = bad_choice("--format", format, FORMATS)
    if name is not None and name not in RULES:
        faults += bad_choice("NAME", name, RULES)
    if faults:
        raise Stop(faults, help=["  `kbp rules` lists all rules"] if name is not None and name not in RULES else [])
    chosen = [RULES[name]] if name is not None else list(RULES.values())
    if format == "json":
        console.print(manual.as_json(chosen))
    else:
        console.print_markdown(manual.page(chosen[0]) if name is not None else manual.table(chosen))
    return DONE
