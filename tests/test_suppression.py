"""`# kbp: ignore[…]` in a frontmatter: where it holds, and when it is one too many."""

import pytest
from conftest import Tree

import kbp
from kbp.linter.choice import Choice
from kbp.linter.rules import RULES
from kbp.linter.run import lint

CASES = [
    # the frontmatter of a command without a fault but a list as hint and no description, what is left to say
    ("argument-hint: [x]", ["list-hint", "missing-description"]),
    ("argument-hint: [x] # kbp: ignore[list-hint]", ["missing-description"]),
    ("argument-hint: [x] # kbp: ignore[list-hint, missing-description]", ["missing-description", "unused-suppression"]),
    ("# kbp: ignore[list-hint, missing-description]\nargument-hint: [x]", []),
    ("argument-hint: [x]\n# kbp: ignore[list-hint]\n# kbp: ignore[missing-description] because", []),
    ("description: d # kbp: ignore[list-hint]\nargument-hint: [x]", ["list-hint", "unused-suppression"]),
    ("description: d\nargument-hint:\n  - x # kbp: ignore[list-hint]", ["list-hint", "unused-suppression"]),
    ("description: d # kbp: ignore[no-such-rule]", ["unused-suppression"]),
    ("description: d\nhooks: # kbp: ignore[early-frontmatter-end]\n  a: b\n  c: x --- y", []),
    ("description: d # kbp: ignore[]", ["unused-suppression"]),
    ("description: d # kbp: ignore", ["unused-suppression"]),
    ("description: d # kbp: ignored", []),
    ("description: d #kbp:ignore[yaml-feature]", ["unused-suppression"]),
    ('description: d\nhooks:\n- a: >\n    x # kbp: ignore[secret]\n    y\n- "b # kbp: ignore[secret]"', []),
    ("description: d\nhooks: [a,\n  'b # kbp: ignore[secret]']", []),
    ('description: "d # kbp: ignore[list-hint]"\nargument-hint: x', []),
    ("description: |\n  # kbp: ignore[list-hint]\nargument-hint: x", []),
    ("# kbp: ignore[unquoted-hint]\ndescription: d\nargument-hint: [x] [y]", []),
]


@pytest.mark.parametrize(("frontmatter", "rules"), CASES)
def test_a_comment_hides_what_it_names_for_its_key_or_for_the_file(
    frontmatter: str, rules: list[str], tree: Tree
) -> None:
    file = kbp.load(tree({"commands/a.md": f"---\n{frontmatter}\n---\nGo $0.\n"}) / "commands/a.md")
    assert sorted(diagnostic.rule for diagnostic in lint([file]).diagnostics) == rules


def test_a_comment_in_the_body_is_text(tree: Tree) -> None:
    text = "---\nargument-hint: [x]\ndescription: d\n---\n# kbp: ignore[list-hint]\nGo $0.\n"
    file = kbp.load(tree({"commands/a.md": text}) / "commands/a.md")
    assert [diagnostic.rule for diagnostic in lint([file]).diagnostics] == ["list-hint"]


def test_a_suppression_of_a_rule_that_is_not_run_is_not_judged(tree: Tree) -> None:
    file = kbp.load(tree({"commands/a.md": "---\ndescription: d # kbp: ignore[list-hint]\n---\n"}) / "commands/a.md")
    assert lint([file], Choice((RULES["unused-suppression"],))).diagnostics == ()


def test_a_rule_that_there_is_not_is_told_and_its_comment_left(tree: Tree) -> None:
    file = kbp.load(
        tree({"commands/a.md": "---\ndescription: d # kbp: ignore[list-hints]\n---\nGo $0.\n"}) / "commands/a.md"
    )
    (diagnostic,) = lint([file]).diagnostics
    assert (diagnostic.message, diagnostic.help) == ("there is no rule `list-hints`", "did you mean `list-hint`?")
    assert diagnostic.fix is None


def test_a_collision_with_a_file_that_is_not_there_is_not_judged(tree: Tree) -> None:
    text = "---\n# kbp: ignore[name-collision]\ndescription: d\n---\nGo $0.\n"
    top = tree({"kbp.toml": "", "commands/a/x.md": text, "commands/b/x.md": text})
    assert kbp.lint(top).diagnostics == ()
    assert kbp.lint(top / "commands/a/x.md").diagnostics == ()
