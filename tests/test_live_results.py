"""What a server sends comes out: field by field (the register PRM-01 to PRM-07), and whole results to the byte."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Kbp
from hypothesis import given, settings
from hypothesis import strategies as st
from live_servers import BLOCKS, http_server, stdio_command

from kbp.live.base import parse
from kbp.live.source import messages_of, prompt_of
from kbp.output.jsontext import laid_out

# leaves fields in that the spoken revision does not have: they must come out all the same
REVISIONS = ("2024-11-05", "2025-06-18", "2026-07-28")


@pytest.fixture(params=REVISIONS)
def options(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    command = stdio_command(tmp_path / "log", LEAK=1)
    return ["--server-cmd", shlex.join(command), "--revision", request.param]


def wire(kbp: Kbp, name: str, options: list[str]) -> Any:
    return json.loads(kbp("show", name, "-f", "json", *options).out)


def called(kbp: Kbp, name: str, options: list[str]) -> list[Any]:
    content = json.loads(kbp("render", name, "-f", "json", *options).out)
    return [(message["role"], message["content"]) for message in content["messages"]]


def test_prm_01_the_title_of_a_prompt(kbp: Kbp, options: list[str]) -> None:
    assert wire(kbp, "titled", options)["title"] == "A Titled Prompt"
    assert "title     A Titled Prompt\n" in kbp("show", "titled", *options).out


def test_prm_02_the_title_of_an_argument(kbp: Kbp, options: list[str]) -> None:
    assert wire(kbp, "titled", options)["arguments"][0]["title"] == "Environment"
    assert "Where (Environment)\n" in kbp("show", "titled", *options).out


def test_prm_03_the_icons_of_a_prompt(kbp: Kbp, options: list[str]) -> None:
    (icon,) = wire(kbp, "titled", options)["icons"]
    assert (icon["mimeType"], icon["sizes"], icon["theme"]) == ("image/png", ["1x1"], "dark")
    assert icon["src"].startswith("data:image/png;base64,")
    assert '\nicons     [{"src": "data:' in kbp("show", "titled", *options).out


def test_prm_04_meta_of_a_prompt_of_a_result_and_of_content(kbp: Kbp, options: list[str]) -> None:
    assert wire(kbp, "titled", options)["_meta"] == {"example.test/owner": "team-a", "example.test/n": 3}
    result = json.loads(kbp("render", "titled", "-f", "json", *options).out)
    assert result["_meta"]["example.test/trace"] == "t-1"
    ((_, content),) = called(kbp, "annotated", options)
    assert content["_meta"] == {"example.test/k": "v"}
    assert content["annotations"] == {"audience": ["user"], "priority": 0.7, "lastModified": "2026-01-02T03:04:05Z"}


def test_prm_05_audio(kbp: Kbp, options: list[str], tmp_path: Path) -> None:
    assert called(kbp, "sound", options) == [("user", BLOCKS["audio"])]
    result = kbp("render", "sound", "--save-media", tmp_path / "media", *options)
    assert result.out == f"[audio audio/wav, 76 bytes: {tmp_path}/media/sound-1.wav]\n"
    assert (tmp_path / "media/sound-1.wav").read_bytes().startswith(b"RIFF")


def test_prm_06_a_link_to_a_resource(kbp: Kbp, options: list[str]) -> None:
    assert called(kbp, "link", options) == [("user", BLOCKS["link"])]
    assert kbp("render", "link", *options).out == (
        "[link The guide: https://example.test/guide, text/html, 12 bytes - where to read on]\n"
    )


def test_prm_07_all_messages_with_their_roles_in_their_order(kbp: Kbp, options: list[str]) -> None:
    assert [(role, content["text"]) for role, content in called(kbp, "few_shot", options)] == [
        ("user", "2+2?"),
        ("assistant", "4"),
        ("user", "3+3?"),
    ]
    assert kbp("render", "few_shot", *options).out == "[user]\n2+2?\n\n[assistant]\n4\n\n[user]\n3+3?\n"
    roles = ["user", "assistant", "user", "assistant", "user", "assistant"]
    assert called(kbp, "every", options) == list(zip(roles, BLOCKS.values(), strict=True))
    described = json.loads(kbp("render", "described", "-f", "json", *options).out)
    assert (described["description"], len(described["messages"])) == ("result text", 1)


def test_content_of_an_unknown_type_comes_out_whole(kbp: Kbp, options: list[str]) -> None:
    hologram = {"type": "hologram", "payload": {"w": 3, "h": [1, 2]}, "uri": "holo://1"}
    assert called(kbp, "alien", options)[1] == ("assistant", hologram)
    assert kbp("render", "alien", *options).out == (
        f"[user]\nbefore\n\n[assistant]\n[hologram] {json.dumps(hologram)}\n"
    )


# Media


def test_media_are_saved_once_and_never_over_another_file(kbp: Kbp, options: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "media"
    for _ in range(2):
        kbp("render", "every", "--save-media", folder, *options)
    assert sorted(path.name for path in folder.iterdir()) == ["every-2.png", "every-3.wav", "every-5.bin"]
    (folder / "every-2.png").write_bytes(b"mine")
    (folder / "every-3.wav").unlink()
    (folder / "every-3.wav").symlink_to(tmp_path / "elsewhere")
    kbp("render", "every", "--save-media", folder, *options)
    assert (folder / "every-2.png").read_bytes() == b"mine"
    assert not (tmp_path / "elsewhere").exists()
    assert {"every-2-2.png", "every-3-2.wav"} <= {path.name for path in folder.iterdir()}


NAMES = ["two words", "slash/name", "naïve", "Ω", "--flag"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_needs_care_is_called(name: str, kbp: Kbp, options: list[str]) -> None:
    result = kbp("render", *options, "--", name)
    assert (result.code, result.out) == (0, f"I am {name}\n")


def test_values_are_sent_as_they_are_typed(kbp: Kbp, tmp_path: Path) -> None:
    options = ["--server-cmd", shlex.join(stdio_command(tmp_path / "log"))]
    (tmp_path / "file").write_text("from a file\n")
    given = ["-a", "a=5", "-a", "b=", "-a", f"c=@{tmp_path}/file"]
    assert kbp("render", "echo", *given, *options).out == '{"a": "5", "b": "", "c": "from a file"}\n'
    assert kbp("render", "echo", "-a", 'a={"x": [true]}', *options).out == '{"a": "{\\"x\\": [true]}"}\n'
    assert kbp("render", "echo", *options).out == "{}\n", "what is left out is not sent"
    assert kbp("render", "echo", "-a", "b=-", *options, stdin=b"piped\n").out == '{"b": "piped"}\n'
    (tmp_path / "map.json").write_text('{"a": true, "b": 5.0, "c": null}')
    assert kbp("render", "echo", "--args", tmp_path / "map.json", *options).out == '{"a": "true", "b": "5.0"}\n'
    (tmp_path / "map.json").write_text('{"a": [1], "b": {}}')
    wrong = kbp("render", "echo", "--args", tmp_path / "map.json", *options)
    assert wrong.code == 2
    assert wrong.err.count("is a list or a map; an argument is text") == 2
    assert (
        kbp("render", "echo", "-a", "aa=1", *options).err.count("the prompt has no argument aa; did you mean a?") == 1
    )
    assert kbp("render", "echo", "-a", "zz=1", "--allow-unknown", *options).out == '{"zz": "1"}\n'


# To the byte

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
SERVER = """
import json, sys
RESULT = {result!r}
for line in sys.stdin:
    message = json.loads(line)
    answers = {{
        "server/discover": '{{"supportedVersions": ["2026-07-28"], "capabilities": {{"prompts": {{}}}}}}',
        "prompts/list": '{{"prompts": [{{"name": "p"}}]}}',
        "prompts/get": RESULT,
    }}
    result = answers[message["method"]].encode("utf-8", "surrogatepass")
    sys.stdout.buffer.write(b'{{"jsonrpc": "2.0", "id": %d, "result": %s}}\\n' % (message["id"], result))
    sys.stdout.buffer.flush()
