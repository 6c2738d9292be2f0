from pathlib import Path

import pytest
from conftest import LIBRARY, Tree

from kbp.files import Manner
from kbp.library import Library, NotFound, load_all
from kbp.model import PromptSource
from kbp.renderer import MissingArguments
from kbp.search import Search, find_in_project, find_in_user_folders

PROMPT = "---\ndescription: d\n---\nbody\n"


def library_of(top: Path, name: str | None = None) -> Library:
    search = Search()
    find_in_project(top, search)
    return load_all(search, lambda path: Manner(library=name))


def test_a_library_is_a_source_of_prompts() -> None:
    source: PromptSource = library_of(LIBRARY, "ops")
    assert "ops_debug" in [prompt.name for prompt in source.prompts()]
    (message,) = source.messages("ops_debug", {"app": "loki"})
    assert message.content["text"].startswith("Investigate the logs of **loki** over the last 1h.")
    with pytest.raises(MissingArguments):
        source.messages("ops_debug", {})


def test_within_one_root_the_first_path_serves_a_name(tree: Tree) -> None:
    found = library_of(tree({"commands/b/x.md": PROMPT, "commands/a/x.md": PROMPT, "prompts/x.md": PROMPT}))
    assert [str(file.place.relative) for file in found.served] == ["commands/a/x.md"]
    assert [(str(lost.place.relative), str(won.place.relative)) for lost, won in found.collisions()] == [
        ("commands/b/x.md", "commands/a/x.md"),
        ("prompts/x.md", "commands/a/x.md"),
    ]


def test_equal_names_of_two_plugins_collide_only_within_one_library(tree: Tree) -> None:
    top = tree(
        {
            "p/.claude-plugin/plugin.json": "{}",
            "p/commands/x.md": PROMPT,
            "q/.claude-plugin/plugin.json": "{}",
            "q/commands/x.md": PROMPT,
        }
    )
    assert library_of(top).collisions() == []
    assert len(library_of(top).served) == 2
    assert len(library_of(top, "lib").served) == 1


def test_a_project_shadows_the_users_own(tree: Tree, home: Path) -> None:
    own = home / ".claude" / "commands" / "x.md"
    own.parent.mkdir(parents=True)
    own.write_text(PROMPT)
    (own.parent / "y.md").write_text(PROMPT)
    search = Search(level=2)
    find_in_project(tree({"prompts/x.md": PROMPT}), search)
    search.level = 3
    find_in_user_folders(search)
    found = load_all(search)
    assert [(file.name, file.place.level) for file in found.served] == [("x", 2), ("y", 3)]
    assert [lost.place.path for lost, _ in found.shadowed()] == [own]


def test_a_prompt_is_found_by_its_name_then_by_its_stem() -> None:
    found = library_of(LIBRARY, "ops")
    assert found.find("ops_debug") is found.find("debug")


def test_a_name_that_is_none_or_several_is_told_with_what_there_is(tree: Tree) -> None:
    found = library_of(LIBRARY)
    with pytest.raises(NotFound, match="no prompt is called 'debgu'") as error:
        found.find("debgu")
    assert error.value.candidates[0].startswith("debug (")
    top = tree({"p/.claude-plugin/plugin.json": "{}", "p/commands/x.md": PROMPT, "commands/x.md": PROMPT})
    with pytest.raises(NotFound, match="2 prompts are called 'x'") as error:
        library_of(top).find("x")
    assert len(error.value.candidates) == 2


def test_a_refused_file_is_found_when_nothing_else_has_its_name(tree: Tree) -> None:
    found = library_of(tree({"prompts/x.md": "{{ nope }}"}))
    assert found.find("x").is_refused
