from pathlib import Path

import pytest
from conftest import BROKEN, LIBRARY, Tree

from kbp.library import load_all
from kbp.search import Search, find_beside, find_in_project, find_in_user_folders, find_paths


def found(search: Search, top: Path) -> list[str]:
    return sorted(str(place.path.relative_to(top)) for place in search.places)


def in_project(top: Path) -> Search:
    search = Search()
    find_in_project(top, search)
    return search


def by_paths(*paths: str | Path) -> Search:
    search = Search()
    assert find_paths(map(str, paths), None, search) == []
    return search


def test_a_project_keeps_prompts_in_four_places(tree: Tree) -> None:
    wanted = [
        "prompts/a.md",
        "prompts/x/b.md",
        ".github/prompts/c.prompt.md",
        "commands/d/e.md",
        ".claude/commands/f/g.md",
    ]
    others = [
        "a.md",
        "docs/prompts/a.md",
        ".github/prompts/x/c.prompt.md",
        ".github/prompts/c.md",
        ".claude/x.md",
        "prompts/a.txt",
    ]
    top = tree(dict.fromkeys([*wanted, *others], ""))
    assert found(in_project(top), top) == sorted(wanted)


def test_every_plugin_of_a_checkout_is_searched_by_manifest_and_by_marketplace(tree: Tree) -> None:
    top = tree(
        {
            ".claude-plugin/marketplace.json": '{"plugins": [{"name": "m", "source": "./m"},'
            ' {"name": "n", "source": "./n", "commands": ["./own.md"]}]}',
            "m/commands/a.md": "",
            "m/docs/commands/b.md": "",
            "n/own.md": "",
            "n/commands/c.md": "",
            "deep/er/p/.claude-plugin/plugin.json": '{"commands": ["./cmds"]}',
            "deep/er/p/cmds/d.md": "",
            "deep/er/p/commands/e.md": "",
            "q/plugin.json": '{"commands": ["./x"]}',
            "q/x/f.md": "",
        }
    )
    search = in_project(top)
    assert found(search, top) == ["deep/er/p/cmds/d.md", "m/commands/a.md", "n/own.md"]
    assert {str(place.relative): place.declared for place in search.places} == {
        "cmds/d.md": True,
        "commands/a.md": False,
        "own.md": True,
    }


def test_a_manifest_that_cannot_be_used_is_told_and_the_rest_found(tree: Tree) -> None:
    top = tree({"p/.claude-plugin/plugin.json": "{", "p/commands/a.md": "", "commands/b.md": ""})
    search = in_project(top)
    assert found(search, top) == ["commands/b.md", "p/commands/a.md"]
    (skipped,) = search.skipped
    assert (skipped.path.name, skipped.is_fault) == ("plugin.json", True)
    assert skipped.reason.startswith("not JSON: ")


def test_the_library_of_the_tests_is_found_whole() -> None:
    assert len(in_project(LIBRARY).places) == 29


def test_a_folder_that_is_no_project_is_searched_in_its_four_places_only(tree: Tree) -> None:
    top = tree(
        {"prompts/a.md": "", "x/.claude-plugin/plugin.json": "{}", "x/commands/b.md": "", ".claude/commands/c.md": ""}
    )
    search = Search()
    find_beside(top, search)
    assert found(search, top) == [".claude/commands/c.md", "prompts/a.md"]


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        (".", ["deep/commands/b.md", "deep/prompts/x/c.md", "notes/d.prompt.md", "q/own.md"]),
        ("deep/prompts", ["deep/prompts/x/c.md"]),
        ("deep/prompts/x", ["deep/prompts/x/c.md"]),
        ("notes", ["notes/d.prompt.md"]),
        ("q", ["q/own.md"]),
        ("plain", ["plain/e.md"]),
    ],
)
def test_a_named_folder_is_searched_at_any_depth(tree: Tree, named: str, wanted: list[str]) -> None:
    files = [
        "a.md",
        "deep/commands/b.md",
        "deep/prompts/x/c.md",
        "notes/d.prompt.md",
        "notes/n.md",
        "plain/e.md",
        "q/own.md",
        "q/z.md",
    ]
    top = tree({"kbp.toml": "", "q/.claude-plugin/plugin.json": '{"commands": "./own.md"}', **dict.fromkeys(files, "")})
    assert found(by_paths(top / named), top) == wanted


def test_a_folder_without_prompt_folders_is_taken_whole_and_said_so(tree: Tree) -> None:
    top = tree({"kbp.toml": "", "plain/e.md": ""})
    assert "every .md file below it is taken" in by_paths(top / "plain").notes[0]


