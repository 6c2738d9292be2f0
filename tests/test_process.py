"""kbp as a process: pipes that close, that never close, a stdin and stdout that are not there, a real terminal."""

import ctypes
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import LIBRARY, TESTS, Tree

KBP = [sys.executable, "-m", "kbp"]
PROMPT = "---\ndescription: d\n---\nbody\n"


@pytest.fixture
def env(home: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(TESTS.parent / "cli"), "HOME": str(home)}


def shell(script: str, env: dict[str, str], cwd: Path = LIBRARY) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", script.replace("KBP", shlex.join(KBP))],
        cwd=cwd,
        env=env,
        capture_output=True,
        timeout=180,
        check=False,
    )


@pytest.mark.parametrize("command", ["list", "list --format json", "lint -f json .", "rules", "show debug"])
def test_a_reader_that_goes_away_ends_the_run_quietly(command: str, env: dict[str, str]) -> None:
    done = shell(f"set -o pipefail; KBP {command} -q | head -c 1", env)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_is_gone_before_anything_is_written(env: dict[str, str]) -> None:
    for command in ("list -q", "--version", "--help", "list -V", "lint --help"):
        done = shell(f"KBP {command} > >(true); wait; echo $?", env)
        assert (done.stdout.split()[-1], done.stderr) == (b"0", b""), command


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("KBP render debug < /dev/null", 2),
        ("KBP render debug <&-", 2),
        ("KBP render debug -a app=- <&-", 2),
        ("KBP render principles <&- >/dev/null", 0),
        ("KBP render principles >&-", 2),
        ("KBP lint nowhere 2>&-", 2),
    ],
)
def test_stdin_is_not_waited_for_unless_it_is_asked_for(script: str, code: int, env: dict[str, str]) -> None:
    start = time.monotonic()
    done = shell(f"{script}", env)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert time.monotonic() - start < 10


def test_an_open_silent_pipe_is_left_alone_and_named_in_the_way_out(env: dict[str, str]) -> None:
    read, write = os.pipe()
    try:
        done = subprocess.run(
            [*KBP, "render", "debug"], cwd=LIBRARY, env=env, stdin=read, capture_output=True, timeout=60, check=False
        )
    finally:
        os.close(read)
        os.close(write)
    assert done.returncode == 2
    assert b"give it:  kbp render debug -a app=-\n" in done.stderr


def test_a_value_may_come_from_a_process(env: dict[str, str]) -> None:
    done = shell("KBP render debug -a app=@<(echo loki) | head -1", env)
    assert done.stdout == b"Investigate the logs of **loki** over the last 1h.\n"


def test_words_and_stdin_in_a_pipe(env: dict[str, str]) -> None:
    done = shell("printf 'a\\nb\\n' | KBP render subject - | tail -2", env)
    assert done.stdout == b"a\nb\n"


def test_what_is_not_utf8_on_the_command_line_is_an_error_and_in_a_file_name_is_not(
    env: dict[str, str], tmp_path: Path
) -> None:
    done = shell("KBP render debug -a app=$'caf\\xe9'", env)
    assert (done.returncode, done.stderr) == (2, b"error: app: the value is not UTF-8\n")
    (tmp_path / "prompts").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/prompts/caf\xe9.md")).write_text(PROMPT)
    assert b"caf\xe9" in shell("KBP list --format names", env, tmp_path).stdout
    assert b'"caf\\udce9"' in shell("KBP list --format json", env, tmp_path).stdout
    assert shell("KBP lint", env, tmp_path).returncode == 0


