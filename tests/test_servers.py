"""The servers that files name: where they are looked for, what variables mean, and who may start what."""

import json
import shlex
import stat
import time
from pathlib import Path

import pytest
from conftest import Kbp, Tree
from live_servers import stdio_command

from kbp import memory
from kbp.configuration import Configuration
from kbp.live.server import Input, Server, without_secrets
from kbp.live.servers import Unset, catalogue, loads, resolved

JSONC = [
    ('{"a": 1}', {"a": 1}),
    ('{"a": 1, // b\n "c": [1, 2,], /* d, } */}', {"a": 1, "c": [1, 2]}),
    ('{"a": "// no /* comment */ ,}", "b": "\\"//",}', {"a": "// no /* comment */ ,}", "b": '"//'}),
    ("// first\n[1,\n]\n// last", [1]),
]


@pytest.mark.parametrize(("text", "content"), JSONC)
def test_json_may_have_comments_and_last_commas(text: str, content: object) -> None:
    assert loads(text) == content


def test_json_that_closes_no_string_takes_no_time() -> None:
    started = time.monotonic()
    for text in ('"\\' * 100_000, '{"a": "' + '\\"' * 100_000, "/*" * 100_000):
        with pytest.raises(ValueError, match=r".+"):
            loads(text)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("text", ["", "{", '{"a" 1}', "[1,,2]", "/*", '"' + "/" * 3])
def test_what_is_no_json_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        loads(text)


FILES = [
    # path, text, the server that it names
    (
        "kbp.toml",
        '[servers.x]\nurl = "http://h/mcp"\nheaders = { A = "b" }\n',
        Server("x", url="http://h/mcp", headers={"A": "b"}),
    ),
    (
        ".mcp.json",
        '{"mcpServers": {"x": {"command": "c", "args": ["a", 1], "env": {"K": "v"}}}}',
        Server("x", ("c", "a", "1"), {"K": "v"}),
    ),
    (
        ".mcp.json",
        '{"mcpServers": {"x": {"type": "sse", "url": "http://h/sse"}}}',
        Server("x", url="http://h/sse", is_sse=True),
    ),
    (
        ".vscode/mcp.json",
        '{"servers": {"x": {"type": "http", "url": "http://h/m",},},} // c',
        Server("x", url="http://h/m"),
    ),
    (
        ".vscode/mcp.json",
        '{"servers": {"x": {"type": "stdio", "command": "c", "cwd": "d"}}}',
        Server("x", ("c",), cwd="d"),
    ),
    ("mcp.json", '{"servers": {"x": {"command": "c"}}}', Server("x", ("c",))),
]


@pytest.mark.parametrize(("path", "text", "expected"), FILES, ids=[f"{at} {each[0]}" for at, each in enumerate(FILES)])
def test_a_file_of_a_project_names_a_server(path: str, text: str, expected: Server, tree: Tree, kbp: Kbp) -> None:
    top = tree({path: text, ".git/HEAD": ""})
    shown = json.loads(kbp("server", "list", "-f", "json", cwd=top).out)["servers"]
    assert len(shown) == 1
    assert shown[0]["file"] == str(top / path)
    assert shown[0].get("url") == expected.url
    assert tuple(shown[0].get("command", ())) == expected.command
    assert shown[0]["type"] == ("stdio" if expected.command else "sse" if expected.is_sse else "http")
    assert shown[0].get("headers", []) == list(expected.headers)
    assert shown[0].get("env", []) == list(expected.env)


USER_FILES = [
    ("config/kbp/config.toml", '[servers.x]\ncommand = "c"\n'),
    (".claude.json", '{"mcpServers": {"x": {"command": "c"}}}'),
    ("config/Code/User/mcp.json", '{"servers": {"x": {"command": "c"}}}'),
    ("config/Claude/claude_desktop_config.json", '{"mcpServers": {"x": {"command": "c"}}}'),
]


@pytest.mark.parametrize(("path", "text"), USER_FILES, ids=[each[0] for each in USER_FILES])
def test_a_file_of_the_user_names_a_server(path: str, text: str, tree: Tree, home: Path, kbp: Kbp) -> None:
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    (home / path).write_text(text)
    out = kbp("server", "list", cwd=tree({"a": ""})).out
    assert out.startswith("NAME\tTYPE\tSTARTS OR REACHES\tFILE\nx\tstdio\tc\t")
    assert out.endswith(f"{path}\n")