"""


@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans(), st.sampled_from([None, (",", ":"), (" , ", " : ")]))
@settings(max_examples=500, deadline=None)
def test_a_result_is_kept_as_it_is_written(result: dict[str, Any], ascii: bool, separators: Any) -> None:
    written = json.dumps(result, ensure_ascii=ascii, separators=separators)
    received = parse(f'{{"id": 1, "result":{written} ,"jsonrpc":"2.0"}}')
    assert received is not None
    assert received.result_text == written
    assert json.loads(laid_out(written), object_pairs_hook=list) == json.loads(written, object_pairs_hook=list)
    messages_of(received.message["result"])
    prompt_of(received.message["result"])


ODD = [
    '{"messages":[],"a":1.10,"b":1e400,"c":12345678901234567890123,"d":"\\u0041\\ud83d\\ude00 \\u202e"}',
    '{ "messages" : [ {"role":"user","content":{"type":"text","text":"x"}} ] , "z":1, "a":2, "z":3 }',
    '{"messages":[{"content":{"text":"no role","type":"text"}},{"role":"user"},7,null,"x",{"role":null,"content":[]}]}',
    '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":3}}},{"role":"user","content":{"type":7}}]}',
    '{"messages":[{"role":"user","content":{"type":"image","data":"%%%","mimeType":[1]}}]}',
]


@pytest.mark.parametrize("result", ODD)
@pytest.mark.parametrize("way", ["mcp", "events"])
def test_an_odd_result_comes_out_to_the_byte_over_http(result: str, way: str, kbp: Kbp, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER.format(result=result), encoding="utf-8")
    with http_server(tmp_path, "--server", str(server)) as url:
        whole = kbp("render", "p", "--result", "--server", f"{url}/{way}", "--revision", "2026-07-28")
    assert (whole.code, whole.out) == (0, result + "\n"), whole.err


@pytest.mark.parametrize("result", ODD)
@pytest.mark.parametrize("format", ["text", "markdown", "json", "jsonl", "openai", "anthropic"])
def test_an_odd_result_comes_out_to_the_byte(result: str, format: str, kbp: Kbp, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER.format(result=result), encoding="utf-8")
    options = ["--server-cmd", shlex.join([sys.executable, str(server)]), "--revision", "2026-07-28"]
    whole = kbp("render", "p", "--result", *options)
    assert (whole.code, whole.out) == (0, result + "\n"), whole.err
    shown = kbp("render", "p", "-f", format, "--save-media", tmp_path / "media", *options)
    assert shown.code in (0, 3)
    assert "failed:" not in shown.err


def test_a_message_of_fifty_megabytes(kbp: Kbp, tmp_path: Path) -> None:
    options = ["--server-cmd", shlex.join(stdio_command(tmp_path / "log", HUGE=50_000_000))]
    result = kbp("render", "huge", "-o", tmp_path / "out", "--timeout", "120", *options)
    assert result.code == 0, result.err
    assert (tmp_path / "out").stat().st_size == 50_000_001


def test_a_message_that_is_too_long_is_refused(kbp: Kbp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kbp.live.stdio.MAX_MESSAGE", 1024 * 1024)
    options = ["--server-cmd", shlex.join(stdio_command(tmp_path / "log"))]
    result = kbp("render", "huge", *options)
    assert result.code == 3
    assert "the server sent a message of more than 1 MiB before it answered" in result.err


# Shown on a terminal


def test_hostile_text_is_spelt_out_in_tables_and_errors(kbp: Kbp, options: list[str]) -> None:
    for arguments in (("list",), ("show", "escape"), ("render", "escape", "-f", "json"), ("list", "-f", "json")):
        result = kbp(*arguments, *options)
        assert result.code == 0
        assert not set("\x1b\x07\u202e\x08") & set(result.out + result.err)
    assert "\x1b[31m" in kbp("render", "escape", *options).out, "into a pipe it goes as it is"
