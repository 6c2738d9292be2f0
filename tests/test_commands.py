"""The command line as a user meets it: what is asked, what is answered, on which stream, with which exit code."""

import json
import re
import shlex
from pathlib import Path

import pytest
from conftest import BROKEN, LIBRARY, Golden, Kbp, Tree

from kbp import __version__
from kbp.__main__ import main
from kbp.display import safe

PROMPT = "---\ndescription: d\n---\nbody\n"


# What is wrong with the request

WRONG = [
    "lnt",
    "lint --fromat x",
    "show",
    "show a b",
    "lint --format jsno --dialect clade",
    "list --format xyz",
    "list --color sometimes",
    "list --root nowhere",
    "list -C nowhere",
    "list zzz",
    "list /(/",
    "list --library a/b",
    "lint --stdin-filename commands/a.md",
    "rules unquoted-hnt",
    "show debgu",
    "show prompts",
    "show prompts/",
    "show prompts/debgu.md",
    "lint nope.md also-not",
    "render debug",
    "render changelog",
    "render debug -a app=",
    "render changelog -a ap=3 -a commits=@nope -a commits=2 -f jsn",
    "render incident a --line b",
    "render debug -a since=1 -a since=2 -a app=x",
    "render debug a b c",
    "render debug -a app",
    "render debug a -a app=b",
    "render changelog -a version=1.0 --no-input",
    "render runbook -p plugins/ops --library x --dialect kb",
    "render changelog -a commits= -a version=1",
    "render debgu -f jsn",
    "lint nope.md --format jsno",
    "list -p nope --format jsno",
    "list /x{99999999999999999999}/",
    "list --library \udcff",
    "list --only-dialect kbb",
    "list -p ../library-broken/prompts/SKILL.md",
    "lint -p x prompts",
    "list --skipped --format json",
    "list --shadowed --skipped zzz",
    "render debug -5",
    "render debug -a app=@-",
    "render debug -a app=x -o prompts/",
    "render debug -a app=x -o no/such/folder/f",
    "render debug -a app=x -o prompts",
    "render debug -a app=x -o " + "x" * 300,
]


def test_a_wrong_request_says_all_that_is_wrong_and_the_way_out(kbp: Kbp, golden: Golden) -> None:
    told = []
    for line in WRONG:
        result = kbp(*line.split(), cwd=LIBRARY)
        assert (result.code, result.out) == (2, "")
        told.append(f"$ kbp {safe(line)}\n{result.err}")
    golden("wrong-requests.text", "\n".join(told))


def test_no_command_is_the_help_on_stderr(kbp: Kbp) -> None:
    result = kbp()
    assert (result.code, result.out) == (2, "")
    assert result.err == kbp("--help").out


@pytest.mark.parametrize("line", ["--version", "-V", "lint --version", "-q list -V"])
def test_the_version_alone_is_printed(kbp: Kbp, line: str) -> None:
    assert kbp(*line.split()).out == f"kbp {__version__}\n"


