"""`kbp diff` with a live server: one prompt against a file, and all that files say against all that a server serves."""

import json
import shlex
from pathlib import Path

import pytest
from conftest import Kbp, Tree
from live_servers import stdio_command

GREET = """---
description: Greet somebody
arguments:
- name: name
  description: Whom
  required: true
- name: tone
  description: warm, dry or loud
  default: warm
---
Greet {{ name }} in a {{ tone }} tone."""
PLAIN = "---\ndescription: One line of text, no arguments\n---\nSay hello."


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    return ["--server-cmd", shlex.join(stdio_command(tmp_path / "log", PROMPTS="basic"))]


def test_a_server_that_serves_what_files_say(options: list[str], tree: Tree, kbp: Kbp) -> None:
    top = tree({"prompts/greet.md": GREET, "prompts/plain.md": PLAIN})
    result = kbp("diff", *options, "prompts", cwd=top)
    assert result.out == "".join(f"extra    {name:4}  on the server alone\n" for name in ("echo", "need", "bare"))
    assert (result.code, result.err) == (1, "2 prompts compared with the server, 3 differ\n")


def test_a_line_for_each_prompt_that_differs(options: list[str], tree: Tree, kbp: Kbp) -> None:
    changed = GREET.replace("required: true", "required: false").replace("a {{ tone }} tone.", "one {{ tone }} tone.")
    top = tree({"prompts/greet.md": changed, "prompts/plain.md": PLAIN, "prompts/own.md": PLAIN})
    out = kbp("diff", *options, cwd=top).out
    assert out.startswith(
        "changed  greet  prompts/greet.md: argument name: optional -> required; "
        "message with a value for each argument: "
        "Greet <name> in one <tone> tone. -> Greet <name> in a <tone> tone.; "
        "message with the required values alone: Greet <name> in one warm tone. -> Greet <name> in a warm tone.\n"
        "missing  own    prompts/own.md: not on the server\n"
    )
    content = json.loads(kbp("diff", *options, "-f", "json", cwd=top).out)["prompts"]
    states = {each["name"]: each["state"] for each in content}
    assert states == {"greet": "changed", "own": "missing", "echo": "extra", "need": "extra", "bare": "extra"}
    first = next(each for each in content if each["name"] == "greet")["differences"][0]
    assert first == {"what": "argument name", "first": "optional", "second": "required"}


def test_nothing_differs(tmp_path: Path, tree: Tree, kbp: Kbp) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER)
    top = tree({"prompts/plain.md": PLAIN})
    result = kbp("diff", "--server-cmd", shlex.join(["python3", str(server)]), "prompts/", cwd=top)
    assert (result.code, result.out, result.err) == (0, "", "1 prompt compared with the server, none differs\n")


SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"prompts": {}},
        "prompts": [{"name": "plain", "description": "One line of text, no arguments"}],
        "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}],
    }
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_a_file_and_a_prompt_of_a_server(tree: Tree, home: Path, tmp_path: Path, kbp: Kbp) -> None:
    command, *arguments = stdio_command(tmp_path / "log")
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"h": {"command": command, "args": arguments}}}))
    top = tree({"prompts/greet.md": GREET, "prompts/plain.md": PLAIN})
    same = kbp("diff", "prompts/greet.md", "h:greet", cwd=top)
    assert (same.code, same.out, same.err) == (0, "", "no difference between prompts/greet.md and h:greet\n")
    apart = kbp("diff", "h:few_shot", "prompts/plain.md", cwd=top)
    assert apart.code == 1
    assert "description: Three turns, two roles -> One line of text, no arguments\n" in apart.out
    assert "  -[assistant]\n" in apart.out
    assert kbp("diff", "h:plain", "h:plain", cwd=top).code == 0
    assert kbp("diff", "h:nothing", "h:plain", cwd=top).code == 2


def test_the_end_of_the_last_line_is_no_difference(options: list[str], tree: Tree, kbp: Kbp) -> None:
    top = tree({"prompts/plain.md": PLAIN + "\n"})
    assert kbp("diff", *options, "prompts/plain.md", cwd=top).code == 0, "single files are not all that there is"


def test_a_server_is_named_and_told_how_in_one_line(tree: Tree, tmp_path: Path, kbp: Kbp) -> None:
    command, *arguments = stdio_command(tmp_path / "log")
    project = {".mcp.json": json.dumps({"mcpServers": {"h": {"command": command, "args": arguments}}}), ".git/HEAD": ""}
    top = tree({**project, "prompts/plain.md": PLAIN})
    assert kbp("diff", "prompts/plain.md", "h:plain", "--yes", "--timeout", "20", cwd=top).code == 0
    assert "goes with --server" in kbp("diff", "prompts/plain.md", "prompts/plain.md", "--yes", cwd=top).err


def test_a_failing_server_is_no_difference(tree: Tree, tmp_path: Path, kbp: Kbp) -> None:
    top = tree({"prompts/plain.md": PLAIN})
    dead = ["--server-cmd", shlex.join(stdio_command(tmp_path / "log", CRASH="prompts/get"))]
    result = kbp("diff", *dead, cwd=top)
    assert (result.code, result.out) == (3, "")
    refusing = ["--server-cmd", shlex.join(stdio_command(tmp_path / "log", ERROR="-5:no", PROMPTS="basic"))]
    refused = kbp("diff", *refusing, cwd=top)
    assert refused.code == 1
    assert "changed  plain  prompts/plain.md: message: the server refuses: no (-5)\n" in refused.out


def test_two_prompts_are_compared_where_no_server_is_named(tree: Tree, kbp: Kbp) -> None:
    top = tree({"prompts/plain.md": PLAIN})
    assert "two prompts are compared, and none is named: kbp diff A B" in kbp("diff", cwd=top).err
    assert "two prompts are compared, and 1 is named" in kbp("diff", "plain", cwd=top).err
    assert "two prompts are compared, and 3 are named" in kbp("diff", "plain", "plain", "plain", cwd=top).err
