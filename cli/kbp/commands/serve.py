"""`kbp serve`: prompt files as an MCP server."""

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from kbp.commands.bundles import spelt
from kbp.commands.console import DONE, Console, Stop
from kbp.commands.options import bad_choice
from kbp.commands.running import LEFT
from kbp.commands.serving import CLIENTS, Reader, Web, absolute, client_configuration
from kbp.commands.sources import STDIN, Reading
from kbp.display import said_of
from kbp.server import log, tokens
from kbp.server.watch import Hangups
from kbp.values import is_unicode

if TYPE_CHECKING:
    from kbp.server.metrics import Metrics
    from kbp.server.stock import Stock


def serve(
    console: Console,
    reading: Reading,
    web: Web,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATHS", help="Files, folders or globs; the project by default.")
    ] = None,
    library_config: Annotated[
        Path | None,
        typer.Option("--library-config", metavar="FILE", help="Serve the libraries that FILE declares, named each."),
    ] = None,
    skills: Annotated[bool, typer.Option("--skills", help="Agent Skills that a person may invoke are prompts too.")] = (
        False
    ),
    watch: Annotated[
        bool | None,
        typer.Option("--watch/--no-watch", help="Follow the files; so it does over HTTP, unless told otherwise."),
    ] = None,
    log_format: Annotated[
        str, typer.Option("--log-format", metavar="|".join(log.FORMATS), help="How stderr tells what happens.")
    ] = "text",
    print_config: Annotated[
        str | None,
        typer.Option("--print-config", metavar="|".join(CLIENTS), help="Print what a client wants to reach it, only."),
    ] = None,
    new_token: Annotated[
        str | None, typer.Option("--new-token", metavar="NAME", help="Make a token, and add it to the token file.")
    ] = None,
) -> int:
    """Serve prompt files as an MCP server, on stdin and stdout or over HTTP.

    \b
      kbp serve --print-config claude      what Claude Code wants in .mcp.json to start it
      kbp serve prompts/ --library ops     on stdin and stdout; the prompts are named ops_STEM
      kbp serve --http 127.0.0.1:8000      for many clients, at http://127.0.0.1:8000/mcp
      kbp serve --library-config team.yaml --http :8000 --token-file tokens

    The prompts of the project are served, or those of PATHS; your own folders only where they are named. Over HTTP,
    ?library= &categories= &tags= in the URL choose what a client sees, and &prompts=off gives it two tools besides. GET
    /health says what is served, and what is not and why. SIGHUP reads all anew.
    """
    faults = [*reading.faults(), *bad_choice("--log-format", log_format, log.FORMATS)]
    faults += web.faults() if new_token is None else []
    faults += bad_choice("--print-config", print_config, CLIENTS) if print_config is not None else []
    if new_token is not None and not tokens.is_token_name(new_token):
        faults.append(f"--new-token {new_token!r}: a name is {tokens.NAME_RULE}")
    if STDIN in (paths or []):
        faults.append("a server reads files again and again: `-` cannot be served")
    if library_config is not None and (paths or reading.library is not None):
        faults.append("--library-config says where prompts are and which library they are of: give no PATHS, --library")
    if new_token is not None and print_config is not None:
        faults.append("--new-token and --print-config: give one of them")
    if faults:
        raise Stop(faults)
    if new_token is not None:
        return _make_token(new_token, web.token_file, console)
    options = _options(reading, skills=skills, watch=watch, log_format=log_format)
    paths = [absolute(path) for path in paths or ()]
    config = Path(absolute(library_config)) if library_config is not None else None
    reader = Reader(reading, paths, config, skills, console)
    if print_config is not None:
        if web.http is None or paths or config:
            reader.read(())  # what cannot be served is not printed
        if web.token_file is not None:
            _Tokens(web.token_file)
        arguments = _arguments(options, paths, config, console)
        printed = client_configuration(print_config, reading.library or "kbp", web, arguments)
        if not is_unicode(printed):
            raise Stop("a path in it is no text, and JSON has nothing else")
        console.print(printed)
        return DONE
    hangups = Hangups()
    log.set_up(log_format, verbose=console.verbose, quiet=console.quiet)
    gc.disable()  # until all is read
    if web.http is not None:
        return _serve_http(reader, web, hangups, watches=watch is not False)
    return _serve_stdio(reader, console, hangups, watches=bool(watch))


def _make_token(name: str, path: Path | None, console: Console) -> int:
    """Print a new token, and add what lets it in to the token file; without one, say what belongs there.

    Raises:
        Stop: the file cannot be read, written, or has lines that are no tokens.
    """
    token, line = tokens.new_token(name)
    if path is None:
        console.print(f"{token}\n")
        console.explain(f"a token file lets it in with this line:\n{line}")
        return DONE
    try:
        tokens.add_token(path, line, lambda: console.print(f"{token}\n"))
    except tokens.BadTokens as bad:
        raise Stop(bad.faults) from None
    except OSError as error:
        raise Stop(f"--token-file {path}: {said_of(error)}") from None
    console.hint(f"{path} lets it in; a server that runs already reads it on SIGHUP")
    return DONE


