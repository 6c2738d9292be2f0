"""The official conformance suite of the protocol, against `kbp serve` over HTTP."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from conftest import TESTS
from node_tools import installed
from serving import Server, running

SUITE, NODE_22 = "@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22.23.3"
FOLDER = TESTS / "conformance"
OLDER, MODERN = "2025-11-25", "2026-07-28"
PROMPTS = (
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "completion-complete",
    "dns-rebinding-protection",
    "resources-list",
    "server-sse-multiple-streams",
)
CASES = [
    *((name, OLDER) for name in (*PROMPTS, "server-initialize", "server-session-lifecycle", "ping")),
    *((name, MODERN) for name in (*PROMPTS, "server-stateless", "caching", "http-header-validation")),
    ("input-required-result-non-tool-request", MODERN),
    ("input-required-result-unsupported-methods", MODERN),
    ("sep-2164-resource-not-found", MODERN),
]
EXPECTED: dict[str, dict[str, str]] = yaml.safe_load((FOLDER / "expected-failures.yaml").read_text())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("conformance"), str(FOLDER / "prompts"), "--no-watch") as server:
        yield server


@pytest.mark.parametrize(("scenario", "revision"), CASES)
def test_the_suite_passes(scenario: str, revision: str, server: Server, tmp_path: Path) -> None:
    bin = installed(SUITE, NODE_22, folder="conformance")
    query = "?prompts=off" if scenario == "http-header-validation" else ""  # it wants to see tools
    asked = ["server", "--url", server.url + query, "--scenario", scenario, "--spec-version", revision]
    command = [str(bin / "node"), str(bin / "conformance"), *asked, "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = list(tmp_path.glob("*/checks.json"))
    assert len(found) == 1, done.stdout + done.stderr
    checks = json.loads(found[0].read_text())
    assert any(check["status"] == "SUCCESS" for check in checks)
    failed = {check["id"]: check.get("errorMessage") for check in checks if check["status"] in ("FAILURE", "WARNING")}
    assert failed.keys() == EXPECTED.get(f"{scenario} {revision}", {}).keys(), failed


def test_every_expected_failure_is_of_a_scenario_that_is_run() -> None:
    assert {f"{scenario} {revision}" for scenario, revision in CASES} >= EXPECTED.keys()
