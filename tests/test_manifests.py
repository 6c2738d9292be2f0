from pathlib import Path, PurePosixPath

import pytest
from conftest import Tree

from kbp.manifests import Declared, ManifestFault, marketplace_plugins, plugin_commands


@pytest.mark.parametrize(
    ("commands", "declared", "not_declared"),
    [
        ('"./a.md"', ["a.md"], ["b.md"]),
        ('["./a.md", "./more"]', ["a.md", "more/x.md"], ["more/x/y.md", "more/x.txt"]),
        ('["./"]', ["a.md"], ["x/a.md"]),
        ('["../a.md", "/etc/b.md"]', [], ["a.md", "etc/b.md"]),
        ("[]", [], ["a.md"]),
    ],
)
def test_a_manifest_declares_files_and_folders(
    tree: Tree, commands: str, declared: list[str], not_declared: list[str]
) -> None:
    found = plugin_commands(tree({".claude-plugin/plugin.json": f'{{"commands": {commands}}}'}))
    assert found is not None
    assert [path for path in declared + not_declared if found.holds(PurePosixPath(path))] == declared


def test_without_commands_nothing_is_declared(tree: Tree) -> None:
    assert plugin_commands(tree({"plugin.json": "{}"})) is None
    assert plugin_commands(tree({}) / "nowhere") is None


@pytest.mark.parametrize("text", ["{", "[]", '{"commands": 3}', '{"commands": {"a": 1}}', "[" * 100_000, "\xff"])
def test_a_manifest_of_another_shape_is_a_fault_that_names_the_file(tree: Tree, text: str) -> None:
    with pytest.raises(ManifestFault) as fault:
        plugin_commands(tree({".claude-plugin/plugin.json": text.encode("latin-1")}))
    assert fault.value.path.name == "plugin.json"


def test_a_marketplace_names_plugins_by_relative_sources_only(tree: Tree) -> None:
    top = tree(
        {
            ".claude-plugin/marketplace.json": """{"plugins": [
                {"name": "a", "source": "./plugins/a", "commands": ["./x.md"]},
                {"name": "b", "source": "plugins/b"},
                {"name": "c", "source": {"source": "github", "repo": "o/r"}},
                {"name": "d", "source": "../d"},
                {"name": "e", "source": "./gone"},
                {"name": "f", "source": "https://example.com/f"},
                {"name": "i", "source": "./a\\u0000b"},
                {"name": "j", "source": "./\\ud800"},
                "g",
                {"name": "h"}]}""",
            "plugins/a/x.md": "",
            "plugins/b/y.md": "",
        }
    )
    found, passed = marketplace_plugins(top)
    assert [(plugin.folder, plugin.declared is not None) for plugin in found] == [
        (top / "plugins/a", True),
        (top / "plugins/b", False),
    ]
    assert [each.reason for each in passed] == [
        "plugin 'd': its source '../d' leads out of the marketplace",
        "plugin 'e': its source './gone' is not there",
        "plugin 'i': its source './a\\x00b' leads out of the marketplace",
        "plugin 'j': its source './\\ud800' leads out of the marketplace",
        "an entry of `plugins` is not an object",
        "plugin 'h' has no source",
        "the source of 2 plugins is elsewhere: nothing is fetched",
    ]


def test_an_entry_that_declares_its_commands_wrongly_is_a_fault_of_its_plugin_alone(tree: Tree) -> None:
    top = tree(
        {
            ".claude-plugin/marketplace.json": """{"plugins": [
                {"name": "a", "source": "./a", "commands": [1]},
                {"name": "b", "source": "./b", "commands": "./x.md"}]}""",
            "a/x.md": "",
            "b/x.md": "",
        }
    )
    found, passed = marketplace_plugins(top)
    assert [(plugin.folder.name, plugin.declared is not None) for plugin in found] == [("a", False), ("b", True)]
    assert [(each.reason, each.is_fault) for each in passed] == [
        ("plugin 'a': `commands` is neither a path nor a list of paths", True)
    ]


def test_thousands_of_commands_are_looked_up_in_no_time() -> None:
    declared = Declared(frozenset(PurePosixPath(f"c{n}.md") for n in range(50_000)), Path("plugin.json"))
    assert all(declared.holds(PurePosixPath(f"c{n}.md")) for n in range(50_000))


def test_declared_commands_that_lead_nowhere_or_out_are_told(tree: Tree) -> None:
    commands = '["./a.md", "./gone.md", "../up.md", "/abs.md"]'
    found = plugin_commands(tree({"plugin.json": f'{{"commands": {commands}}}', "a.md": ""}))
    assert found is not None
    assert [reason for _, reason in found.lost] == [
        "`commands` names './gone.md', which is not there",
        "`commands` names '../up.md', which leads out of the plugin",
        "`commands` names '/abs.md', which leads out of the plugin",
    ]


def test_a_source_that_links_out_of_the_marketplace_is_passed_over(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tree({".claude-plugin/marketplace.json": '{"plugins": [{"name": "a", "source": "./a"}]}'})
    (top / "a").symlink_to(tmp_path_factory.mktemp("outside"))
    assert marketplace_plugins(top)[0] == []