def _options(reading: Reading, *, skills: bool, watch: bool | None, log_format: str) -> list[str]:
    """The options that say what is served and how, as they would be typed from any folder."""
    options = spelt(reading)
    if reading.root is not None:
        options[options.index("--root") + 1] = absolute(reading.root)
    options += ["--skills"] if skills else []
    options += ["--watch"] if watch else []
    return [*options, *(["--log-format", log_format] if log_format != log.FORMATS[0] else [])]


def _arguments(options: list[str], paths: list[str], config: Path | None, console: Console) -> list[str]:
    """The command line that serves the same on stdin and stdout, from wherever it is started."""
    before = ["-C", str(Path.cwd())]
    before += [] if console.use_config else ["--no-config"]
    before += ["--config", absolute(console.config)] if console.config is not None else []
    before += [option for option, given in (("-v", console.verbose), ("-q", console.quiet)) if given]
    options = [*options, *(["--library-config", str(config)] if config is not None else [])]
    return [*before, "serve", *options, *(["--", *paths] if any(p.startswith("-") for p in paths) else paths)]


def _serve_stdio(reader: Reader, console: Console, hangups: Hangups, *, watches: bool) -> NoReturn:
    from kbp.server import stdio
    from kbp.server.app import App
    from kbp.server.stock import Stock
    from kbp.server.watch import Keeper

    if sys.stdin is None or not sys.stdout.writable():
        raise Stop("a client is on stdin and stdout, and one of them is closed")
    stock = Stock(reader)
    app = App(stock, is_logged=False)
    keeper = Keeper(stock, app.changed, hangups=hangups, is_watching=watches, on_hangup=reader.resolve_anew)
    app.background = keeper.run
    if sys.stdin is not None and sys.stdin.isatty():
        console.hint(
            "hint: a client starts this, and speaks MCP with it; Ctrl-C ends it\n"
            "  kbp serve --print-config claude     what a client wants to start it\n"
            "  kbp serve --http 127.0.0.1:8000     for many clients"
        )
    keeper.tell("serving")
    _settle_memory()
    stdio.run(app)


def _serve_http(reader: Reader, web: Web, hangups: Hangups, *, watches: bool) -> NoReturn:
    import anyio

    from kbp.server import http
    from kbp.server.app import App
    from kbp.server.stock import Stock
    from kbp.server.watch import Keeper

    known = _Tokens(web.token_file) if web.token_file is not None else None
    with web.listener() as listener:
        stock = Stock(reader)
        app = App(stock, _metrics(stock))

        def on_hangup() -> None:
            reader.resolve_anew()
            if known is not None:
                known.read_again(app.faults)

        keeper = Keeper(stock, app.changed, hangups=hangups, is_watching=watches, on_hangup=on_hangup)
        app.background = keeper.run
        keeper.tell("serving")
        for said, help in web.warnings():
            log.warning(said, help=help)
        _settle_memory()
        application = http.application(app, web.doors((lambda: known.tokens) if known is not None else None))
        try:
            anyio.run(http.serve, app, application, listener, web.url(listener.getsockname()[1]))
            code = DONE
        except KeyboardInterrupt as left:
            code = int(left.args[0]) if left.args else LEFT
        sys.stderr.flush()
        os._exit(code)  # a thread may wait for a file that hangs


class _Tokens:
    """The tokens of a file; those that were read last where it cannot be read again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self.tokens = tokens.read_tokens(path)
        except tokens.BadTokens as bad:
            raise Stop(bad.faults, help=[f"  kbp serve --token-file {path} --new-token NAME makes one"]) from None

    def read_again(self, faults: dict[str, str]) -> None:
        """Read the file again, and note among the faults of a server when it cannot be."""
        try:
            self.tokens = tokens.read_tokens(self._path)
            faults.pop("tokens", None)
            log.info("tokens read", names=len(self.tokens.hashes))
        except tokens.BadTokens as bad:
            faults["tokens"] = "the token file cannot be read: the tokens before still hold"
            for fault in bad.faults:
                log.error("the tokens before still hold", why=fault)


def _metrics(stock: "Stock") -> "Metrics | None":
    from kbp.server.metrics import Metrics

    try:
        return Metrics(stock)
    except ImportError:
        return None


def _settle_memory() -> None:
    """See that what was read for good is not looked at by the garbage collector, and that the rest is."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(2_000, 10, 10)
    gc.enable()
