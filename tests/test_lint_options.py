"""What `kbp lint` does beyond finding: fixing, baselines, changes, files beside the log."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import Kbp, Result, Tree

GOOD = "---\ndescription: d\n---\nbody\n"
HINT = "---\ndescription: d\nargument-hint: [a] [b]\n---\nGo $ARGUMENTS.\n"
HINT_FIXED = HINT.replace("[a] [b]", '"[a] [b]"')
PRICE = "---\ndescription: d\n---\nIt costs $5.00. Go $ARGUMENTS.\n"
LATE = "\n---\ndescription: d\n---\nGo $ARGUMENTS.\n"


def git(folder: Path, *arguments: str) -> None:
    author = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def top(tree: Tree) -> Path:
    return tree({"kbp.toml": "", "commands/hint.md": HINT, "commands/price.md": PRICE, "commands/good.md": GOOD})


# Fixes


def test_safe_fixes_are_applied_and_the_rest_is_told(kbp: Kbp, top: Path) -> None:
    (top / "commands/hint.md").chmod(0o640)
    result = kbp("lint", "--fix", cwd=top)
    assert (top / "commands/hint.md").read_text() == HINT_FIXED
    assert (top / "commands/hint.md").stat().st_mode & 0o777 == 0o640
    assert (top / "commands/price.md").read_text() == PRICE
    assert result.code == 0
    assert result.err == (
        "Fixed 1 finding in 1 file.\nFound 1 warning in 3 files. 1 can be fixed with `kbp lint --fix --unsafe-fixes`.\n"
    )
    assert sorted(each.name for each in (top / "commands").iterdir()) == ["good.md", "hint.md", "price.md"]


def test_unsafe_fixes_are_applied_when_asked_for(kbp: Kbp, top: Path) -> None:
    result = kbp("lint", "--fix", "--unsafe-fixes", "--exit-non-zero-on-fix", cwd=top)
    assert (top / "commands/price.md").read_text() == PRICE.replace("$5", "\\$5")
    assert (result.code, result.out) == (1, "")
    again = kbp("lint", "--fix", "--unsafe-fixes", "--exit-non-zero-on-fix", cwd=top)
    assert (again.code, again.err) == (0, "Found nothing to report in 3 files.\n")


def test_a_diff_writes_nothing_and_git_can_apply_it(kbp: Kbp, top: Path) -> None:
    files = {"crlf.md": HINT.replace("\n", "\r\n"), "open.md": "---\ndescription: a: b\n---", "late.md": LATE}
    for name, text in files.items():
        (top / "commands" / name).write_bytes(text.encode())
    git(top, "init", "-q")
    result = kbp("lint", "--diff", "--unsafe-fixes", cwd=top)
    assert result.code == 1
    assert (top / "commands/hint.md").read_text() == HINT
    subprocess.run(["git", "apply", "-"], cwd=top, input=result.out.encode(), check=True)
    assert (top / "commands/hint.md").read_text() == HINT_FIXED
    assert (top / "commands/crlf.md").read_bytes() == HINT_FIXED.replace("\n", "\r\n").encode()
    assert (top / "commands/open.md").read_text() == '---\ndescription: "a: b"\n---'
    assert (top / "commands/late.md").read_text() == LATE[1:]
    assert kbp("lint", "--diff", "--unsafe-fixes", cwd=top).code == 0


def test_the_file_on_stdin_is_printed_fixed_and_its_findings_told_beside(kbp: Kbp, top: Path) -> None:
    command = ["lint", "--fix", "-", "--stdin-filename", "commands/hint.md"]
    result = kbp(*command, "-f", "concise", cwd=top, stdin=HINT.replace("Go", "$5.00").encode())
    assert result.out == HINT_FIXED.replace("Go", "$5.00")
    assert "commands/hint.md:5:1: warning[amount-or-code]" in result.err
    assert (top / "commands/hint.md").read_text() == HINT
    assert kbp(*command, cwd=top, stdin=GOOD.encode()).out == GOOD


def test_a_file_that_cannot_be_written_is_told(kbp: Kbp, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "commands/z.md").write_text(HINT)
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "hint" not in str(path) and real(path, mode))
    result = kbp("lint", "--fix", cwd=top)
    assert result.code == 2
    assert result.err.startswith(
        "error: commands/hint.md cannot be written: permission denied\nFixed 1 finding in 1 file.\n"
    )
    assert "commands/hint.md:3:16: error[unquoted-hint]" in result.out
    assert (top / "commands/hint.md").read_text() == HINT
    assert (top / "commands/z.md").read_text() == HINT_FIXED
    result = kbp("lint", "--add-ignores", cwd=top)
    assert (result.code, result.err.splitlines()[0]) == (
        2,
        "error: commands/hint.md cannot be written: permission denied",
    )


def test_two_links_to_one_file_are_fixed_once(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "real.md": HINT, "commands/z.md": HINT})
    for name in ("l1.md", "l2.md"):
        (top / "commands" / name).symlink_to("../real.md")
    result = kbp("lint", "--fix", "commands", cwd=top)
    assert (result.code, result.out) == (0, "")
    assert result.err == "Fixed 2 findings in 2 files.\nFound nothing to report in 3 files.\n"
    assert (top / "real.md").read_text() == (top / "commands/z.md").read_text() == HINT_FIXED
    (top / "real.md").write_text(HINT)
    assert "Wrote a comment into 1 file.\n" in kbp("lint", "--add-ignores", "commands", cwd=top).err
    assert kbp("lint", "commands", cwd=top).out == ""


def test_a_file_larger_than_usual_is_fixed_where_the_settings_allow_it(kbp: Kbp, tree: Tree) -> None:
    body = "x" * 17 * 1024 * 1024
    top = tree({"kbp.toml": "max-file = 33554432\n", "commands/a.md": f"\ufeff---\ndescription: d\n---\n{body}"})
    assert "Fixed 1 finding in 1 file.\n" in kbp("lint", "--fix", cwd=top).err
    assert (top / "commands/a.md").read_bytes().startswith(b"---")


@pytest.mark.parametrize("data", [b"caf\xe9\n", b"x" * (16 * 1024 * 1024 + 1)], ids=["latin", "large"])
def test_what_cannot_be_read_whole_is_not_printed_fixed(kbp: Kbp, top: Path, data: bytes) -> None:
    result = kbp("lint", "--fix", "-", "--stdin-filename", "commands/x.md", cwd=top, stdin=data)
    assert (result.code, result.out) == (2, "")


def test_a_link_is_fixed_where_it_leads_and_stays_a_link(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "common/hint.md": HINT})
    (top / "commands").mkdir()
    (top / "commands/hint.md").symlink_to("../common/hint.md")
    kbp("lint", "--fix", cwd=top)
    assert (top / "commands/hint.md").is_symlink()
    assert (top / "common/hint.md").read_text() == HINT_FIXED


def test_ignores_are_added_and_hide_what_is_there_now(kbp: Kbp, top: Path) -> None:
    (top / "commands/bare.md").write_text("Go $1.\n")
    result = kbp("lint", "--add-ignores", cwd=top)
    assert (top / "commands/hint.md").read_text() == HINT.replace("---\nd", "---\n# kbp: ignore[unquoted-hint]\nd", 1)
    assert (top / "commands/good.md").read_text() == GOOD
    assert (top / "commands/bare.md").read_text() == "Go $1.\n"
    assert "commands/bare.md:1:" in result.out
    assert "commands/hint.md" not in result.out
    left = json.loads(kbp("lint", "-f", "json", cwd=top).out)["diagnostics"]
    assert {each["path"] for each in left} == {"commands/bare.md"}


# What is reported


def test_a_baseline_hides_what_it_knows_whatever_lines_are_added(kbp: Kbp, top: Path) -> None:
    written = kbp("lint", "--write-baseline", "known.json", cwd=top)
    assert (written.code, written.out) == (0, "")
    assert {each["rule"] for each in json.loads((top / "known.json").read_text())["findings"]} == {
        "unquoted-hint",
        "amount-or-code",
    }
    (top / "commands/price.md").write_text(PRICE.replace("It costs", "One\n\ntwo\n\nIt costs"))
    assert kbp("lint", "--baseline", "known.json", "--strict", cwd=top).code == 0
    assert kbp("lint", "--baseline", "../known.json", "--strict", cwd=top / "commands").code == 0
    (top / "commands/price.md").write_text(PRICE.replace("It costs", "It costs $7.00 or"))
    again = kbp("lint", "--baseline", "known.json", "--strict", cwd=top)
    assert again.code == 1
    assert again.out.count("[amount-or-code]") == 1
    (top / "kbp.toml").write_text('[lint]\nbaseline = "known.json"\n')
    (top / "commands/hint.md").write_text(GOOD)
    third = kbp("lint", cwd=top)
    assert "1 finding of the baseline no longer there: --write-baseline renews it.\n" in third.err


def test_a_baseline_keeps_what_a_run_over_a_part_did_not_look_at(kbp: Kbp, top: Path) -> None:
    kbp("lint", "--write-baseline", "known.json", cwd=top)
    whole = (top / "known.json").read_text()
    for part in (["commands/hint.md"], ["--select", "secret"], ["commands/good.md"]):
        assert "no longer there" not in kbp("lint", "--baseline", "known.json", *part, cwd=top).err
    again = kbp("lint", "--write-baseline", "known.json", "commands/hint.md", cwd=top)
    assert again.err.startswith("Wrote 1 finding to known.json, and kept 1 finding of what was not looked at.\n")
    assert json.loads(whole)["findings"] == sorted(
        json.loads((top / "known.json").read_text())["findings"], key=lambda each: str(each["path"])
    )
    (top / "commands/hint.md").write_text(GOOD)
    told = kbp("lint", "--baseline", "known.json", "commands/hint.md", cwd=top).err
    assert "1 finding of the baseline no longer there" in told


BASELINES = [
    (None, "the baseline known.json: no such file or directory"),
    ("{", "known.json is no baseline: write one with --write-baseline"),
    ('{"version": 2}', "known.json is a baseline of version 2, which this kbp does not know"),
    ("[" * 100_000, "known.json is no baseline: write one with --write-baseline"),
]


@pytest.mark.parametrize(("text", "fault"), BASELINES, ids=range(len(BASELINES)))
def test_a_baseline_that_cannot_be_used_ends_with_2(kbp: Kbp, top: Path, text: str | None, fault: str) -> None:
    if text is not None:
        (top / "known.json").write_text(text)
    result = kbp("lint", "--baseline", "known.json", cwd=top)
    assert (result.code, result.out, result.err) == (2, "", f"error: {fault}\n")


def test_findings_are_written_to_files_beside_the_log(kbp: Kbp, top: Path) -> None:
    result = kbp("lint", "--output", "json=a.json", "--output", "gitlab=b.json", "-f", "concise", cwd=top)
    assert len(result.out.splitlines()) == 2
    assert len(json.loads((top / "a.json").read_text())["diagnostics"]) == 2
    assert len(json.loads((top / "b.json").read_text())) == 2
    for wrong, fault in {
        "a.json": "write it as --output FORMAT=FILE",
        "jsn=x": "there is no 'jsn'; did you mean 'json'?",
        "json=no/x": "no/x: no such file or directory",
    }.items():
        told = kbp("lint", "--output", wrong, cwd=top)
        assert told.code == 2
        assert fault in told.err


def test_findings_are_counted(kbp: Kbp, top: Path) -> None:
    assert kbp("lint", "--statistics", cwd=top).out == "1  warning  amount-or-code *\n1  error    unquoted-hint *\n"
    counts = json.loads(kbp("lint", "--statistics", "-f", "json", cwd=top).out)
    assert counts[0] == {"rule": "amount-or-code", "severity": "warning", "count": 1}


def test_files_are_shown_and_not_looked_at(kbp: Kbp, top: Path) -> None:
    result = kbp("lint", "--show-files", cwd=top)
    assert (result.code, result.out.split()) == (0, ["commands/good.md", "commands/hint.md", "commands/price.md"])


def test_exit_codes(kbp: Kbp, top: Path) -> None:
    assert kbp("lint", "--exit-zero", cwd=top).code == 0
    assert kbp("lint", "--exit-zero", "nowhere", cwd=top).code == 2
    assert kbp("lint", "commands/price.md", cwd=top).code == 0
    assert kbp("lint", "--strict", "commands/price.md", cwd=top).code == 1


def test_exit_zero_turns_every_1_into_0(kbp: Kbp, top: Path) -> None:
    assert kbp("lint", "--diff", "--exit-zero", cwd=top).code == 0
    assert kbp("lint", "--fix", "--exit-non-zero-on-fix", "--exit-zero", cwd=top).code == 0


def test_a_path_that_looks_like_a_command_of_github_is_none(
    kbp: Kbp, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    top = tree({"kbp.toml": "", "::stop-commands::x/commands/q.md": HINT})
    lines = kbp("lint", ".", cwd=top).out.splitlines()
    assert [line.split("::")[1][:6] for line in lines if line.startswith("::")] == ["error "]
    assert lines[0].startswith("./::stop-commands::x/commands/q.md:3:16: error[unquoted-hint]")


def test_what_fails_to_be_written_keeps_nothing_else_from_it(kbp: Kbp, top: Path) -> None:
    result = kbp("lint", "--output", "json=no/x", "--output", "gitlab=b.json", cwd=top)
    assert result.code == 2
    assert (top / "b.json").exists()
    assert "error[unquoted-hint]" in result.out


def test_github_gets_annotations_beside_the_text_unless_a_format_is_asked_for(
    kbp: Kbp, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(top.parent))
    (top / "commands/many.md").write_text("---\ndescription: d\n---\n" + "$5.00\n" * 12)
    result = kbp("lint", cwd=top)
    assert "commands/hint.md:3:16: error[unquoted-hint]" in result.out
    annotations = [line for line in result.out.splitlines() if line.startswith("::")]
    assert annotations[0].startswith(f"::error file={top.name}/commands/hint.md,line=3,")
    assert len(annotations) == 14
    assert "GitHub shows 10 annotations of a kind: 3 are in this log alone.\n" in result.err
    assert "::" not in kbp("lint", "-f", "concise", cwd=top).out


WRONG = [
    (["--unsafe-fixes"], "--unsafe-fixes: give --fix or --diff too"),
    (["--exit-non-zero-on-fix"], "--exit-non-zero-on-fix: give --fix too"),
    (["--fix", "--add-ignores"], "--add-ignores does not go with --fix or --diff: do one after the other"),
    (["--statistics", "-f", "sarif"], "--statistics is printed as text, or as JSON with --format json"),
    (["--baseline", "a", "--write-baseline", "b"], "--baseline and --write-baseline: give one of them"),
    (["--select", "x"], "--select: there is no rule 'x'"),
    (["--select", " ,"], "--select: no rule is named"),
    (["--changed-since", ""], "--changed-since: no revision is named"),
    (["--diff", "--output", "json=x"], "--diff prints no findings: leave out --output"),
    (["--show-files", "-f", "json"], "--show-files prints no findings: leave out --format"),
    (["--output", "json=-"], "--output json=-: stdout has what --format says"),
    (["--output", "json=a", "--output", "sarif=./a"], "--output: two of them go to one file"),
]


@pytest.mark.parametrize(("options", "fault"), WRONG)
def test_options_that_do_not_go_together_are_told(kbp: Kbp, top: Path, options: list[str], fault: str) -> None:
    result = kbp("lint", *options, cwd=top)
    assert (result.code, result.out) == (2, "")
    assert f"error: {fault}\n" in result.err


# Which files are looked at


def changed(kbp: Kbp, top: Path, *options: str) -> tuple[list[str], Result]:
    result = kbp("lint", "-f", "json", *options, cwd=top)
    return sorted({each["path"] for each in json.loads(result.out)["diagnostics"]}), result


def test_only_what_changed_is_looked_at(kbp: Kbp, top: Path) -> None:
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "1")
    assert changed(kbp, top, "--changed")[0] == []
    assert changed(kbp, top, "--changed")[1].code == 0
    (top / "commands/price.md").write_text(PRICE + "More.\n")
    (top / "commands/new name.md").write_text(HINT)
    (top / "commands/x").mkdir()
    (top / "commands/x/good.md").write_text(GOOD)  # collides with one that did not change
    assert changed(kbp, top, "--changed")[0] == ["commands/new name.md", "commands/price.md", "commands/x/good.md"]
    git(top, "add", "-A")
    git(top, "commit", "-qm", "2")
    assert changed(kbp, top, "--changed")[0] == []
    paths, result = changed(kbp, top, "--changed-since", "HEAD~1")
    assert paths == ["commands/new name.md", "commands/price.md", "commands/x/good.md"]
    assert json.loads(result.out)["files"] == 3
    for since in ("nowhere", "--output=x"):
        assert kbp("lint", f"--changed-since={since}", cwd=top).code == 2
    assert not (top / "x").exists()


def test_without_a_commit_all_is_new(kbp: Kbp, top: Path) -> None:
    git(top, "init", "-q", "-b", "main")
    assert changed(kbp, top, "--changed")[0] == ["commands/hint.md", "commands/price.md"]
    git(top, "add", "commands/hint.md")
    assert changed(kbp, top, "--changed")[0] == ["commands/hint.md", "commands/price.md"]


def test_a_file_of_another_repository_cannot_be_asked_about(kbp: Kbp, top: Path) -> None:
    (top / "inner").mkdir()
    git(top / "inner", "init", "-q")
    result = kbp("lint", "--changed", "../commands", cwd=top / "inner")
    assert result.code == 2
    assert "--changed asks git about this repository" in result.err


def test_manifests_are_looked_at_with_their_folder_and_when_they_change(kbp: Kbp, tree: Tree) -> None:
    marketplace = '{"plugins": [{"name": "gone", "source": "./gone"}]}'
    top = tree({"kbp.toml": "", "commands/a.md": GOOD, ".claude-plugin/marketplace.json": '{"plugins": []}'})
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "1")
    (top / ".claude-plugin/marketplace.json").write_text(marketplace)
    assert changed(kbp, top, "--changed")[0] == [".claude-plugin/marketplace.json"]
    assert kbp("lint", cwd=top).code == 1
    assert kbp("lint", "commands/a.md", cwd=top).code == 0
    assert kbp("lint", "commands", cwd=top).code == 0
    (top / "kbp.toml").write_text('[lint.per-file-ignores]\n".claude-plugin/*" = ["manifest-path"]\n')
    assert kbp("lint", cwd=top).code == 0


def test_without_git_nothing_can_be_said_of_changes(kbp: Kbp, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(top.parent))
    result = kbp("lint", "--changed", cwd=top)
    assert (result.code, result.err) == (
        2,
        "error: --changed asks git, which says: not a git repository (or any of the parent directories): .git\n",
    )
    monkeypatch.setenv("PATH", str(top))
    assert kbp("lint", "--changed", cwd=top).err == "error: --changed asks git, and git is not there\n"


def test_ignored_files_that_are_named_are_left_out_when_asked_for(kbp: Kbp, top: Path) -> None:
    (top / ".kbpignore").write_text("hint.md\n")
    (top / "kbp.toml").write_text('exclude = ["commands/price.md"]\n')
    files = ["commands/good.md", "commands/hint.md", "commands/price.md"]
    assert kbp("lint", "--show-files", *files, cwd=top).out.split() == files
    assert kbp("lint", "--show-files", "--force-exclude", *files, cwd=top).out.split() == files[:1]
    nothing = kbp("lint", "--force-exclude", files[1], cwd=top)
    assert nothing.code == 2
    empty = kbp("lint", "--force-exclude", "--allow-empty", files[1], cwd=top)
    assert (empty.code, empty.out) == (0, "")