def test_a_bug_is_one_line_with_the_version_and_raises_only_when_asked(
    kbp: Kbp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("oh\nno")

    monkeypatch.setattr("kbp.commands.lint.run.lint", broken)
    result = kbp("lint", LIBRARY)
    assert (result.code, result.out) == (70, "")
    assert result.err.startswith(f"error: kbp {__version__} failed: KeyError: 'oh\\nno'\n")
    with pytest.raises(KeyError):
        kbp("lint", LIBRARY, "--debug")


def test_an_interrupt_is_130_and_silent(kbp: Kbp, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kbp.commands.lint.run.lint", interrupted)
    result = kbp("lint", LIBRARY)
    assert (result.code, result.out, result.err.strip()) == (130, "", "")


def test_an_interrupt_before_the_command_runs_is_130_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kbp.app.run", interrupted)
    monkeypatch.setattr("sys.argv", ["kbp", "lint"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 130


def test_options_of_every_command_may_stand_before_its_name(kbp: Kbp) -> None:
    assert kbp("-C", LIBRARY, "-q", "list").err == ""
    assert kbp("list", "-C", LIBRARY, "-q").out == kbp("list", cwd=LIBRARY).out


# lint


def test_lint_of_a_clean_library_ends_with_0(kbp: Kbp) -> None:
    result = kbp("lint", LIBRARY)
    assert (result.code, result.out, result.err) == (0, "", "Found nothing to report in 29 files.\n")
    assert kbp("lint", cwd=LIBRARY) == result
    assert kbp("lint", "-q", cwd=LIBRARY).err == ""


def test_warnings_alone_end_with_0(kbp: Kbp, tree: Tree) -> None:
    result = kbp("lint", "--format", "concise", tree({"kbp.toml": "", "commands/a.md": "---\nmodel: x\n---\n$0"}))
    assert result.code == 0
    assert "warning[missing-description]" in result.out


def test_lint_reads_one_file_on_stdin_under_the_name_it_is_given(kbp: Kbp) -> None:
    text = b"---\nargument-hint: [a] [b]\n---\n$0"
    result = kbp("lint", "-", "--stdin-filename", "commands/new.md", "--format", "concise", cwd=LIBRARY, stdin=text)
    assert result.code == 1
    assert result.out.startswith("commands/new.md:2:16: error[unquoted-hint]")
    assert kbp("lint", "-", stdin=b"hello").out.startswith("-:1:1: info[missing-description]")


def test_lint_of_nothing_is_a_wrong_request_that_says_where_it_looked(kbp: Kbp, tree: Tree) -> None:
    top = tree({"README.md": ""})
    result = kbp("lint", cwd=top)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: no prompt files found in .\n  looked for prompts/, commands/")
    assert kbp("lint", "--format", "json", cwd=tree({"empty/x.txt": ""}) / "empty").code == 2


def test_lint_leaves_the_users_own_folders_alone(kbp: Kbp, home: Path, tree: Tree) -> None:
    own = home / ".claude/commands/mine.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\n- bad\n---\n")
    assert kbp("lint", cwd=tree({"kbp.toml": "", "prompts/a.md": PROMPT})).err == "Found nothing to report in 1 file.\n"


def test_lint_names_the_links_it_does_not_follow(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "prompts/a.md": PROMPT})
    (top / "prompts/out.md").symlink_to("/etc/hostname")
    result = kbp("lint", cwd=top)
    assert result.code == 0
    said = "a symbolic link that leads out of the root (/etc/hostname)"
    assert result.out.startswith(f"prompts/out.md:1:1: warning[dangling-link] {said}\n")
    assert result.err == "Found 1 warning in 1 file.\n"
    unselected = kbp("lint", "--ignore", "dangling-link", cwd=top)
    assert unselected.err.startswith(f"skipped prompts/out.md: {said}\n")


def test_lint_with_a_library_sees_its_names_across_plugins(kbp: Kbp, tree: Tree) -> None:
    plugins = {f"{name}/.claude-plugin/plugin.json": "{}" for name in "pq"}
    top = tree({"kbp.toml": "", **plugins, "p/commands/x.md": PROMPT, "q/commands/x.md": PROMPT})
    assert kbp("lint", cwd=top).code == 0
    assert "[name-collision] the name `lib_x`" in kbp("lint", "--library", "lib", cwd=top).out


def test_verbose_tells_where_was_looked_what_was_skipped_and_dropped(kbp: Kbp) -> None:
    told = kbp("lint", "-v", ".", cwd=BROKEN).err
    assert "looked in .\n" in told
    assert "skipped prompts/rules.md: an instructions file (key globs)\n" in told
    assert "commands/mute.md: dropped allowed-tools (no meaning over MCP)\n" in told


def test_colours_are_printed_when_asked_for(kbp: Kbp, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = kbp("lint", cwd=BROKEN).out
    coloured = kbp("lint", "--color", "always", cwd=BROKEN).out
    assert coloured != plain
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert kbp("lint", cwd=BROKEN).out == coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert kbp("lint", cwd=BROKEN).out == plain
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "0")
    assert kbp("lint", cwd=BROKEN).out == plain


# list and show


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("deb", ["debug"]),
        ("loki", ["debug"]),
        ("*e", ["dedupe", "estimate", "migrate", "outline", "profile", "translate"]),
        ("/^t.*t$/", ["ticket"]),
        ("STANDUP", ["standup"]),
        ("/[[d]ebug/", ["debug"]),
        ("[[d]ebu*", ["debug"]),
    ],
)
def test_a_pattern_is_a_part_a_glob_or_a_regular_expression(kbp: Kbp, pattern: str, names: list[str]) -> None:
    found = kbp("list", pattern, "--format", "names", cwd=LIBRARY).out.split()
    assert [name for name in found if name != "tag"] == names


