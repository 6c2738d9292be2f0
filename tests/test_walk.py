import os
import subprocess
from pathlib import Path

import pytest
from conftest import Tree

from kbp.walk import Walk, link_fault


def files(walk: Walk) -> list[str]:
    return [path.relative_to(walk.top).as_posix() for path in walk.files]


def skipped(walk: Walk) -> list[tuple[str, str]]:
    return [(each.path.relative_to(walk.top).as_posix(), each.reason) for each in walk.skipped]


def test_files_are_sorted_and_hidden_ones_left_out_but_for_three_folders(tree: Tree) -> None:
    names = ["b.md", "a/z.md", "a/.h.md", ".git/x.md", ".hidden/x.md", ".github/g.md", ".claude/c.md", ".agents/a.md"]
    top = tree(dict.fromkeys(names, ""))
    assert files(Walk(top, top)) == [".agents/a.md", ".claude/c.md", ".github/g.md", "a/z.md", "b.md"]


def test_ignore_files_hold_for_what_is_below_them_the_nearest_first(tree: Tree) -> None:
    top = tree(
        {
            ".gitignore": "build/\n*.tmp.md\n",
            ".kbpignore": "drafts\n",
            "build/a.md": "",
            "drafts/a.md": "",
            "x.tmp.md": "",
            "sub/.gitignore": "!keep.tmp.md\n/only-here.md\n",
            "sub/keep.tmp.md": "",
            "sub/only-here.md": "",
            "sub/deep/only-here.md": "",
            "sub/other.tmp.md": "",
        }
    )
    assert files(Walk(top, top)) == ["sub/deep/only-here.md", "sub/keep.tmp.md"]


def test_ignore_files_of_the_repository_above_hold_too(tree: Tree) -> None:
    top = tree({".git/HEAD": "", ".gitignore": "*.secret.md\n", "prompts/a.md": "", "prompts/b.secret.md": ""})
    assert files(Walk(top / "prompts", top)) == ["a.md"]


def test_a_repository_within_another_has_its_own_ignore_files(tree: Tree) -> None:
    top = tree({".git/HEAD": "", ".gitignore": "*.md\n", "inner/.git/HEAD": "", "inner/prompts/a.md": ""})
    assert files(Walk(top / "inner", top)) == ["prompts/a.md"]
    assert files(Walk(top / "inner/prompts", top)) == ["a.md"]
    assert files(Walk(top, top)) == []


def test_more_links_to_one_folder_than_any_plugins_share_are_told(tree: Tree) -> None:
    top = tree({"real/a.md": ""})
    for n in range(25):
        (top / f"l{n:02}").symlink_to("real")
    walk = Walk(top, top)
    assert len(files(walk)) == 21
    assert skipped(walk)[0] == ("l20", f"more than 20 links lead to {top / 'real'}")
    assert len(walk.skipped) == 5


def test_an_ignored_folder_that_is_named_outright_is_walked(tree: Tree) -> None:
    top = tree({".git/HEAD": "", ".gitignore": "build/\n", "build/a.md": ""})
    assert files(Walk(top / "build", top)) == ["a.md"]


def test_a_line_that_is_no_pattern_is_told_and_the_others_hold(tree: Tree) -> None:
    top = tree({".gitignore": "!\nb.md\n[z-a]\n[a\n/\na\\\n", "a.md": "", "b.md": ""})
    walk = Walk(top, top)
    assert files(walk) == ["a.md"]
    assert skipped(walk) == [
        (".gitignore", "line 1 ignores nothing: it names nothing"),
        (".gitignore", "line 3 ignores nothing: a range that is none in [z-a]"),
        (".gitignore", "line 4 ignores nothing: a bracket that nothing closes"),
        (".gitignore", "line 5 ignores nothing: it names nothing"),
        (".gitignore", "line 6 ignores nothing: a backslash at its end"),
    ]


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("\ufeffa.md", ["b.md", "c1.md"]),
        ("a.md\r", ["b.md", "c1.md"]),
        ("x\fa.md", ["a.md", "b.md", "c1.md"]),
        ("[[:alpha:]].md", ["c1.md"]),
        ("[a-z][[:digit:]].md", ["a.md", "b.md"]),
        ("***.md", []),
        ("**/*.md", []),
        ("# a.md", ["a.md", "b.md", "c1.md"]),
    ],
)
def test_an_ignore_file_is_read_as_git_reads_it(tree: Tree, line: str, kept: list[str]) -> None:
    top = tree({".gitignore": f"{line}\n", "a.md": "", "b.md": "", "c1.md": ""})
    assert (files(Walk(top, top)), Walk(top, top).skipped) == (kept, [])


