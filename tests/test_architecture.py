"""The house: who imports whom, what is imported at start-up, what must never be in the project."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import LIBRARY, TESTS

PACKAGE = TESTS.parent / "cli" / "kbp"

# Lowest first: a room imports from its own and from those before it.
ROOMS = [
    "characters",
    "regular",
    "text",
    "words",
    "markdown",
    "shelf",
    "settings",
    "memory",
    "history",
    "display",
    "frontmatter",
    "faults",
    "document",
    "model",
    "marks",
    "diagnostics",
    "dialects",
    "renderer",
    "patterns",
    "configuration",
    "walk",
    "manifests",
    "files",
    "search",
    "library",
    "libraries",
    "converter",
    "comparison",
    "maps",
    "values",
    "linter",
    "live",
    "server",
    "complete",
    "ask",
    "output",
    "commands",
    "quick",
    "app",
    "__main__",
]
MODULES = sorted(PACKAGE.rglob("*.py"))
# Never needed to read, lint, list or render files. (The user's own folders need platformdirs.)
HEAVY = ["anyio", "asyncio", "httpx2", "mcp", "prompt_toolkit", "questionary", "rich", "ruamel"]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """The modules of kbp that a module imports at its top."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module == "kbp":
            found |= {f"kbp.{name.name}" for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kbp."):
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("kbp.")}
    return found - {"kbp.__version__"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_from_lower_rooms_only(path: Path) -> None:
    if path == PACKAGE / "__init__.py":
        assert imports_of(path) == set()
        return
    room = room_of(path)
    allowed = ROOMS[: ROOMS.index(room) + 1]
    assert {name.split(".")[1] for name in imports_of(path)} <= set(allowed)


@pytest.mark.parametrize("package", ["dialects", "linter.rules"])
def test_the_members_of_a_table_do_not_import_the_table(package: str) -> None:
    folder = PACKAGE / package.replace(".", "/")
    for path in folder.glob("*.py"):
        if path.name != "__init__.py":
            assert f"kbp.{package}" not in imports_of(path)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            docstring = len((ast.get_docstring(node) or "").splitlines())
            start = node.body[0].lineno
            assert (node.end_lineno or start) - start - docstring <= 60, node.name


def loaded_by(*arguments: str) -> set[str]:
    """The top-level packages in memory after a command line ran in a process of its own."""
    run = [sys.executable, "-X", "importtime", "-m", "kbp", *arguments]
    done = subprocess.run(
        run, cwd=LIBRARY, capture_output=True, text=True, env={"PYTHONPATH": str(PACKAGE.parent)}, check=True
    )
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}


@pytest.mark.parametrize(
    "command",
    ["render prompts/debug.md -a app=x", "render debug -a app=x --project-only", "list --project-only", "lint ."],
)
def test_no_command_imports_what_it_does_not_need(command: str) -> None:
    loaded = loaded_by(*command.split())
    assert "kbp" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_version_imports_nothing(tmp_path: Path) -> None:
    assert loaded_by("--version").isdisjoint([*HEAVY, "typer", "yaml", "pydantic"])


def test_importing_kbp_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import kbp; print(sorted(set(sys.modules) - before))"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, env={"PYTHONPATH": str(PACKAGE.parent)}, check=True)
    assert "kbp" in done.stdout
    assert not re.search("kbp\\.|yaml|typer|rich", done.stdout)


# A tilde in each, so that this file does not hold what it looks for.
FORBIDDEN = [r"py~pi\.org", "python~hosted", r"registry\.npm~js", r"(?:^|\W)/(?:wo~rk|ro~ot)/[a-z]", r"\.\./sha~red"]


def test_no_host_name_and_no_path_of_a_machine_is_in_the_project() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=TESTS.parent, capture_output=True, text=True, check=False).stdout
    forbidden = re.compile("|".join(words.replace("~", "") for words in FORBIDDEN))
    names = listed.split("\n")
    assert not (TESTS.parent / ".git").exists() or len(names) > 50
    for name in names:
        path = TESTS.parent / name
        if (
            path.is_file()
            and "cases" not in path.parts
            and path.suffix in (".py", ".md", ".toml", ".json", ".jsonl", ".yml", "")
        ):
            assert not forbidden.search(path.read_text(encoding="utf-8", errors="replace")), name