def test_a_pattern_that_nests_too_deep_is_no_bug(kbp: Kbp) -> None:
    result = kbp("list", "/" + "(" * 5000 + ")" * 5000 + "/", cwd=LIBRARY)
    assert (result.code, result.out) == (2, "")
    assert "is not a regular expression: maximum recursion depth exceeded" in result.err


def test_a_pattern_that_is_no_path_is_no_bug(kbp: Kbp) -> None:
    assert kbp("list", "a" * 5000, cwd=LIBRARY).code == 2


def test_one_name_in_two_maps_is_twice(kbp: Kbp, tree: Tree) -> None:
    top = tree({"1.json": '{"app": "1"}', "2.json": '{"app": "2"}'})
    result = kbp("render", "debug", "--args", top / "1.json", "--args", top / "2.json", cwd=LIBRARY)
    assert result.code == 2
    assert "error: app is given by" in result.err


def test_an_empty_path_names_nothing(kbp: Kbp) -> None:
    for arguments in (["lint", ""], ["list", "-p", "prompts", "-p", ""]):
        result = kbp(*arguments, cwd=LIBRARY)
        assert (result.code, result.err) == (2, "error: an empty path names nothing\n")


def test_a_prompt_that_is_refused_is_not_replaced_by_a_weaker_source(kbp: Kbp, home: Path, tree: Tree) -> None:
    (home / ".claude/commands").mkdir(parents=True)
    (home / ".claude/commands/hello.md").write_text("Another hello.")
    top = tree({"kbp.toml": "", "prompts/hello.md": "---\ndescription: d\narguments: []\n---\n{{ x }}"})
    result = kbp("render", "hello", cwd=top)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: prompts/hello.md does not become a prompt\n")


def test_a_file_that_is_no_prompt_is_a_finding_when_it_is_named(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "prompts/x.instructions.md": "Text."})
    result = kbp("lint", "prompts/x.instructions.md", "-f", "concise", cwd=top)
    assert result.code == 0
    assert result.out.startswith("prompts/x.instructions.md:1:1: warning[not-a-prompt] an instructions file")


def test_a_file_on_stdin_stands_for_the_one_it_is_called(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "prompts/a.md": "---\n---\nText."})
    result = kbp("lint", "prompts", "-", "--stdin-filename", "prompts/a.md", cwd=top, stdin=PROMPT.encode())
    assert (result.code, result.out, result.err) == (0, "", "Found nothing to report in 1 file.\n")


def test_a_file_named_outright_is_so_wherever_a_folder_found_it_first(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "prompts/x.agent.md": PROMPT})
    for paths in (["prompts", "prompts/x.agent.md"], ["prompts/x.agent.md", "prompts"]):
        assert kbp("lint", *paths, "--dialect", "kb", cwd=top).err == "Found nothing to report in 1 file.\n"


def test_what_is_missing_is_given_by_name_where_a_word_was_empty(kbp: Kbp, tree: Tree) -> None:
    text = "---\ndescription: d\narguments: [{name: who, required: true}, {name: how}]\n---\n{{ who }} {{ how }}"
    top = tree({"kbp.toml": "", "prompts/hello.md": text})
    result = kbp("render", "hello", "", "it's cold", "-f", "json", cwd=top)
    *_, empty, line = result.err.strip().split("\n")
    assert empty == "an empty value is none: who"
    assert line == """give it:  kbp render hello -A 'how=it'"'"'s cold' -f json -a who=VALUE"""
    assert kbp(*shlex.split(line.partition("kbp ")[2]), cwd=top).code == 0


