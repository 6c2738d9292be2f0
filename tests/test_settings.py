"""What the environment says."""

from pathlib import Path

import pytest
from conftest import Kbp, Tree

from kbp.settings import use_color

COLORS = [
    # the flag, the environment, whether it is a terminal, whether there are colours
    ("always", {"NO_COLOR": "1"}, False, True),
    ("never", {"FORCE_COLOR": "1"}, True, False),
    ("auto", {}, True, True),
    ("auto", {}, False, False),
    ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ("auto", {"NO_COLOR": ""}, True, True),
    ("auto", {"FORCE_COLOR": "1"}, False, True),
    ("auto", {"FORCE_COLOR": "0"}, False, False),
    ("auto", {"CLICOLOR_FORCE": "1"}, False, True),
    ("auto", {"TERM": "dumb"}, True, False),
]


@pytest.mark.parametrize(("flag", "variables", "is_terminal", "colored"), COLORS)
def test_the_flag_comes_before_the_environment_and_that_before_the_terminal(
    flag: str, variables: dict[str, str], is_terminal: bool, colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert use_color(flag, is_terminal) is colored


def test_the_settings_of_a_person_hold_in_all_projects(kbp: Kbp, tree: Tree, home: Path) -> None:
    top = tree({"kbp.toml": "picker.preview = true\n"})
    (home / "config/kbp").mkdir(parents=True)
    (home / "config/kbp/config.toml").write_text("history = false\npicker.preview = false\n")
    lines = kbp("config", "show", cwd=top).out.splitlines()
    assert [line for line in lines if line.startswith("picker")] == ["picker.preview = true  # kbp.toml:1"]
    assert next(line for line in lines if line.startswith("history")).endswith("config/kbp/config.toml:1")
    (home / "config/kbp/config.toml").write_text("exclude = []\n")
    assert "`exclude` belongs to a project" in kbp("config", "show", cwd=top).err