def test_a_folder_below_a_plugin_keeps_what_the_manifest_above_declares() -> None:
    search = by_paths(LIBRARY / "plugins/writing/short")
    assert [(str(place.relative), place.declared) for place in search.places] == [
        ("short/subject.md", True),
        ("short/summary.md", True),
    ]


def test_what_a_marketplace_above_the_root_says_counts_however_a_file_is_named(tree: Tree) -> None:
    top = tree(
        {
            ".claude-plugin/marketplace.json": """{"plugins": [
                {"name": "r", "source": "./repo", "commands": ["./tasks"]}]}""",
            "repo/.git/HEAD": "",
            "repo/tasks/t.md": "",
            "repo/commands/c.md": "",
        }
    )
    repo = top / "repo"
    assert found(in_project(repo), repo) == ["tasks/t.md"]
    (place,) = by_paths(repo / "tasks/t.md").places
    assert (place.declared, place.root) == (True, repo)
    broken = tree({".claude-plugin/marketplace.json": "{"})
    for search in (in_project(broken / "repo"), by_paths(broken / "repo"), by_paths(broken / "repo/tasks/t.md")):
        assert [each.is_fault for each in search.skipped] == [True]


def test_a_file_named_outright_knows_its_root_and_what_declares_it() -> None:
    (place,) = by_paths(LIBRARY / "plugins/writing/drafts/outline.md").places
    assert (place.root, place.declared, place.outright) == (LIBRARY / "plugins/writing", True, True)
    (place,) = by_paths(BROKEN / "commands/ask.md").places
    assert (place.root, place.declared) == (BROKEN, False)


def test_a_file_below_no_mark_is_relative_to_the_parent_of_its_folder(tree: Tree) -> None:
    (place,) = by_paths(tree({"x/commands/a.md": ""}) / "x/commands/a.md").places
    assert str(place.relative) == "commands/a.md"


def test_globs_are_expanded_and_a_file_is_taken_once(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"kbp.toml": "", "a/commands/x.md": "", "b/commands/y.md": "", "b/commands/z.txt": "", "[odd].md": ""})
    monkeypatch.chdir(top)
    assert found(by_paths("*/commands/*.md", "a/commands/x.md"), top) == ["a/commands/x.md", "b/commands/y.md"]
    assert found(by_paths("[odd].md"), top) == ["[odd].md"]


def test_a_glob_takes_folders_as_a_shell_would(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"kbp.toml": "", "a/commands/x.md": "", "b/prompts/y.md": "", "b/z.md": ""})
    monkeypatch.chdir(top)
    assert found(by_paths("[ab]"), top) == ["a/commands/x.md", "b/prompts/y.md"]


def test_a_given_root_changes_paths_and_not_what_a_plugin_is(tree: Tree) -> None:
    top = tree(
        {
            "p/.claude-plugin/plugin.json": '{"commands": ["./cmds"]}',
            "p/cmds/x.md": "",
            "q/.claude-plugin/plugin.json": "{}",
            "q/commands/x.md": "",
        }
    )
    searches = [Search(), Search()]
    find_in_project(top, searches[0], given_root=top)
    assert find_paths([str(top / "p"), str(top / "q")], top, searches[1]) == []
    for search in searches:
        assert [(str(place.relative), place.unit, place.declared) for place in search.places] == [
            ("p/cmds/x.md", top / "p", True),
            ("q/commands/x.md", top / "q", False),
        ]
        assert load_all(search).collisions() == []


def test_a_named_folder_without_a_mark_above_follows_links_into_its_parent(tree: Tree) -> None:
    top = tree({"common/x.md": "", "prompts/y.md": ""})
    (top / "prompts/x.md").symlink_to("../common/x.md")
    assert found(by_paths(top / "prompts"), top) == ["prompts/x.md", "prompts/y.md"]


def test_a_named_folder_that_lies_in_a_prompts_folder_is_taken_whole(tree: Tree) -> None:
    top = tree({"prompts/sub/n.md": "", "prompts/sub/commands/z.md": ""})
    assert found(by_paths(top / "prompts/sub"), top) == ["prompts/sub/commands/z.md", "prompts/sub/n.md"]