def test_claude_code_knows_servers_of_one_project(tree: Tree, home: Path, kbp: Kbp) -> None:
    top = tree({"p/.git/HEAD": "", "q/.git/HEAD": ""})
    content = {
        "projects": {str(top / "p"): {"mcpServers": {"own": {"command": "c"}}}},
        "mcpServers": {"all": {"command": "c"}},
    }
    (home / ".claude.json").write_text(json.dumps(content))
    listed = [kbp("server", "list", cwd=top / folder).out for folder in ("p", "q")]
    assert [text.count("\n") for text in listed] == [3, 2]
    assert listed[0].split("\n")[1].startswith("own\t")


def test_a_name_counts_where_it_stands_first(tree: Tree, home: Path, kbp: Kbp) -> None:
    (home / ".claude.json").write_text('{"mcpServers": {"x": {"command": "user"}, "y": {"command": "user"}}}')
    top = tree(
        {
            "kbp.toml": '[servers.x]\ncommand = "settings"\n',
            ".mcp.json": '{"mcpServers": {"x": {"command": "mcp"}, "z": {"command": "mcp"}}}',
            ".vscode/mcp.json": '{"servers": {"z": {"command": "code"}}}',
        }
    )
    found = {server.name: server.command for server in catalogue(_settings(top), top).servers}
    assert found == {"x": ("settings",), "z": ("mcp",), "y": ("user",)}
    assert kbp("server", "list", "--no-config", cwd=top).out.count("settings") == 0


def _settings(top: Path) -> Configuration:
    from kbp.configuration import load

    return load(top / "kbp.toml")


