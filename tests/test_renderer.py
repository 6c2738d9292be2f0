import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbp.dialects.claude import DIALECT as CLAUDE
from kbp.dialects.copilot import DIALECT as COPILOT
from kbp.dialects.kb import DIALECT as KB
from kbp.document import read
from kbp.model import Template
from kbp.renderer import MissingArguments, TooLarge, fill, render


def kb_template() -> Template:
    text = "---\narguments:\n- {name: a, required: true}\n- {name: b, default: B}\n- {name: c, required: true}\n---\n"
    parsed = KB.parse(read(f"{text}{{{{ a }}}}|{{{{ b }}}}|{{{{ c }}}}".encode()))
    assert parsed.template is not None
    return parsed.template


def test_all_missing_arguments_are_one_error_in_file_order() -> None:
    with pytest.raises(MissingArguments) as error:
        render(kb_template(), {"c": "", "a": None})
    assert [argument.name for argument in error.value.arguments] == ["a", "c"]


def test_each_piece_says_where_its_text_came_from() -> None:
    pieces = fill(kb_template(), {"a": "1", "c": "3"})
    assert [(piece.text, piece.origin) for piece in pieces] == [
        ("1", "given"),
        ("|", "text"),
        ("B", "default"),
        ("|", "text"),
        ("3", "given"),
    ]


def test_a_position_past_the_declared_names_stays_although_the_free_text_has_so_many_words() -> None:
    parsed = CLAUDE.parse(read(b"---\narguments: [a]\n---\n$0 $1"))
    assert parsed.template is not None
    assert [piece.text for piece in fill(parsed.template, {"a": "A", "arguments": "x y z"})][:3] == ["A", " ", "$1"]


def test_a_body_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "---\narguments:\n- name: x\n  default: " + "y" * 1000 + "\n---\n" + "{{ x }}" * 1000
    parsed = KB.parse(read(text.encode()))
    assert parsed.template is not None
    assert len(render(parsed.template, {})[0].content["text"]) == 1_000_000
    monkeypatch.setattr("kbp.renderer.MAX_FILLED", 999_999)
    with pytest.raises(TooLarge):
        render(parsed.template, {})


def test_the_plugin_root_is_the_library_in_the_template_and_never_in_a_value() -> None:
    parsed = CLAUDE.parse(read(b"See ${CLAUDE_PLUGIN_ROOT}/x: $ARGUMENTS"))
    assert parsed.template is not None
    values = {"arguments": "${CLAUDE_PLUGIN_ROOT}"}
    texts = [render(parsed.template, values, library)[0].content["text"] for library in ("ops", None)]
    assert texts == ["See skill://ops/x: ${CLAUDE_PLUGIN_ROOT}", "See ${CLAUDE_PLUGIN_ROOT}/x: ${CLAUDE_PLUGIN_ROOT}"]


_VALUES = st.text(st.sampled_from(list("abA $0{}\\:é\n\"'")), max_size=12)


@given(_VALUES)
def test_a_value_arrives_literally_in_every_dialect(value: str) -> None:
    for dialect, text, name in (
        (KB, "---\narguments: [{name: x}]\n---\n<{{ x }}>", "x"),
        (CLAUDE, "---\narguments: [x]\n---\n<$x>", "x"),
        (CLAUDE, "<$ARGUMENTS>", "arguments"),
        (COPILOT, "<${input:x}>", "x"),
    ):
        parsed = dialect.parse(read(text.encode()))
        assert parsed.template is not None
        assert render(parsed.template, {name: value})[0].content["text"] == f"<{value}>"
