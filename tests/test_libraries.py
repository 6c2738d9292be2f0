"""Libraries: the file that declares them, and what they serve."""

import json
from pathlib import Path

import pytest
from conftest import Kbp, Tree

from kbp.configuration import Wrong
from kbp.libraries.file import load
from kbp.libraries.served import Served, serve

KB = "---\ndescription: d\n---\nhi\n"
SMALLEST = """plugins:
- name: ops
  source: file://{top}/ops-prompts
libraries:
- name: ops
  plugins: [ops]
"""


def served(tree: Tree, config: str, files: dict[str, str | bytes]) -> tuple[Served, ...]:
    top = tree(files)
    (top / "libraries.yaml").write_text(config.replace("{top}", str(top)))
    return serve(load(top / "libraries.yaml"))


def names(library: Served) -> list[str]:
    return sorted(file.name for plugin in library.plugins for file in plugin.prompts.served)


def test_the_smallest_one(tree: Tree) -> None:
    (library,) = served(tree, SMALLEST, {"ops-prompts/prompts/debug.md": KB, "ops-prompts/README.md": KB})
    assert names(library) == ["ops_debug"]


TWO = """plugins:
- {name: a, source: a, category: ops, tags: [x], keywords: [k]}
- {name: b, source: ./b, category: dev, tags: [x, y]}
- {name: c, source: c, prompts: ["tasks/**"], dialect: claude}
- {name: none, source: a, prompts: []}
libraries:
- {name: all, plugins: [a, b, c, none]}
- {name: ops, pluginSelector: {categories: [ops]}}
- {name: xs, pluginSelector: {tags: [x]}}
- {name: dev-xs, pluginSelector: {tags: [x, q], categories: [dev]}}
- {name: ks, pluginSelector: {tags: [k, nothing]}}
"""
FILES: dict[str, str | bytes] = {
    "a/prompts/one.md": KB,
    "b/commands/two.md": "hi $ARGUMENTS\n",
    "c/tasks/three.md": "---\ndescription: d\n---\nhi $0\n",
    "c/prompts/other.md": KB,
}


def test_plugins_are_named_or_selected(tree: Tree) -> None:
    found = {library.name: names(library) for library in served(tree, TWO, FILES)}
    assert found == {
        "all": ["all_one", "all_three", "all_two"],
        "ops": ["ops_one"],
        "xs": ["xs_one", "xs_two"],
        "dev-xs": ["dev-xs_two"],
        "ks": ["ks_one"],
    }


def test_the_dialect_of_a_plugin_holds(tree: Tree) -> None:
    library = served(tree, TWO, FILES)[0]
    dialects = {file.name: file.dialect.name for file in library.files if file.dialect}
    assert dialects == {"all_one": "kb", "all_two": "claude", "all_three": "claude"}


def test_a_plugin_with_a_name_that_is_taken_is_left_out_whole(tree: Tree) -> None:
    files: dict[str, str | bytes] = {
        "a/prompts/x.md": KB,
        "b/prompts/x.md": KB,
        "b/prompts/y.md": KB,
        "c/prompts/y.md": KB,
    }
    config = """plugins: [{name: a, source: a}, {name: b, source: b}, {name: c, source: c}]
libraries: [{name: l, plugins: [a, b, c]}]
"""
    (library,) = served(tree, config, files)
    assert names(library) == ["l_x", "l_y"]
    assert [plugin.id for plugin in library.plugins] == ["a", "c"]
    assert library.conflicts == ("plugin b is left out with 2 prompts: a serves `l_x` already",)


MARKET = {
    "plugins": [
        {"name": "one", "source": "./one", "category": "ops", "tags": ["t"]},
        {"name": "two", "source": "./two", "commands": ["./run"]},
        {"name": "loose", "source": "./one", "strict": False},
        {"name": "far", "source": {"source": "github", "repo": "a/b"}},
        {"name": "a@b", "source": "./one"},
        {"name": "gone", "source": "./gone"},
        {"name": "out", "source": "../.."},
    ]
}


