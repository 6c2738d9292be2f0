"""The conformance table of the mcp profile: what a file publishes, why it is refused, what it renders to."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from kbp.dialects import dialect_called
from kbp.files import Manner, Place, PromptFile, load
from kbp.renderer import MissingArguments, render

TABLE = Path(__file__).parent / "cases" / "mcp.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


def load_case(case: dict[str, Any], root: Path) -> PromptFile:
    for name, text in (case.get("siblings") or {}).items():
        write(root / name, text.encode())
    path = root / case["path"]
    write(path, base64.b64decode(case["file_base64"]) if "file_base64" in case else case["file"].encode())
    given = dialect_called(case["setting"]) if case["setting"] else None
    place = Place(path, root, declared=case["declared_as_command"], outright=given is not None)
    return load(place, Manner(given, library=case["library"]))


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_file_becomes_the_prompt_of_its_case(case: dict[str, Any], tmp_path: Path) -> None:
    file = load_case(case, tmp_path)
    dialect = file.dialect.name if file.dialect else None
    assert (dialect if file.is_prompt else "not-a-prompt") == case["dialect"]
    assert [problem.rule for problem in file.problems if file.is_refused] == expected_rules(case)
    if case["refused"]:
        check_refusal(file, case["refused"])
    elif file.is_prompt:
        check_published(file, case)
        check_renders(file, case)


def expected_rules(case: dict[str, Any]) -> list[str]:
    refused = case["refused"]
    return [refused["rule"]] * len(refused.get("names", [""])) if refused else []


def check_refusal(file: PromptFile, refused: dict[str, Any]) -> None:
    places = [file.document.lines.position(problem.span.start) for problem in file.problems]
    assert refused["line"] in (None, places[0].line)
    if "names" in refused:
        texts = [file.document.text[problem.span.start : problem.span.end] for problem in file.problems]
        assert sorted(text.strip("{} \t\r\n") for text in texts) == refused["names"]


def check_published(file: PromptFile, case: dict[str, Any]) -> None:
    assert file.prompt is not None
    expected = case["prompt"]
    published = {
        "name": file.prompt.name,
        "title": file.prompt.title,
        "description": file.prompt.description,
        "arguments": [
            {"name": argument.name, "description": argument.description, "required": argument.required}
            for argument in file.prompt.arguments
        ],
    }
    assert published == {"title": None, **expected}
    assert file.prompt.meta["kbp/defaults"] == case.get("defaults", {})
    assert file.prompt.meta["kbp/dropped"] == case.get("dropped", [])


def check_renders(file: PromptFile, case: dict[str, Any]) -> None:
    assert file.template is not None
    for wanted in case["renders"]:
        if "missing" in wanted:
            with pytest.raises(MissingArguments) as error:
                render(file.template, wanted["args"], case["library"])
            assert [argument.name for argument in error.value.arguments] == wanted["missing"]
        else:
            (message,) = render(file.template, wanted["args"], case["library"])
            assert message.role == "user"
            assert message.content == {"type": "text", "text": wanted["text"]}
