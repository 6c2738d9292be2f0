"""`kbp serve`: prompt files as an MCP server."""

import functools
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbp.commands.bundles import spelt
from kbp.commands.console import DONE, Console, Stop, write_whole
from kbp.commands.options import STDIN, Reading, bad_choice
from kbp.commands.serving import CLIENTS, Reader, Web, absolute, client_configuration
from kbp.display import said_of
from kbp.server import log, tokens

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
    ?library= &categories= &tags= in the URL choose what a client sees, and &prompts=off gives it two tools in place of
    prompts. GET /health says what is served, and what is not and why. SIGHUP reads all anew.
    """
    faults = [*reading.faults(), *web.faults(), *bad_choice("--log-format", log_format, log.FORMATS)]
    faults += bad_choice("--print-config", print_config, CLIENTS) if print_config is not None else []
    if new_token is not None and not tokens.is_token_name(new_token):
        faults.append(f"--new-token {new_token!r}: a name is {tokens.NAME_RULE}")
    if STDIN in (paths or []):
        faults.append("a server reads files again and again: `-` cannot be served")
    if library_config is not None and (paths or reading.library is not None):
        faults.append("--library-config says where prompts are and which library they are of: give no PATHS, --library")
    if faults:
        raise Stop(faults)
    if new_token is not None:
        return _make_token(new_token, web.token_file, console)
    paths = [absolute(path) for path in paths or ()]
    config = Path(absolute(library_config)) if library_config is not None else None
    if print_config is not None:
        arguments = _arguments(reading, paths, config, console, skills=skills, watch=watch)
        console.print(client_configuration(print_config, reading.library or "kbp", web, arguments))
        return DONE
    log.set_up(log_format, verbose=console.verbose, quiet=console.quiet)
    gc.disable()  # until all is read
    reader = Reader(reading, paths, config, skills, console)
    if web.http is not None:
        return _serve_http(reader, web, watches=watch is not False)
    return _serve_stdio(reader, console, watches=bool(watch))


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
        before = path.read_bytes() if path.exists() else b""
        if before.strip():
            tokens.read_tokens(path)
        end = b"" if not before or before.endswith(b"\n") else b"\n"
        write_whole(path, before + end + f"{line}\n".encode())
        if not before:
            path.chmod(0o600)
    except tokens.BadTokens as bad:
        raise Stop(bad.faults) from None
    except OSError as error:
        raise Stop(f"--token-file {path}: {said_of(error)}") from None
    console.print(f"{token}\n")
    console.hint(f"{path} lets it in; a server that runs already reads it on SIGHUP")
    return DONE


def _arguments(
    reading: Reading, paths: list[str], config: Path | None, console: Console, *, skills: bool, watch: bool | None
) -> list[str]:
    """The command line that serves the same on stdin and stdout, from wherever it is started."""
    settings = [] if console.use_config else ["--no-config"]
    settings += ["--config", absolute(console.config)] if console.config is not None else []
    place = [] if paths or config is not None else ["-C", str(Path.cwd())]
    options = spelt(reading)
    if reading.root is not None:
        options[options.index("--root") + 1] = absolute(reading.root)
    options += ["--library-config", str(config)] if config is not None else []
    options += ["--skills"] if skills else []
    options += ["--watch"] if watch else []
    return [*settings, *place, "serve", *options, *(["--", *paths] if any(p.startswith("-") for p in paths) else paths)]


def _serve_stdio(reader: Reader, console: Console, *, watches: bool) -> int:
    from kbp.server import stdio
    from kbp.server.app import App
    from kbp.server.stock import Stock
    from kbp.server.watch import follow, tell_stock

    stock = Stock(reader.read, reader.watched())
    app = App(stock, functools.partial(follow, is_watching=watches), is_logged=False)
    if sys.stdin is not None and sys.stdin.isatty():
        console.hint(
            "hint: this speaks MCP on stdin and stdout, which a client starts: `kbp serve --print-config claude` prints"
            " what it wants\n      for many clients: kbp serve --http 127.0.0.1:8000"
        )
    tell_stock(app, "serving")
    _settle_memory()
    stdio.run(app)
    return DONE


def _serve_http(reader: Reader, web: Web, *, watches: bool) -> int:
    import anyio

    from kbp.server import http
    from kbp.server.app import App
    from kbp.server.stock import Stock
    from kbp.server.watch import follow, tell_stock

    doors = _Tokens(web.token_file) if web.token_file is not None else None
    with web.listener() as listener:
        stock = Stock(reader.read, reader.watched())
        on_hangup = doors.read_again if doors else lambda: None
        background = functools.partial(follow, is_watching=watches, on_hangup=on_hangup)
        app = App(stock, background, _metrics(stock))
        tell_stock(app, "serving")
        if web.is_open():
            log.warning("open to other machines without tokens", address=web.http, help="--token-file")
        log.info("listening", url=web.url(listener.getsockname()[1]))
        _settle_memory()
        application = http.application(app, web.doors((lambda: doors.tokens) if doors else None))
        anyio.run(http.serve, app, application, listener)
    return DONE


class _Tokens:
    """The tokens of a file; those that were read last where it cannot be read again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self.tokens = tokens.read_tokens(path)
        except tokens.BadTokens as bad:
            raise Stop(bad.faults) from None

    def read_again(self) -> None:
        """Read the file again."""
        try:
            self.tokens = tokens.read_tokens(self._path)
            log.info("tokens read", names=len(self.tokens.hashes))
        except tokens.BadTokens as bad:
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