def test_a_marketplace_is_a_library(tree: Tree) -> None:
    files: dict[str, str | bytes] = {
        "m/.claude-plugin/marketplace.json": json.dumps(MARKET),
        "m/one/.claude-plugin/plugin.json": '{"keywords": ["k"], "commands": "./special.md"}',
        "m/one/special.md": KB,
        "m/one/commands/hidden.md": KB,
        "m/two/run/go.md": KB,
        "m/two/plugin.json": '{"commands": []}',
    }
    config = """libraries:
- {name: m, source: m}
- {name: l, plugins: [one@m, none@m, x@nothing]}
"""
    market, other = served(tree, config, files)
    assert names(market) == ["m_go", "m_special"]
    assert [plugin.id for plugin in market.plugins] == ["one@m", "two@m"]
    assert names(other) == ["l_special"]
    said = "\n".join(f"{left.path}: {left.reason}" for left in market.passed)
    for each in ("strict", "nothing is fetched", "'a@b': this is no name", "'./gone' is not there", "leads out of"):
        assert each in said
    assert [(left.path, left.reason) for left in other.passed] == [
        ("none@m", "the marketplace of m has no none"),
        ("x@nothing", "there is no library nothing with a marketplace"),
    ]


ELSEWHERE = """sources:
- {name: hub, url: "git+https://example.test", auth: {username: u, password: {env: P}}, cache: live, refresh: 5m}
plugins:
- {name: far, source: "hub://team/repo//folder?ref=main"}
- {name: gone, source: "file:///nowhere/at/all"}
- {name: odd, source: odd}
libraries:
- {name: l, plugins: [far, gone, odd]}
- {name: m, source: "hub://team/market"}
- {name: n, source: empty}
"""


def test_what_lies_elsewhere_is_never_fetched(tree: Tree) -> None:
    files: dict[str, str | bytes] = {"odd/plugin.json": '{"commands": 5}', "empty/x": ""}
    first, m, n = served(tree, ELSEWHERE, files)
    far, gone, odd = first.passed
    assert (far.path, far.reason) == (
        "far",
        "hub://team/repo//folder?ref=main is not read here: nothing is fetched",
    )
    assert (gone.path, gone.reason) == ("gone", "there is no folder file:///nowhere/at/all")
    assert "`commands` is neither a path nor a list of paths" in odd.reason
    assert [left.is_fault for left in first.passed] == [False, True, True]
    assert [(plugin.id, plugin.error is None) for plugin in first.plugins] == [("gone", False), ("odd", False)]
    assert [(left.path, left.is_fault) for left in (*m.passed, *n.passed)] == [
        ("hub://team/market", False),
        ("empty", True),
    ]


def test_a_plugin_that_cannot_be_read_any_more_keeps_its_prompts_and_its_names(tree: Tree) -> None:
    files: dict[str, str | bytes] = {"a/prompts/x.md": KB, "b/prompts/x.md": KB, "b/prompts/y.md": KB}
    config = """plugins: [{name: a, source: a}, {name: b, source: b}]
libraries: [{name: l, plugins: [a, b]}]
"""
    before = served(tree, config, files)
    top = tree({})
    (top / "a").rename(top / "gone")
    declared = load(top / "libraries.yaml")
    (after,) = serve(declared, before=before)
    assert names(after) == ["l_x"]
    assert [plugin.error is None for plugin in after.plugins] == [False]
    (without,) = serve(declared)
    assert names(without) == ["l_x", "l_y"]


def test_a_plugin_without_prompts_is_told(tree: Tree) -> None:
    (library,) = served(tree, SMALLEST, {"ops-prompts/rotate.md": KB})
    (left,) = library.plugins[0].skipped()
    assert "there are no prompts in it" in left.reason
    assert left.is_fault