def test_output_is_utf8_whatever_the_locale(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/a.md").write_text("---\ndescription: d\n---\nnaïve 😀\n", encoding="utf-8")
    done = shell("KBP render a", {**env, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, tmp_path)
    assert done.stdout == "naïve 😀\n".encode()


def test_a_folder_and_a_file_without_permission_are_errors_and_the_run_goes_on(
    env: dict[str, str], tmp_path: Path
) -> None:
    top = tmp_path
    try:
        for name in ("prompts/a.md", "prompts/shut/b.md", "prompts/shut.md"):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(PROMPT)
        (top / "prompts/shut.md").chmod(0)
        (top / "prompts/shut").chmod(0)
        run = [*KBP, "lint", "--format", "concise"]
        done = subprocess.run(
            run, cwd=top, env=env, capture_output=True, text=True, preexec_fn=without_override, check=False
        )
        assert (done.returncode, done.stdout) == (
            1,
            "prompts/shut:1:1: error[unreadable-file] cannot be read: permission denied\n"
            "prompts/shut.md:1:1: error[unreadable-file] cannot be read: permission denied\n",
        )
        assert done.stderr == "Found 2 errors in 3 files; 2 files refused.\n"
    finally:
        (top / "prompts/shut").chmod(0o755)


def without_override() -> None:
    """Take from root, in the process that is about to start, what lets it read files that it has no permission for."""
    if os.geteuid() == 0:
        drop_from_bounding_set = 24
        for capability in (1, 2):  # DAC_OVERRIDE, DAC_READ_SEARCH
            assert ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0) == 0


UNASKABLE = [
    # the lines that build a folder, what is run in it; nothing in it ends kbp with a failure of its own
    ("mkdir -p shut/prompts; touch shut/prompts/a.md; chmod 600 shut", "lint shut"),
    ("mkdir -p shut/prompts; touch shut/prompts/a.md; chmod 600 shut", "lint shut/prompts/a.md"),
    ("mkdir -p shut/.claude-plugin; chmod 600 shut/.claude-plugin", "lint ."),
    ("mkdir -p prompts; touch prompts/a.md; chmod 600 prompts", "list"),
    ("mkdir -p prompts/.git; touch prompts/a.md; chmod 0 prompts/.git", "lint prompts/a.md"),
    ("mkdir prompts; touch prompts/a.md; chmod 0 $HOME", "list"),
    ("mkdir prompts; touch prompts/a.md; mkdir -p $HOME/.claude/commands; chmod 600 $HOME/.claude", "list"),
    ("mkdir prompts; touch prompts/a.md", "lint $(printf 'x%.0s' $(seq 300))"),
    ("mkdir prompts; touch prompts/a.md", "lint $(printf 'x/%.0s' $(seq 3000))a.md"),
    ("mkdir prompts; touch prompts/a.md", "render debug -a x=@$(printf 'x%.0s' $(seq 300))"),
    ("mkdir .claude-plugin; printf '{\"plugins\": [{\"name\": \"a\", \"source\": \"./%s\"}]}' "
     "$(printf 'x%.0s' $(seq 300)) > .claude-plugin/marketplace.json", "lint ."),
    ("mkdir .claude-plugin prompts; printf '{\"commands\": [\"./%s\", \"a\\u0000b\"]}' "
     "$(printf 'x%.0s' $(seq 300)) > .claude-plugin/plugin.json", "list"),
    ("mkdir prompts; touch prompts/a.md; printf '[tool.kbp]' > pyproject.toml; chmod 0 pyproject.toml", "lint"),
    ("mkdir prompts; touch prompts/a.md; printf '*' > .gitignore; chmod 0 .gitignore", "lint"),
    ("mkdir prompts; mkfifo prompts/a.md pyproject.toml .gitignore", "lint"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "command"), UNASKABLE, ids=range(len(UNASKABLE)))
def test_a_path_that_cannot_be_asked_about_is_no_bug(
    script: str, command: str, env: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{script}; {shlex.join(KBP)} {command}"],
        cwd=tmp_path, env=env, capture_output=True, timeout=60, check=False, preexec_fn=without_override,
    )  # fmt: skip
    subprocess.run(["chmod", "-R", "u+rwX", str(tmp_path), env["HOME"]], check=True)
    assert done.returncode in (0, 1, 2), done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_path_through_more_folders_than_recursion_goes_is_no_bug(env: dict[str, str], tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for name in ["d"] * 1200 + ["prompts"]:
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    file = os.open("a.md", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(file, b"text\n")
    os.close(file)
    os.close(here)
    done = shell("for i in $(seq 1200); do cd d; done; KBP lint prompts/a.md", env, tmp_path)
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)
    assert (done.returncode, done.stderr) == (0, b"Found 1 info in 1 file.\n")


def test_a_folder_that_was_removed_is_told_as_such(env: dict[str, str], tmp_path: Path) -> None:
    done = shell("mkdir gone; cd gone; rmdir ../gone; KBP list", env, tmp_path)
    assert done.returncode == 2
    assert done.stderr == b"error: the current folder cannot be used: no such file or directory\n"


HOSTILE_LINES = ["$X", "$X --help-me", "lint $X", "lint --format $X", "lint -C $X", "list $X", "rules $X", "render $X"]
HOSTILE_LINES += [
    "render debug -a $X",
    "render debug -a $X=1",
    "render debug --args $X",
    "render debug -a app=x -o $X/f",
]


@pytest.mark.parametrize("line", HOSTILE_LINES)
def test_what_is_typed_cannot_steer_the_terminal(line: str, env: dict[str, str]) -> None:
    done = shell(f"X=$'\\x1b[2J\\x07\\u202e'; KBP {line}", env)
    assert done.returncode == 2
    assert b"\x1b" not in done.stderr
    assert b"\x07" not in done.stderr
    assert "\u202e" not in done.stderr.decode()


def test_a_full_disk_is_told_as_such(env: dict[str, str]) -> None:
    for command in ("list -q", "render principles", "lint -f json .", "--version", "--help", "list -V", "lint --help"):
        done = shell(f"KBP {command} > /dev/full", env)
        assert (done.returncode, done.stderr) == (2, b"error: stdout cannot be written: no space left on device\n")


def test_a_closed_stdout_is_told_as_such(env: dict[str, str]) -> None:
    for command in ("list -q", "render principles", "--version", "--help", "list -V", "lint --help"):
        done = shell(f"KBP {command} >&-", env)
        assert (done.returncode, done.stderr) == (2, b"error: stdout cannot be written: it is closed\n")


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_a_result_arrives_although_nothing_can_be_told_beside_it(where: str, env: dict[str, str]) -> None:
    done = shell(f"KBP list -v {where}; echo $?; KBP nope {where}; echo $?", env)
    assert (done.stdout.split()[0], done.stdout.split()[-2:]) == (b"NAME", [b"0", b"2"])


@pytest.mark.parametrize(
    "script",
    [
        "KBP render principles -o /dev/stdout | cat",
        "KBP render principles -o /dev/fd/1 | cat",
        "KBP render principles -o >(cat); sleep 0.5",
        "KBP render principles -o /dev/stdout > {file}; cat {file}",
    ],
)
def test_output_may_be_what_is_open_already(script: str, env: dict[str, str], tmp_path: Path) -> None:
    done = shell(script.replace("{file}", str(tmp_path / "out")), env)
    assert (done.stdout, done.stderr) == (shell("KBP render principles", env).stdout, b"")


def test_output_to_what_is_open_already_keeps_what_was_written_before(env: dict[str, str], tmp_path: Path) -> None:
    done = shell(
        f"echo before > {tmp_path}/out; KBP render principles -o /dev/stdout >> {tmp_path}/out; cat {tmp_path}/out", env
    )
    assert done.stdout == b"before\n" + shell("KBP render principles", env).stdout


def test_output_to_a_file_that_is_written_whole_needs_no_stdout(env: dict[str, str], tmp_path: Path) -> None:
    done = shell(f"KBP render principles -o {tmp_path}/out >&-; echo $? >&2", env)
    assert done.stderr == b"0\n"
    assert (tmp_path / "out").read_bytes() == shell("KBP render principles", env).stdout


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no memory file system here")
def test_output_to_a_regular_file_below_dev_is_written_whole(env: dict[str, str]) -> None:
    path = Path("/dev/shm") / f"kbp-{os.getpid()}"
    try:
        done = shell(f"echo before > {path}; KBP render principles -o {path}; cat {path}", env)
        assert done.stdout == shell("KBP render principles", env).stdout
    finally:
        path.unlink(missing_ok=True)


def test_pipes_that_do_not_wait_lose_nothing(env: dict[str, str], tree: Tree) -> None:
    top = tree({"prompts/big.md": "x" * 300_000, "prompts/a.md": "---\narguments: [{name: app}]\n---\n{{ app }}"})
    read_out, write_out = os.pipe()
    os.set_blocking(write_out, False)
    process = subprocess.Popen([*KBP, "render", "prompts/big.md"], cwd=top, env=env, stdout=write_out)
    os.close(write_out)
    time.sleep(0.5)  # kbp fills the pipe before anybody reads
    with os.fdopen(read_out, "rb") as out:
        assert len(out.read()) == 300_001
    assert process.wait(30) == 0
    read_in, write_in = os.pipe()
    os.set_blocking(read_in, False)
    process = subprocess.Popen(
        [*KBP, "render", "prompts/a.md", "-a", "app=-"], cwd=top, env=env, stdin=read_in, stdout=subprocess.PIPE
    )
    for piece in (b"first\n", b"second\n"):
        time.sleep(0.5)
        os.write(write_in, piece)
    os.close(write_in)
    os.close(read_in)
    assert process.communicate(timeout=60)[0] == b"first\nsecond\n"


def test_a_completion_that_nobody_has_is_not_answered(env: dict[str, str]) -> None:
    done = shell("KBP render principles", {**env, "_KBP_COMPLETE": "bash_source"})
    assert done.stdout == shell("KBP render principles", env).stdout


def test_output_to_a_file_that_may_not_be_written_is_told(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before")
    (tmp_path / "out").chmod(0o444)
    done = subprocess.run(
        [*KBP, "render", "principles", "-o", str(tmp_path / "out")],
        cwd=LIBRARY, env=env, capture_output=True, timeout=60, check=False, preexec_fn=without_override,
    )  # fmt: skip
    assert (done.returncode, done.stderr.decode()) == (2, f"error: -o {tmp_path / 'out'}: permission denied\n")
    assert (tmp_path / "out").read_text() == "before"


# A real terminal


def on_terminal(arguments: list[str], env: dict[str, str], cwd: Path, columns: int = 80, rows: int = 24) -> str:
    """What a command line prints on a terminal of that size, line ends as LF."""
    main, side = pty.openpty()
    size = {"COLUMNS": str(columns), "LINES": str(rows), "TERM": "xterm"}
    with subprocess.Popen(
        [*KBP, *arguments], cwd=cwd, env={**env, **size}, stdin=side, stdout=side, stderr=side
    ) as process:
        os.close(side)
        text = b""
        while select.select([main], [], [], 20)[0]:
            try:
                data = os.read(main, 65536)
            except OSError:
                break
            if not data:
                break
            text += data
        process.wait(20)
    os.close(main)
    return text.decode().replace("\r\n", "\n")


def test_a_terminal_gets_columns_that_fit(env: dict[str, str]) -> None:
    lines = on_terminal(["list", "--no-pager"], env, LIBRARY, columns=60).splitlines()
    assert lines[0].split() == ["NAME", "DIALECT", "ARGUMENTS", "DESCRIPTI…"]
    assert len(lines) == 31
    assert all(len(line) <= 60 for line in lines)


@pytest.mark.parametrize("columns", [1, 8, 20])
def test_a_narrow_terminal_is_no_trouble(columns: int, env: dict[str, str]) -> None:
    assert "Traceback" not in on_terminal(["list", "--no-pager"], env, LIBRARY, columns=columns)
    assert "Traceback" not in on_terminal(["rules", "tab-indent"], env, LIBRARY, columns=columns)


def test_a_terminal_gets_no_control_characters_of_a_prompt(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/a.md").write_text('---\ndescription: "d\\x1b]0;x\\a"\n---\nb\x1b[2J\x07 {{ nope }}\n')
    for arguments in (
        ["lint"],
        ["list"],
        ["show", "prompts/a.md", "--dialect", "claude"],
        ["render", "prompts/a.md", "--dialect", "claude"],
    ):
        printed = re.sub("\x1b\\[[0-9;]*m", "", on_terminal(arguments, env, tmp_path))
        assert "\x1b" not in printed
        assert "\x07" not in printed


def test_a_pipe_gets_the_body_as_it_is(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/a.md").write_text("b\x1b[2J\x07\n")
    assert shell("KBP render a", env, tmp_path).stdout == b"b\x1b[2J\x07\n"


def test_a_long_list_on_a_terminal_goes_through_the_pager(env: dict[str, str]) -> None:
    paged = on_terminal(["list"], {**env, "PAGER": "sed s/^/PAGED:/"}, LIBRARY, rows=10)
    assert paged.count("PAGED:") == 30
    assert "PAGED:" not in on_terminal(["list"], {**env, "PAGER": "sed s/^/PAGED:/"}, LIBRARY, rows=50)
    assert "PAGED:" not in on_terminal(["list", "--no-pager"], {**env, "PAGER": "sed s/^/PAGED:/"}, LIBRARY, rows=10)
    assert "debug" in on_terminal(["list"], {**env, "PAGER": "no-such-pager"}, LIBRARY, rows=10)


def test_a_manual_is_laid_out_on_a_terminal(env: dict[str, str]) -> None:
    assert "# tab-indent" not in on_terminal(["rules", "tab-indent"], env, LIBRARY)