BROKEN = [
    "",
    "[]",
    "{",
    '{"mcpServers": 3}',
    '{"mcpServers": {"x": 3}}',
    '{"mcpServers": {"x": {}}}',
    '{"servers": {"x": {"url": 3}}}',
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_of_another_program_names_no_server(text: str, tree: Tree, kbp: Kbp) -> None:
    top = tree({".mcp.json": text, "mcp.json": '{"servers": {"good": {"command": "c"}}}', ".git/HEAD": ""})
    result = kbp("server", "list", cwd=top)
    assert (result.code, result.out.count("\n")) == (0, 2)
    assert ("warning: " in result.err) == (text not in ("[]", '{"mcpServers": 3}'))


WRONG_SETTINGS = [
    ("[servers.x]\n", "kbp.toml: `servers.x`: it has a `url`, or a `command`: one of them"),
    ('[servers.x]\nurl = "u"\ncommand = "c"\n', "`servers.x`: it has a `url`, or a `command`: one of them"),
    ('[servers.x]\ncommand = "c"\nargs = "a"\n', "`servers.x`: `args` is not a list of texts"),
    ('[servers.x]\ncommand = "c"\nenvv = {}\n', "`servers.x`: there is no `envv`; did you mean `env`?"),
    ('servers = "x"\n', "`servers` is not a table of servers, each with a `url`"),
    ("[servers]\nx = 3\n", "`servers.x`: it is no table"),
]


@pytest.mark.parametrize(("text", "said"), WRONG_SETTINGS)
def test_settings_of_a_server_are_checked(text: str, said: str, tree: Tree, kbp: Kbp) -> None:
    result = kbp("server", "list", cwd=tree({"kbp.toml": text}))
    assert result.code == 2
    assert said in result.err


def test_the_settings_of_a_user_are_personal_ones_alone(home: Path, tree: Tree, kbp: Kbp) -> None:
    own = home / "config/kbp/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('paths = ["a"]\n')
    result = kbp("server", "list", cwd=tree({"a": ""}))
    assert result.code == 2
    assert "`paths` belongs to a project: write it in its kbp.toml" in result.err


# Variables

VARIABLES = [
    ("${KEY}", "value"),
    ("${env:KEY}", "value"),
    ("a${KEY}b${KEY}", "avaluebvalue"),
    ("${KEY:-other}", "value"),
    ("${NONE:-other}", "other"),
    ("${NONE:-}", ""),
    ("${EMPTY:-other}", ""),
    ("${workspaceFolder}/x", "/p/x"),
    ("$KEY ${} ${a b} $${x", "$KEY ${} ${a b} $${x"),
    ("${KEY:-${NONE}}", "value}"),
]


@pytest.mark.parametrize(("text", "expected"), VARIABLES)
def test_a_variable_is_replaced_everywhere(text: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "value")
    monkeypatch.setenv("EMPTY", "")
    program = resolved(Server("s", ("c", text), {"E": text}, folder=Path("/p")))
    assert (program.command[1], program.env["E"]) == (expected, expected)
    address = resolved(Server("s", url=f"http://{text}", headers={"H": text}, folder=Path("/p")))
    assert (address.url, address.headers["H"]) == (f"http://{expected}", expected)


def test_all_variables_without_a_value_are_named() -> None:
    server = Server(
        "s", ("${KBP_NO}", "${input:i}"), {"E": "${env:KBP_NEVER}"}, origin=Path("/f"), inputs=(Input("i", "I"),)
    )
    with pytest.raises(Unset) as raised:
        resolved(server)
    assert raised.value.faults == (
        "server 's' (/f): the variable KBP_NO is not set",
        "server 's' (/f): the input 'i' is asked for on a terminal; else set KBP_INPUT_I",
        "server 's' (/f): the variable KBP_NEVER is not set",
    )


def test_a_header_that_cannot_be_sent_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOK", " s3cret\n")
    assert resolved(Server("s", url="http://h", headers={"A": "Bearer ${TOK}"})).headers == {"A": "Bearer  s3cret"}
    monkeypatch.setenv("TOK", "s3cr\u00e9t\n x")
    with pytest.raises(Unset, match="its header A has characters that no header can have") as raised:
        resolved(Server("s", url="http://h", headers={"A": "Bearer ${TOK}"}))
    assert "s3cr" not in str(raised.value)


def test_a_program_of_a_project_is_the_same_wherever_it_is_started(tree: Tree, kbp: Kbp) -> None:
    top = tree(
        {".mcp.json": '{"mcpServers": {"x": {"command": "./srv"}}}', ".git/HEAD": "", "sub/a": "", "sub/srv": "x"}
    )
    result = kbp("list", "--server", "x", "--yes", cwd=top / "sub")
    assert "./srv cannot be started: no such file or directory" in result.err


SHOWN = [
    ("http://user:s3cret@h/x", "http://h/x"),
    ("http:user:s3cret@h/x", "http:h/x"),
    ("ftp://user:s3cret@h", "ftp://h"),
    ("https://h/@scope/mcp?key=s3cret", "https://h/@scope/mcp?…"),
    ("https://h/mcp", "https://h/mcp"),
]


@pytest.mark.parametrize(("url", "expected"), SHOWN)
def test_an_address_is_shown_without_secrets(url: str, expected: str) -> None:
    assert without_secrets(url) == expected


def test_an_input_is_asked_for_once() -> None:
    asked: list[Input] = []

    def ask(wanted: Input) -> str:
        asked.append(wanted)
        return "secret"

    server = Server("s", ("c", "${input:i}"), {"E": "${input:i}"}, inputs=(Input("i", "I", is_secret=True),))
    made = resolved(server, ask)
    assert (made.command, made.env, len(asked)) == (("c", "secret"), {"E": "secret"}, 1)


# Consent


def _project(tree: Tree, log: Path, **more: object) -> Path:
    command, *arguments = stdio_command(log)
    content = {"mcpServers": {"hard": {"command": command, "args": arguments, **more}}}
    return tree({".mcp.json": json.dumps(content), ".git/HEAD": ""})


def test_what_a_project_starts_is_agreed_to_first(tree: Tree, tmp_path: Path, kbp: Kbp) -> None:
    log = tmp_path / "log"
    top = _project(tree, log)
    result = kbp("list", "--server", "hard", cwd=top)
    assert result.code == 2
    assert "server 'hard' starts a program, and nobody has agreed to that yet" in result.err
    assert str(log) in result.err, "what would be started is shown"
    assert "give --yes" in result.err
    assert not log.exists(), "it was started"
    assert kbp("list", "--server", "hard", "--yes", cwd=top).code == 0
    assert log.exists()
    assert kbp("list", "--server", "hard", cwd=top).code == 2, "--yes is for one run"


def test_an_agreement_holds_until_the_content_changes(tree: Tree, tmp_path: Path, kbp: Kbp) -> None:
    top = _project(tree, tmp_path / "log")
    server = catalogue(Configuration(), top).find("hard")
    assert server is not None
    memory.remember("consent", server.consent_key, True)
    assert kbp("list", "--server", "hard", cwd=top).code == 0
    _project(tree, tmp_path / "log", env={"NEW": "1"})
    assert kbp("list", "--server", "hard", cwd=top).code == 2


def test_a_url_of_a_project_needs_an_agreement_only_when_it_learns_of_variables(tree: Tree) -> None:
    told = '{"url": "http://h", "headers": {"A": "${KEY}"}}'
    top = tree({".mcp.json": f'{{"mcpServers": {{"a": {{"url": "http://h"}}, "b": {told}}}}}'})
    found = catalogue(Configuration(), top)
    assert [server.needs_consent for server in found.servers] == [False, True]


def test_what_the_user_configures_needs_none(home: Path, tree: Tree, tmp_path: Path, kbp: Kbp) -> None:
    command, *arguments = stdio_command(tmp_path / "log")
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"hard": {"command": command, "args": arguments}}}))
    assert kbp("render", "hard:plain", cwd=tree({"a": ""})).out == "Say hello.\n"