FAULTY = [
    ("[]\n", ["1: the file is no mapping"]),
    ("plugin: []\n", ["1: the file knows no key `plugin`; it has sources, plugins, libraries"]),
    ("plugins: {}\n", ["1: `plugins` is no list"]),
    ("plugins: [5]\n", ["1: an entry of plugins is no mapping"]),
    ("plugins: [x, y]\n", ["1: an entry of plugins is no mapping"]),
    ("plugins: [{}, {}]\n", ["1: an entry of plugins needs name, source"]),
    ("plugins:\n- {name: a}\n", ["2: an entry of plugins needs source"]),
    ("plugins:\n- {name: A_b, source: x}\n", ["2: plugins: 'A_b' is no name"]),
    ("plugins:\n- {name: a, source: x}\n- {name: a, source: y}\n", ["3: plugins: 'a' is there twice"]),
    ("plugins:\n- {name: a, source: x, colour: red}\n", ["2: an entry of plugins knows no key `colour`"]),
    ("plugins:\n- {name: a, source: x, dialect: kb2}\n", ["2: `dialect` is one of auto, mcp-kb, claude, copilot"]),
    ("plugins:\n- {name: a, source: x, prompts: [/x, '../y', '']}\n", ["'/x' is no pattern", "'../y'", "'' is no"]),
    ("plugins:\n- {name: a, source: x, tags: t}\n", ["2: `tags` is no list"]),
    ("plugins:\n- {name: a, source: 'hub://x'}\n", ["there is no source 'hub'"]),
    ("plugins:\n- {name: a, source: 'file://x'}\n", ["a path behind file:// is absolute"]),
    ("plugins:\n- {name: a, source: 'file:///x?ref=y'}\n", ["a file has no `?ref=`"]),
    ("plugins:\n- {name: a, source: 'file:///x/../y'}\n", ["it leads out of its source"]),
    ("libraries:\n- {name: l}\n", ["2: a library has a `source`, `plugins` or a `pluginSelector`"]),
    ("libraries:\n- {name: l, plugins: [a]}\n", ["library 'l': there is no plugin 'a'"]),
    ("libraries:\n- {name: l, pluginSelector: {}}\n", ["2: `pluginSelector` has `categories` or `tags`"]),
    ("libraries:\n- {name: l, source: x, pluginSelector: {tags: [a]}}\n", ["not both"]),
    ("sources:\n- {name: file, url: 'file:///x'}\n", ["`file` is the name of files of this machine"]),
    ("sources:\n- {name: s, url: 'ftp://x'}\n", ["the url starts with one of git+https"]),
    ("sources:\n- {name: s, url: 'git+https://u:p@x'}\n", ["a url has no credentials"]),
    (
        "sources:\n- {name: s, url: 'git+https://x', refresh: soon, cache: never}\n",
        ["`refresh` is a time", "`cache` is"],
    ),
    ("plugins:\n- name: [a\n", ["not YAML"]),
    ("plugins: !!python/object:os.system x\n", ["1:"]),
    ("[" * 500 + "]" * 500, ["nested too deep"]),
]


@pytest.mark.parametrize(("text", "said"), FAULTY)
def test_all_faults_of_a_file_are_told_with_their_lines(text: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "l.yaml").write_text(text)
    with pytest.raises(Wrong) as raised:
        load(tmp_path / "l.yaml")
    told = "\n".join(raised.value.faults)
    for each in said:
        assert each in told
    assert str(tmp_path / "l.yaml") in told


def test_an_empty_file_declares_nothing(tmp_path: Path) -> None:
    (tmp_path / "l.yaml").write_text("# nothing\n")
    assert load(tmp_path / "l.yaml").libraries == ()
    with pytest.raises(Wrong, match="no such file"):
        load(tmp_path / "none.yaml")