def test_a_glob_follows_no_link_out_of_the_root_and_names_those_it_does_not_follow(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tree({"kbp.toml": "", "prompts/a.md": ""})
    for name, target in (("out.md", "/etc/hostname"), ("loop.md", "loop.md"), ("gone.md", "no.md")):
        (top / "prompts" / name).symlink_to(target)
    monkeypatch.chdir(top)
    search = by_paths("prompts/*.md")
    assert found(search, top) == ["prompts/a.md"]
    assert [skipped.path.name for skipped in search.skipped] == ["gone.md", "loop.md", "out.md"]
    assert found(by_paths("prompts/out.md"), top) == ["prompts/out.md"]


def test_a_file_and_a_link_to_it_are_one_prompt_and_another_one_in_another_plugin_or_dialect(tree: Tree) -> None:
    top = tree(
        {
            ".git/HEAD": "",
            "commands/a.md": "",
            "prompts/b.prompt.md": "",
            "common/c.md": "",
            "p/.claude-plugin/plugin.json": "{}",
            "q/.claude-plugin/plugin.json": "{}",
        }
    )
    (top / ".claude").mkdir()
    (top / ".claude/commands").symlink_to("../commands")
    (top / "commands/b.md").symlink_to("../prompts/b.prompt.md")
    (top / "prompts/a.md").symlink_to("../commands/a.md")
    (top / "commands/z.md").symlink_to("a.md")
    for plugin in ("p", "q"):
        (top / plugin / "commands").symlink_to("../common")
    places = [
        ".claude/commands/b.md",  # a link both ways: the first path stands
        ".claude/commands/z.md",  # another name than a.md
        "commands/a.md",
        "p/commands/c.md",
        "prompts/a.md",  # another dialect
        "prompts/b.prompt.md",
        "q/commands/c.md",
    ]
    assert sorted(found(in_project(top), top)) == places
    assert sorted(found(by_paths(top), top)) == places


def test_a_link_up_in_a_named_folder_counts_no_file_twice(tree: Tree) -> None:
    top = tree({"prompts/a.md": "", "prompts/sub/b.md": ""})
    (top / "prompts/sub/out").symlink_to("../..")
    assert found(by_paths(top / "prompts"), top) == ["prompts/a.md", "prompts/sub/b.md"]
    assert found(by_paths(top), top) == ["prompts/a.md", "prompts/sub/b.md"]


def test_a_folder_that_is_no_project_links_out_to_nothing(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "prompts").mkdir()
    (outside / "prompts/secret.md").write_text("secret")
    top = tree({"prompts/a.md": ""})
    (top / ".github").symlink_to(outside)
    (top / "commands").symlink_to(outside / "prompts")
    search = Search()
    find_beside(top, search)
    assert found(search, top) == ["prompts/a.md"]
    assert {(str(each.path.relative_to(top)), each.reason) for each in search.skipped} == {
        (".github/prompts", f"a symbolic link that leads out of the root ({outside}/prompts)"),
        ("commands", f"a symbolic link that leads out of the root ({outside}/prompts)"),
    }


def test_a_marketplace_that_names_one_folder_thousands_of_times_costs_little(tree: Tree) -> None:
    entries = ", ".join(['{"name": "p", "source": "./"}'] * 5000)
    top = tree({".claude-plugin/marketplace.json": f'{{"plugins": [{entries}]}}'})
    (top / "prompts").mkdir()
    for n in range(500):
        (top / f"prompts/{n}.md").touch()
    assert len(by_paths(top).places) == len(in_project(top).places) == 500


def test_commands_that_a_manifest_declares_and_that_are_not_there_are_told(tree: Tree) -> None:
    top = tree({"p/.claude-plugin/plugin.json": '{"commands": ["./gone.md"]}', "p/x.md": "", "commands/b.md": ""})
    assert [each.reason for each in in_project(top).skipped] == ["`commands` names './gone.md', which is not there"]


def test_all_paths_that_name_nothing_are_told_at_once(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"debug.md": ""})
    (top / "gone.md").symlink_to("nothing.md")
    monkeypatch.chdir(top)
    assert find_paths(["debgu.md", "*.txt", "gone.md", "debug.md/x"], None, Search()) == [
        "there is no file or folder 'debgu.md'; did you mean 'debug.md'?",
        "nothing matches '*.txt'",
        "gone.md is a symbolic link that leads nowhere (nothing.md)",
        "there is no file or folder 'debug.md/x'",
    ]


def test_the_users_own_folders(tree: Tree, home: Path) -> None:
    for name in (
        ".claude/commands/a.md",
        "config/Code/User/prompts/b.prompt.md",
        "config/Code/User/prompts/b.instructions.md",
        "config/kbp/prompts/c.md",
    ):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    search = Search(level=3)
    find_in_user_folders(search)
    assert found(search, home) == [
        ".claude/commands/a.md",
        "config/Code/User/prompts/b.prompt.md",
        "config/kbp/prompts/c.md",
    ]
    assert {place.level for place in search.places} == {3}
    assert "commands/a.md" in {str(place.relative) for place in search.places}
