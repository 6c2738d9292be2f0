"""The reports that services read: SARIF 2.1.0, GitLab's code quality, GitHub's annotations."""

import json
from typing import Any

import pytest
from conftest import BROKEN, Kbp, Tree
from sarif_pydantic import Sarif

from kbp.linter.rules import RULES

HOSTILE = "---\ndescription: d\n---\n日本 $5.00, 100% \x1b[31m\n{{ARGUMENTS}}\n"


@pytest.fixture
def sarif(kbp: Kbp) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(kbp("lint", "-f", "sarif", ".", cwd=BROKEN).out)
    return content


@pytest.fixture
def findings(kbp: Kbp) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(kbp("lint", "-f", "json", ".", cwd=BROKEN).out)["diagnostics"]
    return found


def test_sarif_is_what_its_model_takes(sarif: dict[str, Any]) -> None:
    read = Sarif.model_validate(sarif)
    assert read.version == "2.1.0"
    (run,) = read.runs
    assert len(run.results or []) == 30


def test_sarif_has_what_the_standard_requires(sarif: dict[str, Any], findings: list[dict[str, Any]]) -> None:
    assert set(sarif) == {"$schema", "version", "runs"}
    (run,) = sarif["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "kbp"
    assert [rule["id"] for rule in driver["rules"]] == list(RULES)
    assert all(rule["help"]["markdown"] and rule["shortDescription"]["text"] for rule in driver["rules"])
    for result, finding in zip(run["results"], findings, strict=True):
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == finding["rule"]
        assert result["level"] == {"error": "error", "warning": "warning", "info": "note"}[finding["severity"]]
        assert result["message"]["text"] == finding["message"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == finding["path"]
        assert location["physicalLocation"]["region"] == {
            "startLine": finding["line"],
            "startColumn": finding["column"],
            "endLine": finding["end_line"],
            "endColumn": finding["end_column"],
        }
        assert ("fixes" in result) is (finding["fix"] is not None)
    prints = [result["partialFingerprints"]["kbp/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_a_fix_in_sarif_is_what_fix_does(sarif: dict[str, Any]) -> None:
    (fixed,) = [
        each for each in sarif["runs"][0]["results"] if each["ruleId"] == "unquoted-hint" and "rotate" in str(each)
    ]
    (change,) = fixed["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "commands/rotate.md"}
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 3, "startColumn": 16, "endLine": 3, "endColumn": 34},
            "insertedContent": {"text": '"[key-id] [--force]"'},
        }
    ]


def test_gitlab_has_what_it_requires(kbp: Kbp, findings: list[dict[str, Any]]) -> None:
    report = json.loads(kbp("lint", "-f", "gitlab", ".", cwd=BROKEN).out)
    assert len(report) == len(findings)
    for issue, finding in zip(report, findings, strict=True):
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["check_name"] == finding["rule"]
        assert issue["location"] == {
            "path": finding["path"],
            "lines": {"begin": finding["line"], "end": finding["end_line"]},
        }
    assert len({issue["fingerprint"] for issue in report}) == len(report)


def test_a_fingerprint_stays_when_lines_are_added_and_is_another_for_another_text(kbp: Kbp, tree: Tree) -> None:
    def prints(body: str) -> list[str]:
        top = tree({"kbp.toml": "", "commands/a.md": f"---\ndescription: d\n---\n{body}"})
        return [issue["fingerprint"] for issue in json.loads(kbp("lint", "-f", "gitlab", cwd=top).out)]

    first, second = prints("$5.00 and $5.00, $0")
    assert first != second
    assert prints("Before.\n\n$5.00 or\n$5.00, $0") == [first, second]
    assert prints("$6.00 $0") != [first]


def test_paths_are_those_of_the_checkout(kbp: Kbp, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"sub/kbp.toml": "", "sub/commands/a b.md": HOSTILE})
    monkeypatch.setenv("CI_PROJECT_DIR", str(top))
    issue = json.loads(kbp("lint", "-f", "gitlab", cwd=top / "sub").out)[0]
    assert issue["location"]["path"] == "sub/commands/a b.md"
    result = json.loads(kbp("lint", "-f", "sarif", cwd=top / "sub").out)["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sub/commands/a%20b.md"
    monkeypatch.setenv("CI_PROJECT_DIR", "/elsewhere")
    assert json.loads(kbp("lint", "-f", "gitlab", cwd=top / "sub").out)[0]["location"]["path"] == "commands/a b.md"


def test_annotations_are_one_line_each_whatever_a_file_holds(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "commands/a,b:c%.md": HOSTILE, "commands/x\n::error::y.md": HOSTILE})
    lines = kbp("lint", "-f", "github", cwd=top).out.splitlines()
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    assert any(line.startswith("::warning file=commands/a%2Cb%3Ac%25.md,line=") for line in lines)
    assert any("file=commands/x%0A%3A%3Aerror%3A%3Ay.md," in line for line in lines)
    levels = [line.partition(" ")[0] for line in lines]
    assert levels == sorted(levels, key=["::error", "::warning", "::notice"].index)
