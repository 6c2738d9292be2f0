"""Logging in to a server that wants OAuth, against an authorization server on this machine."""

import base64
import hashlib
import json
import stat
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import Kbp

from kbp.live.base import Unauthorized
from kbp.live.connection import Manner, connected, of_url


@dataclass
class Provider:
    """An authorization server and a server of prompts in one, and what was asked of them."""

    url: str = ""
    life: int = 3600
    denies: bool = False
    asked: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    challenges: dict[str, str] = field(default_factory=dict)
    redirects: list[str] = field(default_factory=list)


def handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

        def answer(self, content: object, status: int = 200, **headers: str) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            url, path = provider.url, urllib.parse.urlsplit(self.path)
            provider.asked.append(path.path)
            if path.path.startswith("/.well-known/oauth-protected-resource"):
                self.answer({"resource": f"{url}/mcp", "authorization_servers": [url]})
            elif path.path.startswith("/.well-known/oauth-authorization-server"):
                endpoints = {f"{name}_endpoint": f"{url}/{way}" for name, way in ENDPOINTS.items()}
                self.answer({"issuer": url, **endpoints, "response_types_supported": ["code"], **METHODS})
            elif path.path == "/authorize":
                given = dict(urllib.parse.parse_qsl(path.query))
                provider.challenges["code-1"] = given["code_challenge"]
                outcome = {"error": "access_denied"} if provider.denies else {"code": "code-1", "iss": url}
                query = urllib.parse.urlencode({**outcome, "state": given["state"]})
                self.answer({}, 302, Location=f"{given['redirect_uri']}?{query}")
            else:
                self.answer({}, 404)

        def do_POST(self) -> None:
            provider.asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/register":
                client = json.loads(body)
                provider.redirects += client["redirect_uris"]
                self.answer({**client, "client_id": "client-1"}, 201)
            elif self.path == "/token":
                self.give_token(dict(urllib.parse.parse_qsl(body.decode())))
            elif self.headers.get("Authorization", "").removeprefix("Bearer ") not in provider.tokens:
                self.answer({}, 401, **{"WWW-Authenticate": "Bearer"})
            else:
                self.serve(json.loads(body))

        def give_token(self, form: dict[str, str]) -> None:
            if form["grant_type"] == "authorization_code":
                digest = hashlib.sha256(form["code_verifier"].encode()).digest()
                assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == provider.challenges[form["code"]]
            token = f"token-{len(provider.tokens)}"
            provider.tokens.add(token)
            answer = {"access_token": token, "token_type": "Bearer", "expires_in": provider.life, "refresh_token": "r"}
            provider.asked.append(form["grant_type"])
            self.answer(answer)

        def serve(self, message: dict[str, Any]) -> None:
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {"prompts": {}}, "prompts": [{"name": "p"}]}
            self.answer({"jsonrpc": "2.0", "id": message["id"], "result": result})

    return Handler


ENDPOINTS = {"authorization": "authorize", "token": "token", "registration": "register"}
METHODS = {"code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"]}


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(made))
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()


def browse(address: str) -> None:
    """What a person's browser does with the address, and with where it is sent from there."""
    urllib.request.urlopen(address, timeout=30).read()


def names(provider: Provider, visit: Any = None) -> list[str]:
    with connected(of_url(f"{provider.url}/mcp"), Manner(visit=visit)) as source:
        return [prompt.name for prompt in source.list_page().prompts]


def test_a_person_logs_in_once(provider: Provider, home: Path) -> None:
    visited: list[str] = []

    def visit(address: str) -> None:
        visited.append(address)
        browse(address)

    assert names(provider, visit) == ["p"]
    assert names(provider) == ["p"], "the tokens were not kept"
    assert len(visited) == 1
    assert provider.asked.count("/register") == 1
    (kept,) = (home / "state/kbp/tokens").glob("*.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_text())["tokens"]["access_token"] == "token-0"


def test_tokens_that_have_ended_are_renewed(provider: Provider) -> None:
    provider.life = 1
    assert names(provider, browse) == ["p"]
    time.sleep(1.1)
    provider.life = 3600
    assert names(provider) == ["p"]
    assert provider.asked.count("refresh_token") == 1
    assert provider.asked.count("/authorize") == 1


def test_tokens_that_were_taken_back_want_a_new_login(provider: Provider) -> None:
    assert names(provider, browse) == ["p"]
    provider.tokens.clear()
    provider.tokens.add("another")
    assert names(provider, browse) == ["p"]
    assert provider.asked.count("/authorize") == 2
    assert provider.asked.count("/register") == 1, "the client is known already"


def test_a_login_needs_a_person(provider: Provider, kbp: Kbp) -> None:
    result = kbp("list", "--server", f"{provider.url}/mcp")
    assert result.code == 3
    assert f"error: the server at {provider.url}/mcp wants you to log in\n" in result.err
    assert "run the command on a terminal once, or give a token with --header" in result.err


def test_a_login_that_is_denied_is_told(provider: Provider) -> None:
    provider.denies = True
    with pytest.raises(Unauthorized, match="was not logged in to: access_denied"):
        names(provider, browse)


def test_the_time_of_a_login_does_not_count(provider: Provider) -> None:
    def slow(address: str) -> None:
        time.sleep(3.2)
        browse(address)

    with connected(of_url(f"{provider.url}/mcp"), Manner(visit=slow, timeout=3.0)) as source:
        assert source.list_page().prompts


def test_what_is_kept_of_another_version_is_no_fault(provider: Provider, home: Path) -> None:
    assert names(provider, browse) == ["p"]
    (kept,) = (home / "state/kbp/tokens").glob("*.json")
    for text in (
        '{"tokens": 3, "client": 5, "ends": "x", "addresses": []}',
        "[]",
        "{",
        '{"client": {"redirect_uris": [7]}}',
    ):
        kept.write_text(text)
        assert names(provider, browse) == ["p"], text


def test_the_redirect_takes_nothing_but_an_answer(provider: Provider) -> None:
    def visit(address: str) -> None:
        base = provider.redirects[-1]
        for path in ("/", "/favicon.ico", "/?x=1"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(urllib.parse.urljoin(base, path), timeout=30)
        browse(address)

    assert names(provider, visit) == ["p"]


def test_a_forged_answer_is_refused(provider: Provider) -> None:
    def visit(address: str) -> None:
        browse(f"{provider.redirects[-1]}?code=code-1&state=forged")

    with pytest.raises(Unauthorized):
        names(provider, visit)


@pytest.mark.parametrize("leaves", [KeyboardInterrupt, EOFError])
def test_a_person_who_leaves_a_login_leaves_the_run(provider: Provider, leaves: type[BaseException]) -> None:
    def visit(address: str) -> None:
        raise leaves

    with pytest.raises(leaves):
        names(provider, visit)