def test_what_is_remembered_is_for_the_user_alone(home: Path) -> None:
    assert memory.remember("kind", "key", {"a": 1})
    path = home / "state/kbp/kind/key.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert memory.recall("kind", "key") == {"a": 1}
    path.write_text("{")
    assert memory.recall("kind", "key") is None
    memory.forget("kind", "key")
    memory.forget("kind", "key")
    assert not path.exists()


def test_a_folder_that_cannot_be_written_is_no_fault(home: Path, tmp_path: Path, kbp: Kbp) -> None:
    (home / "state").write_text("in the way")
    assert not memory.remember("kind", "key", 1)
    assert kbp("list", "--server-cmd", shlex.join(stdio_command(tmp_path / "log"))).code == 0


def test_what_is_agreed_to_is_shown_whole(tree: Tree, tmp_path: Path, kbp: Kbp) -> None:
    top = _project(tree, tmp_path / "log", env={"TOKEN": "s3cret", "KEY": "${KBP_KEY}"}, cwd="sub")
    said = kbp("list", "--server", "hard", cwd=top).err
    assert "  in the folder sub\n  with TOKEN, KEY=${KBP_KEY}\n  told of ${KBP_KEY}\n" in said
    assert "s3cret" not in said
    assert "changed" not in said
    server = catalogue(Configuration(), top).find("hard")
    assert server is not None
    memory.remember("consent", memory.key_of(str(server.origin), "hard"), True)
    assert "it has changed since you agreed" in kbp("list", "--server", "hard", cwd=top).err


