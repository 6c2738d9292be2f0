"""The public Python API."""

from pathlib import Path

import pytest
from conftest import BROKEN, LIBRARY, Tree

import kbp


def test_all_public_names_are_there() -> None:
    for name in kbp.__all__:
        assert getattr(kbp, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        getattr(kbp, "nope")  # noqa: B009 (an attribute that is not there)


def test_load_gives_the_prompt_of_a_file() -> None:
    file = kbp.load(LIBRARY / "prompts/debug.md", library="ops")
    assert isinstance(file, kbp.PromptFile)
    assert file.prompt is not None
    assert (file.prompt.name, file.prompt.title) == ("ops_debug", "Debug a workload")
    assert [(argument.name, argument.required, argument.default) for argument in file.prompt.arguments] == [
        ("app", True, None),
        ("since", False, "1h"),
    ]


def test_load_takes_a_dialect_and_a_root(tree: Tree) -> None:
    top = tree({"commands/x/a.md": "$0"})
    for root, dialect, name in (
        (None, "auto", "claude"),
        (top / "commands/x", "auto", "claude"),
        (None, "mcp-kb", "kb"),
    ):
        found = kbp.load(top / "commands/x/a.md", root=root, dialect=dialect).dialect
        assert found is not None
        assert found.name == name
    assert kbp.load(top / "commands/x/a.md", root=top / "commands/x").detection.why == "placeholder $0"
    with pytest.raises(ValueError, match="there is no dialect 'docx'"):
        kbp.load("x.md", dialect="docx")


def test_load_knows_what_a_manifest_declares() -> None:
    assert kbp.load(LIBRARY / "plugins/writing/short/summary.md").detection.why == "declared as a command"


def test_load_of_what_is_no_file_raises() -> None:
    with pytest.raises(FileNotFoundError):
        kbp.load("no/such/file.md")
    with pytest.raises(IsADirectoryError):
        kbp.load(LIBRARY)


def test_a_value_that_is_no_text_raises() -> None:
    with pytest.raises(TypeError, match="the value of app is int, not text"):
        kbp.render(LIBRARY / "prompts/debug.md", {"app": 3})  # type: ignore[dict-item]  # the fault itself


def test_render_gives_messages() -> None:
    for file in (LIBRARY / "plugins/ops/commands/oncall.md", kbp.load(LIBRARY / "plugins/ops/commands/oncall.md")):
        (message,) = kbp.render(file, {"arguments": "why?"})
        assert (message.role, message.content["text"].split(": ", 1)[1]) == ("user", "why?\n")


def test_render_raises_what_a_caller_would_catch() -> None:
    with pytest.raises(kbp.MissingArguments) as missing:
        kbp.render(LIBRARY / "prompts/changelog.md")
    assert [argument.name for argument in missing.value.arguments] == ["commits", "version"]
    with pytest.raises(kbp.UnknownArguments) as unknown:
        kbp.render(LIBRARY / "prompts/debug.md", {"app": "x", "ap": "y"})
    assert unknown.value.names == ("ap",)
    with pytest.raises(kbp.Refused, match="undeclared-placeholder") as refused:
        kbp.render(BROKEN / "prompts/debug.md")
    assert len(refused.value.problems) == 1
    with pytest.raises(kbp.Refused, match="no prompt file"):
        kbp.render(BROKEN / "prompts/reviewer.agent.md")


def test_lint_gives_a_report() -> None:
    report = kbp.lint(LIBRARY)
    assert (report.files, report.refused, report.diagnostics) == (29, 0, ())
    report = kbp.lint([BROKEN / "commands/rotate.md", str(BROKEN / "prompts/*.md")])
    first = report.diagnostics[0]
    assert (first.rule, first.severity, first.start.line, first.start.column) == (
        "unquoted-hint",
        kbp.Severity.ERROR,
        3,
        16,
    )
    assert Path(first.path).name == "rotate.md"


def test_lint_of_paths_that_name_nothing_raises_with_all_of_them() -> None:
    with pytest.raises(kbp.NotFound, match=r"no file or folder 'a\.md'.*; .*'b\.md'"):
        kbp.lint(["a.md", "b.md"])


def test_convert_gives_the_text_and_what_it_lost(tree: Tree) -> None:
    path = (
        tree({"prompts/a.md": "---\ndescription: d\narguments: [{name: x, required: true}]\n---\n{{ x }}\n"})
        / "prompts/a.md"
    )
    converted = kbp.convert(path, "claude")
    assert converted.text == "---\ndescription: d\narguments: [x]\n---\n$x\n"
    assert [(loss.kind, loss.what, loss.where) for loss in converted.losses] == [
        ("lost", "required", "x becomes optional")
    ]
    back = kbp.convert(path, "copilot", keep=True)
    assert isinstance(back, kbp.Converted)
    for wrong in ("auto", "docx"):
        with pytest.raises(ValueError, match="dialect"):
            kbp.convert(path, wrong)