def test_list_of_one_dialect(kbp: Kbp) -> None:
    assert (
        kbp("list", "--only-dialect", "mcp-kb", cwd=LIBRARY).out == kbp("list", "--only-dialect", "kb", cwd=LIBRARY).out
    )
    result = kbp("list", "--only-dialect", "copilot", "--format", "names", cwd=LIBRARY)
    assert result.out.split() == ["document", "estimate", "migrate", "review", "test-plan"]


def test_list_says_how_many_files_are_skipped(kbp: Kbp) -> None:
    assert kbp("list", cwd=BROKEN).err == "9 prompts in 4 folders, 18 files skipped (`kbp list --skipped`)\n"


def test_shadowed_prompts_are_listed_when_asked_for(kbp: Kbp, home: Path, tree: Tree) -> None:
    own = home / ".claude/commands/a.md"
    own.parent.mkdir(parents=True)
    own.write_text(PROMPT)
    top = tree({"kbp.toml": "", "prompts/a.md": PROMPT})
    assert kbp("list", "--format", "names", cwd=top).out == "a\n"
    assert kbp("list", "--shadowed", cwd=top).out.splitlines()[1].endswith(".claude/commands/a.md\tprompts/a.md")
    assert kbp("list", "--shadowed", "--project-only", cwd=top).out.splitlines()[1:] == []