def test_an_input_is_given_by_a_variable_in_a_script(
    tree: Tree, tmp_path: Path, kbp: Kbp, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, *arguments = stdio_command(tmp_path / "log")
    content = {
        "inputs": [{"id": "how-many", "type": "promptString", "password": True}],
        "servers": {"h": {"command": command, "args": arguments, "env": {"HARD_MANY": "${input:how-many}"}}},
    }
    top = tree({".vscode/mcp.json": json.dumps(content), ".git/HEAD": ""})
    assert "else set KBP_INPUT_HOW_MANY" in kbp("list", "--server", "h", "--yes", cwd=top).err
    monkeypatch.setenv("KBP_INPUT_HOW_MANY", "3")
    assert len(kbp("list", "--server", "h", "--yes", "-f", "names", cwd=top).out.splitlines()) == 28


MALFORMED = [
    ({"args": ["a"]}, "it has no command"),
    ({"command": "c", "args": "a b"}, "its args is no list"),
    ({"command": "c", "args": [{}]}, "its args are not all texts"),
    ({"command": "c", "env": {"X": None}}, "X of its env is no text"),
    ({"command": "c", "env": {"A=B": "x"}}, "'A=B' of its env is none that can be set"),
    ({"command": "c", "env": {"X": "a\0b"}}, "'X' of its env is none that can be set"),
    ({"command": "c", "cwd": 3}, "its cwd is no text"),
    ({"type": "ws", "url": "ws://h"}, "its type 'ws' is none that kbp speaks: stdio, http, sse"),
    ({"type": "http", "command": "c"}, "it has no url"),
    ({"type": "stdio", "url": "http://h"}, "it has no command"),
    ({"url": "http://h", "headers": ["A"]}, "its headers is no table"),
    (3, "it is no table"),
]


@pytest.mark.parametrize(("entry", "said"), MALFORMED)
def test_an_entry_that_cannot_be_used_is_told(entry: object, said: str, tree: Tree, kbp: Kbp) -> None:
    content = {"mcpServers": {"bad": entry, "good": {"command": "c"}}}
    top = tree({".mcp.json": json.dumps(content), ".git/HEAD": ""})
    result = kbp("server", "list", cwd=top)
    assert f"server 'bad': {said}\n" in result.err
    assert result.out.count("\n") == 2
    unknown = kbp("list", "--server", "bad", cwd=top)
    assert unknown.code == 2
    assert f"server 'bad': {said}\n" in unknown.err


def test_a_server_that_is_shadowed_is_told(tree: Tree, kbp: Kbp) -> None:
    files = {".mcp.json": '{"mcpServers": {"x": {"command": "a"}}}', "mcp.json": '{"servers": {"x": {"command": "b"}}}'}
    result = kbp("server", "list", cwd=tree({**files, ".git/HEAD": ""}))
    assert result.err == "x of mcp.json is shadowed by .mcp.json\n"


def test_a_misspelt_server_of_a_prompt_is_called_a_server(tree: Tree, kbp: Kbp) -> None:
    top = tree({".mcp.json": '{"mcpServers": {"docs": {"command": "c"}}}', ".git/HEAD": "", "prompts/greet.md": "x"})
    for name in ("dosc:greet", "doc:greet"):
        assert "did you mean 'docs'?" in kbp("render", name, cwd=top).err
    assert "no server is called 'other'" in kbp("render", "other:greet", "--yes", cwd=top).err
    assert "which prompt of server 'docs'?" in kbp("show", "docs:", cwd=top).err
    assert "no prompt is called 'plugin:greet'" in kbp("show", "plugin:greet", cwd=top).err


# Naming one


def test_an_unknown_name_shows_the_known_ones(tree: Tree, kbp: Kbp) -> None:
    top = tree({".mcp.json": '{"mcpServers": {"docs": {"command": "c"}}}', "mcp.json": "{", ".git/HEAD": ""})
    result = kbp("list", "--server", "dosc", cwd=top)
    assert result.code == 2
    assert result.out == ""
    for said in ("no server is called 'dosc'", "did you mean 'docs'?", "docs   .mcp.json", "mcp.json: not JSON"):
        assert said in result.err


def test_server_and_prompt_in_one_name(tree: Tree, tmp_path: Path, kbp: Kbp) -> None:
    top = _project(tree, tmp_path / "log")
    assert kbp("render", "hard:greet", "-a", "name=Ada", "--yes", cwd=top).code == 0
    assert kbp("render", "hard:greet", "-a", "name=Ada", cwd=top).code == 2
    server = catalogue(Configuration(), top).find("hard")
    assert server is not None
    memory.remember("consent", server.consent_key, True)
    assert kbp("render", "hard:greet", "-a", "name=Ada", cwd=top).out == "Greet Ada in a warm tone.\n"
    assert kbp("render", "hard:slash/name", cwd=top).out == "I am slash/name\n"
    assert kbp("show", "hard:bare", cwd=top).out == "bare\nserver    Hard Server (2026-07-28)\n"
    assert "no prompt" in kbp("render", "other:greet", cwd=top).err


def test_a_list_is_kept_for_one_authorization() -> None:
    from dataclasses import replace

    from kbp.live.lists import key_of

    server = Server("s", url="http://h", headers={"A": "${TOK}"})
    keys = {key_of(replace(server, headers={"A": who}), {}, "auto") for who in ("alice", "bob")}
    assert len(keys) == 2


WRONG = [
    (("list", "--server", "http://[::1/mcp"), "--server: this is no address"),
    (("list", "--server", "http://h", "--timeout", "inf"), "--timeout inf: it is a number of seconds above 0"),
    (("list", "--server", "http://h", "--timeout", "1e10"), "--timeout 1e+10: it is a number of seconds above 0"),
    (("list", "--server", "http://h", "--header", "A: "), "--header A: its value is empty"),
    (("list", "--server", "a", "--server-cmd", "b"), "--server and --server-cmd: give one of them"),
    (("list", "--server-cmd", ""), "--server-cmd: it is empty"),
    (("list", "--server-cmd", "a 'b"), "--server-cmd: no closing quotation"),
    (("list", "--server-cmd", "c", "--header", "A: b"), "--header and --sse are for a URL"),
    (("list", "--server", "http://h", "--header", "A b"), "write it as --header 'NAME: VALUE'"),
    (("list", "--server", "http://h", "--header", "A: secr\u00e9t"), "--header A: its value has characters"),
    (("list", "--server", "http://h", "--header", "A: env:KBP_NO"), "--header A: the variable KBP_NO is not set"),
    (("list", "--server", "http://h", "--header", "A: @/no/file"), "--header A: the file cannot be read"),
    (("list", "--server", "http://h", "--timeout", "0"), "--timeout 0: it is a number of seconds above 0"),
    (("list", "--server", "http://h", "--timeout", "nan"), "--timeout nan: it is a number of seconds above 0"),
    (("list", "--server", "http://h", "--revision", "2025"), "--revision: there is no '2025'"),
    (("list", "--timeout", "3", "--yes"), "--yes goes with --server or --server-cmd"),
    (("list", "--page", "x"), "--page goes with --server or --server-cmd"),
    (("list", "--server", "http://h", "--page", "x", "--pages", "2"), "--pages and --page: give one of them"),
    (("list", "--server", "http://h", "-p", "x"), "-p is for prompt files: leave it out with a server"),
    (("list", "--server", "http://h", "--skipped"), "--skipped is for prompt files"),
    (("render", "x", "--answer", "a=b"), "--answer goes with --server or --server-cmd"),
    (("render", "x", "--server", "http://h", "--answer", "ab"), "--answer ab: write it as --answer NAME=VALUE"),
    (("render", "x", "--server", "http://h", "--answers", "/no/file"), "--answers /no/file: no such file"),
    (("render", "x", "--server", "http://h", "--result", "-f", "json"), "--result and --format: give one of them"),
    (("render", "x", "--server", "http://h", "--explain"), "--explain tells of the placeholders of a file"),
    (("show", "x", "--server", "http://h", "-f", "path"), "a prompt of a server has no file"),
    (("render", "x", "--server", "http://h", "--result", "--save-media", "m"), "--result and --save-media: give one"),
    (("render", "x", "--server", "http://h", "--answer", "a=1", "--answer", "a=2"), "a is given twice by --answer"),
    (("list", "--server-cmd", "a | b"), "no shell reads it, and '|' is one's: write sh -c"),
    (("list", "--server-cmd", "A=b c"), "there is no program 'A=b': write env A=b in front of the command"),
    (("list", "--server", "127.0.0.1:80/mcp"), "an address starts with http:// or https://"),
    (("list", "--server", "http://h", "--header", "A: Bearer ${KBP_NO}"), "the variable KBP_NO is not set"),
    (("server", "info"), "which server?"),
    (("server", "lst"), "kbp server: there is no 'lst'; did you mean 'list'?"),
    (("list", "--server-cmd", "/no/such/program"), "/no/such/program cannot be started: no such file or directory"),
    (("list", "--server-cmd", "no-such-program"), "there is no program 'no-such-program'"),
    (("list", "--server", "http://127.0.0.1:1/mcp"), "there is no way to the server at http://127.0.0.1:1/mcp"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=[" ".join(each[0]) for each in WRONG])
def test_a_wrong_request_names_what_is_wrong(arguments: tuple[str, ...], said: str, kbp: Kbp, tmp_path: Path) -> None:
    result = kbp(*arguments, cwd=tmp_path)
    is_of_server = said.startswith(("there is no", "/no/such"))
    assert result.code == (3 if is_of_server else 2)
    assert said in result.err
    assert "secret" not in result.err
    assert result.out == ""


def test_a_header_comes_from_a_file_or_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kbp.commands.live import Live

    (tmp_path / "token").write_text("Bearer x\n")
    monkeypatch.setenv("KBP_TOKEN", "y")
    headers = [f"Authorization: @{tmp_path / 'token'}", "X-A: env:KBP_TOKEN", "X-B:c", "X-C: a ${KBP_TOKEN}"]
    live = Live(server="http://h", header=headers)
    assert live.faults() == []
    assert live.headers == {"Authorization": "Bearer x", "X-A": "y", "X-B": "c", "X-C": "a y"}
