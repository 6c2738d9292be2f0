"""Data classes of options taken apart for Typer, and put together again for the commands."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from kbp.commands.console import Console, Stop
from kbp.commands.options import Common, bad_choice, check_folder, in_folder
from kbp.commands.running import leaving

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Bundle = TypeVar("Bundle")


def bundled(function: Callable[..., int]) -> Callable[..., int]:
    """A command function whose data class parameters are taken apart into options, and given whole to the function.

    A parameter of type Console gets the console that `Common` asks for, in the folder that it asks for.
    """
    parameters = list(inspect.signature(function).parameters.values())
    bundles = {each.name: each.annotation for each in parameters if _is_bundle(each.annotation)}
    plain = [each for each in parameters if each.name not in bundles and each.annotation is not Console]

    @functools.wraps(function)
    def command(ctx: typer.Context, **given: Any) -> int:
        common = _taken(Common, given).over(ctx.obj)
        made: dict[str, Any] = {name: _taken(bundle, given) for name, bundle in bundles.items()}
        made |= {each.name: common.console() for each in parameters if each.annotation is Console}
        faults = bad_choice("--color", common.color, ("auto", "always", "never"))
        if faults:
            raise Stop(faults)
        with in_folder(common.directory):
            check_folder()
            return leaving(lambda: function(**given, **made))

    _sign(command, [*plain, *(option for bundle in (*bundles.values(), Common) for option in _options_of(bundle))])
    return command


def before_command() -> Callable[..., None]:
    """A callback that takes the options of every command before its name too, and leaves them in the context."""

    def callback(ctx: typer.Context, **given: Any) -> None:
        ctx.obj = _taken(Common, given)

    _sign(callback, _options_of(Common))
    return callback


def _sign(function: Callable[..., object], parameters: Iterable[inspect.Parameter]) -> None:
    """Give the function, which takes a context and keywords, the parameters that its options are made of."""
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    function.__signature__ = inspect.Signature([context, *keywords])  # type: ignore[attr-defined]  # what inspect reads
    function.__annotations__ = {each.name: each.annotation for each in (context, *keywords)}


def spelt(bundle: "DataclassInstance") -> list[str]:
    """The options of a bundle as they would be typed, those left out that have their default."""
    tokens: list[str] = []
    for each in dataclasses.fields(bundle):
        value = getattr(bundle, each.name)
        if value == each.default:
            continue
        option = _option_name(each.type)
        if value is True:
            tokens.append(option)
        else:
            tokens += [token for one in (value if isinstance(value, list) else [value]) for token in (option, str(one))]
    return tokens


def given_options(bundle: "DataclassInstance") -> list[str]:
    """The names of the options of a bundle that have another value than their default."""
    given = [each for each in dataclasses.fields(bundle) if getattr(bundle, each.name) != each.default]
    return [_option_name(each.type) for each in given]


def _option_name(annotation: Any) -> str:
    """The first name of the option in an annotation."""
    info = next(each for each in annotation.__metadata__ if isinstance(each, typer.models.OptionInfo))
    return str(info.default)


def _is_bundle(annotation: object) -> bool:
    return dataclasses.is_dataclass(annotation) and annotation is not Console


def _options_of(bundle: type) -> Iterator[inspect.Parameter]:
    for each in dataclasses.fields(bundle):
        yield inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)


def _taken(bundle: type[Bundle], given: dict[str, Any]) -> Bundle:
    return bundle(**{each.name: given.pop(each.name) for each in dataclasses.fields(bundle)})  # type: ignore[arg-type]  # a data class