def test_paths_of_the_environment_come_before_the_project(
    kbp: Kbp, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tree({"kbp.toml": "", "prompts/a.md": PROMPT, "extra/prompts/a.md": PROMPT, "extra/prompts/b.md": PROMPT})
    monkeypatch.setenv("KBP_PATH", "extra")
    paths = [prompt["_meta"]["kbp/path"] for prompt in json.loads(kbp("list", "-f", "json", cwd=top).out)["prompts"]]
    assert paths == ["extra/prompts/a.md", "extra/prompts/b.md"]
    monkeypatch.setenv("KBP_PATH", "gone")
    assert kbp("list", cwd=top).err == "warning: KBP_PATH: there is no file or folder 'gone'\n1 prompt in 1 folder\n"


def test_a_path_is_looked_in_and_nowhere_else(kbp: Kbp) -> None:
    result = kbp("list", "-p", "plugins/ops", "-p", "prompts/debug.md", "-f", "names", cwd=LIBRARY)
    assert result.out.split() == ["capacity", "debug", "drain", "oncall", "runbook"]


def test_two_prompts_of_one_name_are_named_by_their_paths(kbp: Kbp, tree: Tree) -> None:
    top = tree(
        {"kbp.toml": "", "p/.claude-plugin/plugin.json": "{}", "p/commands/x.md": PROMPT, "commands/x.md": PROMPT}
    )
    result = kbp("show", "x", cwd=top)
    assert (result.code, result.err) == (
        2,
        "error: 2 prompts are called 'x'\n  commands/x.md\n  p/commands/x.md\n  name one by its path\n",
    )
    assert kbp("show", "p/commands/x.md", "--format", "path", cwd=top).out == "p/commands/x.md\n"


def test_show_of_a_refused_file_says_why(kbp: Kbp) -> None:
    result = kbp("show", "debug", cwd=BROKEN)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(
        "error: prompts/debug.md does not become a prompt\nprompts/debug.md:7:33: error[undeclared-placeholder]"
    )


def test_show_of_what_is_no_prompt_says_what_it_is(kbp: Kbp) -> None:
    result = kbp("show", "prompts/reviewer.agent.md", cwd=BROKEN)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: prompts/reviewer.agent.md is no prompt file: an agent file\n")
    assert kbp("show", "prompts/reviewer.agent.md", "--dialect", "kb", cwd=BROKEN).code == 0


SKILL = (
    "---\nname: deploy\ndescription: Deploy\narguments: [app]\n---\nRead ${CLAUDE_SKILL_DIR}/steps.md, deploy $app.\n"
)


def test_a_skill_is_shown_and_rendered_by_its_path_and_listed_when_asked_for(kbp: Kbp, tree: Tree) -> None:
    hidden = SKILL.replace("name: deploy", "name: inner\nuser-invocable: false")
    top = tree(
        {
            "kbp.toml": "",
            "prompts/a.md": PROMPT,
            ".claude/skills/deploy/SKILL.md": SKILL,
            ".claude/skills/deploy/steps.md": "Steps.",
            "skills/inner/SKILL.md": hidden,
        }
    )
    assert kbp("list", "-f", "names", cwd=top).out == "a\n"
    assert kbp("list", "-f", "names", "--skills", cwd=top).out == "a\ndeploy\n"
    path = ".claude/skills/deploy/SKILL.md"
    assert kbp("show", path, cwd=top).out.startswith(f"deploy — Deploy\nfile      {path} (skill: named SKILL.md)\n")
    text = "Read skill://ops/.claude/skills/deploy/steps.md, deploy api.\n"
    assert kbp("render", path, "--library", "ops", "api", cwd=top).out == text
    assert kbp("render", "deploy", "--skills", "--library", "ops", "api", cwd=top).out == text
    assert kbp("render", path, "api", cwd=top).out == "Read ${CLAUDE_SKILL_DIR}/steps.md, deploy api.\n"
    assert kbp("lint", cwd=top).err == "Found nothing to report in 3 files.\n"
    (top / path).write_text(SKILL.replace("name: deploy", "name: Deploy It").replace("description: Deploy", "x-a: b"))
    found = kbp("lint", "-f", "concise", cwd=top).out.splitlines()
    assert [line.split("skill-name] ")[1] for line in found] == [
        "a skill without a description; add `description: …`: what it does, and when to use it",
        "`name` is `Deploy It`, and the folder is called `deploy`; make them equal",
        "`Deploy It` is no name of a skill; use lower-case letters, digits and dashes, 64 at most",
    ]


def test_show_of_the_source_is_the_file_to_the_byte(kbp: Kbp, tree: Tree) -> None:
    top = tree({"prompts/a.md": "\ufeff---\r\nx: 1\r\n---\r\nb\x1b\r\n"})
    assert kbp("show", "prompts/a.md", "-f", "source", cwd=top).out == "\ufeff---\r\nx: 1\r\n---\r\nb\x1b\r\n"


def test_a_library_goes_in_front_of_names(kbp: Kbp) -> None:
    assert kbp("show", "ops_debug", "--library", "ops", "--format", "path", cwd=LIBRARY).out == "prompts/debug.md\n"
    assert kbp("show", "debug", "--library", "ops", "--format", "path", cwd=LIBRARY).out == "prompts/debug.md\n"


# render


def text(kbp: Kbp, *arguments: str, stdin: bytes | None = None) -> str:
    result = kbp("render", *arguments, "-q", cwd=LIBRARY, stdin=stdin)
    assert (result.code, result.err) == (0, "")
    return result.out


def test_words_are_the_text_after_the_command(kbp: Kbp) -> None:
    line = text(kbp, "incident", "api", "high", "since the deploy").splitlines()[0]
    assert line == ('Open an incident for api at severity high. Everything that was typed: api high "since the deploy"')
    assert text(kbp, "incident", "--line", 'api high "since the deploy"').splitlines()[0] == line


def test_a_value_may_come_from_a_file_from_stdin_or_from_a_map(kbp: Kbp, tmp_path: Path) -> None:
    (tmp_path / "v.yaml").write_text("app: loki\nsince: 010\n")
    first = "Investigate the logs of **loki** over the last 010."
    assert text(kbp, "debug", "--args", str(tmp_path / "v.yaml")).startswith(first)
    assert text(kbp, "debug", "--args", "-", stdin=b'{"app": "loki", "since": "010"}').startswith(first)
    assert text(kbp, "debug", "-a", "app=-", "-a", "since=010", stdin=b"loki\n").startswith(first)
    assert text(kbp, "debug", "-A", "app=@loki", "--defaults").startswith("Investigate the logs of **@loki**")


def test_a_prompt_on_stdin_is_rendered_under_the_name_it_is_given(kbp: Kbp) -> None:
    rendered = text(kbp, "-", "--stdin-filename", "commands/x.md", "one", "two", stdin=b"<$1|$0>")
    assert rendered == "<two|one>\n"


def test_stdin_cannot_be_the_prompt_and_a_value(kbp: Kbp) -> None:
    result = kbp("render", "-", "--stdin-filename", "commands/x.md", "-a", "arguments=-", stdin=b"$0")
    assert result.code == 2
    assert result.err == "error: -a arguments=-: stdin can be read once, and the prompt file - reads it\n"


def test_a_hint_says_that_shell_lines_are_text(kbp: Kbp) -> None:
    assert kbp("render", "incident", "api", cwd=LIBRARY).err == (
        "hint: the body has shell lines (!`…`): they are text here, and nothing is run\n"
    )


def test_explain_says_where_each_value_came_from(kbp: Kbp) -> None:
    assert kbp("render", "debug", "-a", "app=loki", "--explain", cwd=LIBRARY).err == (
        "{{ app }}  given 'loki'\n{{ since }}  default '1h'\n{{ app }}  given 'loki'\n"
    )
    assert kbp("render", "standup", "all quiet", "--explain", cwd=LIBRARY).err == (
        "(end of the body)  appended '\\n\\nARGUMENTS: all quiet'\n"
    )


def test_output_is_written_whole_with_the_mode_of_the_file_that_was_there(kbp: Kbp, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before")
    path.chmod(0o640)
    result = kbp("render", "debug", "-a", "app=loki", "-o", path, cwd=LIBRARY)
    assert (result.code, result.out, result.err) == (0, "", "")
    assert path.read_text() == text(kbp, "debug", "-a", "app=loki")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


def test_output_follows_a_link_and_keeps_it(kbp: Kbp, tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("before")
    (tmp_path / "link.txt").symlink_to("real.txt")
    kbp("render", "principles", "-o", tmp_path / "link.txt", cwd=LIBRARY)
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == text(kbp, "principles")


def test_a_declared_arguments_is_a_name_like_any_other_for_words_too(kbp: Kbp, tree: Tree) -> None:
    top = tree({"commands/d.md": "---\narguments: [x, arguments, y]\n---\n<$x|$arguments|$y>"})
    assert kbp("render", "commands/d.md", "a", "b", "c", cwd=top).out == "<a|b|c>\n"
    assert kbp("render", "commands/d.md", "--line", "a 'b c' d", cwd=top).out == "<a|b c|d>\n"


def test_the_line_that_would_give_what_is_missing_can_be_typed(kbp: Kbp, tree: Tree) -> None:
    text = "---\narguments:\n- {name: my arg, required: true}\n- {name: b, required: true}\n---\n{{ b }}"
    top = tree({"change log.md": text})
    line = kbp("render", "change log.md", "-A", "b=@x y", cwd=top).err.splitlines()[-1].removeprefix("give it:  ")
    assert line == "kbp render 'change log.md' -A 'b=@x y' -a 'my arg=VALUE'"
    assert kbp(*shlex.split(line)[1:], cwd=top).out == "@x y\n"


def test_a_broken_manifest_is_an_error_quiet_or_not(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "p/.claude-plugin/plugin.json": "{", "p/commands/a.md": PROMPT, "prompts/b.md": PROMPT})
    for arguments in (["lint"], ["lint", "-q"]):
        result = kbp(*arguments, cwd=top)
        assert result.code == 1
        said = "p/.claude-plugin/plugin.json:1:2: error[manifest-path] not JSON: expecting property name"
        assert result.out.startswith(said)
    assert kbp("lint", "--ignore", "manifest-path", cwd=top).code == 1
    told = kbp("list", "-q", cwd=top)
    assert told.err.startswith("error: skipped p/.claude-plugin/plugin.json: not JSON: expecting property name")


def test_dropped_keys_are_told_once_for_the_prompt_that_is_shown(kbp: Kbp) -> None:
    told = kbp("show", "incident", "-v", cwd=LIBRARY).err
    assert told.count("dropped") == 1


def test_a_word_that_looks_like_a_value_by_name_gets_a_hint(kbp: Kbp) -> None:
    result = kbp("render", "debug", "app=loki", cwd=LIBRARY)
    assert result.code == 0
    assert result.err == "hint: app=loki is taken as a word; a value by name is -a app=loki\n"


def test_maps_add_up_and_one_name_in_two_of_them_is_twice(kbp: Kbp, tree: Tree) -> None:
    top = tree(
        {
            "prompts/a.md": "---\narguments: [{name: x}, {name: y}]\n---\n{{ x }}{{ y }}",
            "1.yaml": "x: 1",
            "2.yaml": "y: 2",
        }
    )
    assert kbp("render", "prompts/a.md", "--args", "1.yaml", "--args", "2.yaml", cwd=top).out == "12\n"
    result = kbp("render", "prompts/a.md", "--args", "1.yaml", "--args", "1.yaml", cwd=top)
    assert (result.code, result.err) == (2, "error: x is given twice by --args 1.yaml: give it once\n")
    assert kbp("render", "prompts/a.md", "--line", "a", "--line", "b", cwd=top).code == 2


def test_output_to_a_link_in_a_loop_is_told(kbp: Kbp, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    result = kbp("render", LIBRARY / "prompts/principles.md", "-o", "loop", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: -o loop: ")


def test_output_to_a_dash_is_stdout(kbp: Kbp, tmp_path: Path) -> None:
    assert kbp("render", LIBRARY / "prompts/principles.md", "-o", "-", cwd=tmp_path).out.startswith("Before you answer")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_read_alike_however_it_is_named(kbp: Kbp, home: Path) -> None:
    own = home / ".claude/commands/git/tidy.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\ndescription: d\n---\nTidy {{ name }} up, $ARGUMENTS.\n")
    for cwd, name in (
        (home, "tidy"),
        (home, ".claude/commands/git/tidy.md"),
        (own.parent, "tidy.md"),
        (home / ".claude", "tidy"),
    ):
        assert kbp("render", name, "now", cwd=cwd).out == "Tidy {{ name }} up, now.\n"
    for cwd, path in ((home, ".claude/commands"), (home, ".claude/commands/git/tidy.md"), (own.parent, ".")):
        assert "foreign-placeholder" in kbp("lint", path, cwd=cwd).out


def test_a_guess_from_the_body_is_named_where_it_refuses_a_file(kbp: Kbp, tree: Tree) -> None:
    told = kbp("lint", tree({"x/a.md": "Use {{ key }} and $ARGUMENTS."}) / "x/a.md").out
    assert "read as kb because of the placeholder {{ key }}: if it is not, give its dialect (--dialect)" in told


def test_lint_says_which_project_it_looked_in(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "prompts/a.md": PROMPT, "sub/prompts/b.md": PROMPT})
    assert kbp("lint", cwd=top / "sub").err == (
        "note: looked in the project ..; `kbp lint .` looks in this folder\nFound nothing to report in 1 file.\n"
    )


# rules


def test_rules_are_listed_and_explained(kbp: Kbp) -> None:
    assert kbp("rules").out.count("\n| `") == len(json.loads(kbp("rules", "--format", "json").out))
    first = "# tab-indent\n\nerror; refused: such a file does not become a prompt\n"
    assert kbp("rules", "tab-indent").out.startswith(first)


# Generated files

TWIN = "---\ndescription: d\n# generated by kbp from ../../prompts/debug.md (6c7c76127464, 6c7c76127464)\n---\nLook.\n"


def test_a_generated_file_is_listed_when_asked_for_and_never_collides(kbp: Kbp, tree: Tree) -> None:
    source = "---\ndescription: d\n---\nLook.\n"
    top = tree({"kbp.toml": "", "prompts/debug.md": source, ".github/prompts/debug.prompt.md": TWIN})
    assert kbp("list", "-f", "names", cwd=top).out == "debug\n"
    assert kbp("list", "-f", "names", "--generated", cwd=top).out == "debug\ndebug\n"
    assert kbp("list", "--skipped", cwd=top).out.splitlines()[1:] == [
        ".github/prompts/debug.prompt.md\tgenerated from ../../prompts/debug.md"
    ]
    assert "prompts/debug.md (kb" in kbp("show", "debug", cwd=top).out
    assert kbp("lint", cwd=top).err == "Found nothing to report in 2 files.\n"
    (top / "prompts/debug.md").write_text(source + "More.\n")
    assert "stale-twin] ../../prompts/debug.md has changed since" in kbp("lint", cwd=top).out
    (top / ".github/prompts/debug.prompt.md").write_text(TWIN + "By hand.\n")
    assert "and edited by hand since" in kbp("lint", cwd=top).out
    (top / ".github/prompts/debug.prompt.md").write_text(TWIN)
    (top / "prompts/debug.md").unlink()
    assert "../../prompts/debug.md, is not there" in kbp("lint", cwd=top).out
    assert kbp("list", "-f", "names", cwd=top).out == "debug\n"


def test_a_mark_reads_nothing_outside_of_the_root(kbp: Kbp, tree: Tree) -> None:
    twin = TWIN.replace("../../prompts/debug.md", "../../../outside.md")
    outside = "---\ndescription: d\n---\nLook.\n"
    top = tree({"outside.md": outside, "r/kbp.toml": "", "r/.github/prompts/a.prompt.md": twin})
    found = kbp("lint", cwd=top / "r").out
    assert "is not there" in found


# diff


def test_two_prompts_are_compared_by_meaning(kbp: Kbp, tree: Tree) -> None:
    top = tree(
        {
            "kbp.toml": "",
            "prompts/a.md": "---\ndescription: d\narguments:\n- {name: app, required: true, description: Which?}\n---\n"
            "Look at {{ app }}.\n",
            "commands/a.md": "---\ndescription: d\narguments: [app]\n---\nLook at $app.\n",
            "commands/b.md": "---\ndescription: e\narguments: [app, zone]\n---\nLook\nat $zone.\n",
        }
    )
    result = kbp("diff", "prompts/a.md", "commands/a.md", cwd=top)
    assert (result.code, result.out) == (
        1,
        "argument app: required -> optional\ndescription of app: Which? -> (none)\n",
    )
    assert result.err == "2 differences between prompts/a.md and commands/a.md\n"
    result = kbp("diff", "commands/a.md", "commands/b.md", cwd=top)
    assert result.out == (
        "description: d -> e\n"
        "argument zone: (none) -> optional\n"
        "message with a value for each argument:\n"
        "  @@ -1 +1,2 @@\n"
        "  -Look at <app>.\n"
        "  +Look\n"
        "  +at <zone>.\n"
        "message without values:\n"
        "  @@ -1 +1,2 @@\n"
        "  -Look at .\n"
        "  +Look\n"
        "  +at .\n"
    )
    same = kbp(
        "diff",
        "commands/a.md",
        "-",
        "--stdin-filename",
        "commands/x.md",
        cwd=top,
        stdin=b"---\ndescription: d\narguments: app\n---\nLook at $app.\n",
    )
    assert (same.code, same.out, same.err) == (0, "", "no difference between commands/a.md and commands/x.md\n")
    found = json.loads(kbp("diff", "commands/a.md", "commands/b.md", "-f", "json", cwd=top).out)["differences"]
    assert found[0] == {"what": "description", "first": "d", "second": "e"}
    assert kbp("diff", "-", "-", cwd=top, stdin=b"").code == 2