def test_the_commands_take_libraries(kbp: Kbp, tree: Tree) -> None:
    top = tree({**FILES, "libraries.yaml": TWO, "prompts/mine.md": KB})
    listed = kbp("list", "--library-config", "libraries.yaml", "--format", "names", cwd=top)
    assert set(listed.out.split()) >= {"all_one", "all_three", "xs_one", "ops_one"}
    assert "mine" not in listed.out
    assert kbp("render", "all_two", "--library-config", "libraries.yaml", "x", cwd=top).out == "hi x\n"
    assert kbp("render", "all_one", "--library-config", "libraries.yaml", cwd=top).out == "hi\n"
    wrong = kbp("list", "--library-config", "libraries.yaml", "-p", ".", cwd=top)
    assert (wrong.code, wrong.out) == (2, "")
    (top / "libraries.yaml").write_text("plugin: []\nlibrary: []\n")
    wrong = kbp("list", "--library-config", "libraries.yaml", cwd=top)
    assert (wrong.code, wrong.err.count("knows no key")) == (2, 2)


def test_what_libraries_do_not_serve_is_told(kbp: Kbp, tree: Tree) -> None:
    plugins = "plugins: [{name: a, source: a}, {name: b, source: a}, {name: c, source: c}]\n"
    config = plugins + "libraries: [{name: l, plugins: [a, b, c]}]\n"
    top = tree({"a/prompts/x.md": KB, "libraries.yaml": config})
    told = kbp("list", "--library-config", "libraries.yaml", cwd=top).err
    assert "warning: library l: plugin b is left out with 1 prompt: a serves `l_x` already" in told
    assert "note: library l: c: there is no folder c" in told


def test_hidden_folders_and_links_out_are_left_out(tree: Tree) -> None:
    files: dict[str, str | bytes] = {
        "ops-prompts/prompts/a.md": KB,
        "ops-prompts/prompts/.hidden/b.md": KB,
        "ops-prompts/.github/prompts/c.prompt.md": KB,
        "ops-prompts/.claude/commands/d.md": KB,
        "ops-prompts/.other/prompts/e.md": KB,
        "out/f.md": KB,
    }
    top = tree(files)
    (top / "ops-prompts/prompts/f.md").symlink_to(top / "out/f.md")
    (top / "ops-prompts/prompts/g.md").symlink_to("a.md")
    (library,) = served(tree, SMALLEST, files)
    assert names(library) == ["ops_a", "ops_c", "ops_d", "ops_g"]
    (left,) = library.plugins[0].skipped()
    assert (left.path, left.reason) == ("f.md", "a symbolic link that leads out of the root")


def test_two_files_of_one_name(tree: Tree) -> None:
    files: dict[str, str | bytes] = {
        "ops-prompts/prompts/b/x.md": "second\n",
        "ops-prompts/prompts/a/x.md": "first\n",
        "ops-prompts/commands/y.md": "y\n",
    }
    (library,) = served(tree, SMALLEST, files)
    assert [str(file.place.relative) for file in library.plugins[0].prompts.served] == [
        "prompts/a/x.md",
        "commands/y.md",
    ]
    (left,) = library.plugins[0].skipped()
    assert (left.path, left.reason) == ("prompts/b/x.md", "prompts/a/x.md serves `ops_x`")


TAGS = """plugins:
- {name: a, source: a, category: ops, tags: [x]}
libraries:
- {name: l, plugins: [a]}
- {name: market, source: .}
"""


def test_categories_and_labels_are_those_of_configuration_entry_and_manifest(tree: Tree) -> None:
    entry = {"name": "b", "source": "./b", "category": "dev", "tags": ["t"], "keywords": ["k"]}
    files: dict[str, str | bytes] = {
        "a/prompts/one.md": KB,
        "a/.claude-plugin/plugin.json": '{"keywords": ["m"]}',
        "b/commands/two.md": KB,
        "b/plugin.json": '{"keywords": ["n"], "tags": 5}',
        ".claude-plugin/marketplace.json": json.dumps({"plugins": [entry]}),
    }
    plugins = [plugin for library in served(tree, TAGS, files) for plugin in library.plugins]
    found = {plugin.id: (plugin.category, sorted(plugin.labels)) for plugin in plugins}
    assert found == {"a": ("ops", ["m", "x"]), "b@market": ("dev", ["k", "n", "t"])}