def test_an_ignore_file_that_is_a_pipe_or_a_folder_is_not_read(tree: Tree) -> None:
    top = tree({"a.md": "", "sub/.gitignore/x": ""})
    os.mkfifo(top / ".gitignore")
    assert files(Walk(top, top)) == ["a.md"]


def test_links_inside_the_root_are_followed(tree: Tree) -> None:
    top = tree({"real/a.md": "", "b.md": ""})
    (top / "link.md").symlink_to("b.md")
    (top / "folder").symlink_to("real")
    assert files(Walk(top, top)) == ["b.md", "folder/a.md", "link.md", "real/a.md"]


def test_links_that_lead_nowhere_in_a_loop_or_out_are_named(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tree({"a.md": ""})
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("secret")
    (top / "gone.md").symlink_to("nothing.md")
    (top / "out.md").symlink_to(outside / "secret.md")
    (top / "out").symlink_to(outside)
    (top / "self.md").symlink_to("self.md")
    (top / "up").symlink_to(".")
    walk = Walk(top, top)
    assert files(walk) == ["a.md"]
    assert skipped(walk) == [
        ("gone.md", "a symbolic link that leads nowhere (nothing.md)"),
        ("out", f"a symbolic link that leads out of the root ({outside})"),
        ("out.md", f"a symbolic link that leads out of the root ({outside}/secret.md)"),
        ("self.md", "a symbolic link in a loop"),
        ("up", "a symbolic link that leads back to a folder above it"),
    ]


def test_a_link_above_the_folder_that_is_walked_leads_back(tree: Tree) -> None:
    top = tree({"prompts/sub/a.md": ""})
    (top / "prompts/sub/out").symlink_to("../..")
    walk = Walk(top / "prompts", top)
    assert files(walk) == ["sub/a.md"]
    assert skipped(walk) == [("sub/out", "a symbolic link that leads back to a folder above it")]


def test_two_links_to_one_folder_are_both_followed_and_told(tree: Tree) -> None:
    top = tree({"common/a.md": "", "p/x.md": "", "q/y.md": ""})
    (top / "p/commands").symlink_to("../common")
    (top / "q/commands").symlink_to("../common")
    walk = Walk(top, top)
    assert files(walk) == ["common/a.md", "p/commands/a.md", "p/x.md", "q/commands/a.md", "q/y.md"]
    assert set(walk.links.items()) == {(top / p / "commands/a.md", top / "common/a.md") for p in ("p", "q")}


def test_a_link_that_goes_away_while_it_is_named_is_no_trouble(tmp_path: Path) -> None:
    assert link_fault(str(tmp_path / "never-there.md"), tmp_path) == "a symbolic link that leads nowhere (it is gone)"


def test_folders_that_link_to_one_another_end(tree: Tree) -> None:
    top = tree({f"d{n}/a.md": "" for n in range(8)})
    for n in range(8):
        for m in range(8):
            if n != m:
                (top / f"d{n}" / f"to{m}").symlink_to(f"../d{m}")
    walk = Walk(top, top)
    assert {f"d{n}/a.md" for n in range(8)} <= set(files(walk))
    assert len(walk.folders) < 200


def test_a_folder_deeper_than_recursion_goes_is_walked(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    try:
        assert len(Walk(tmp_path, tmp_path).folders) > 1000
    finally:  # Python's own clean-up recurses
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)
