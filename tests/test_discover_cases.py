"""The conformance table of discovery: what one plugin of a library serves, and what it skips."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbp.dialects import dialect_called
from kbp.files import Manner
from kbp.library import Library, load_all
from kbp.search import find_in_plugin

TABLE = Path(__file__).parent / "cases" / "discover.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_plugin_serves_and_skips_what_its_case_says(case: dict[str, Any], tmp_path: Path) -> None:
    for name, text in case["tree"].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    plugin = case["plugin"]
    search = find_in_plugin(tmp_path, plugin.get("prompts"))
    manner = Manner(dialect_called(plugin.get("dialect", "auto")), library=case["library"])
    library = load_all(search, lambda path: manner)
    assert served(library) == case["expect"]["prompts"]
    assert skipped(library) == [
        {key: entry[key] for key in entry if key != "line"} for entry in case["expect"]["skipped"]
    ]
    for entry in case["expect"]["skipped"]:
        if "line" in entry:
            assert line_of(library, entry["path"]) == entry["line"]


def served(library: Library) -> list[dict[str, str]]:
    found = [
        {"name": file.name, "path": str(file.place.relative), "dialect": file.dialect.name if file.dialect else ""}
        for file in library.served
    ]
    return sorted(found, key=lambda entry: entry["path"])


def skipped(library: Library) -> list[dict[str, str]]:
    found = [
        {"path": str(file.place.relative), "rule": file.problems[0].rule if file.is_prompt else "not-a-prompt"}
        for file in library.files
        if file.template is None
    ]
    found += [
        {"path": str(file.place.relative), "rule": "name-collision", "with": str(winner.place.relative)}
        for file, winner in library.collisions()
    ]
    return sorted(found, key=lambda entry: entry["path"])


def line_of(library: Library, path: str) -> int:
    file = next(file for file in library.files if str(file.place.relative) == path)
    return file.document.lines.position(file.problems[0].span.start).line
