"""Logging in to a server that wants OAuth: the SDK's flow, with the tokens kept in the user's state folder."""

import contextlib
import http.server
import socket
import socketserver
import threading
import time
import urllib.parse
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any

from kbp import memory
from kbp.live.base import Login, Unauthorized
from kbp.live.server import without_secrets

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

_KIND = "tokens"
_LOGIN_SECONDS = 300.0
Visit = Callable[[str], None]
"""Shows a person an address that they are to visit, and opens it if they want that."""


class Store:
    """What is known of the authorization at one server, kept between runs: client, tokens, when they end, addresses."""

    def __init__(self, url: str) -> None:
        self._key = memory.key_of(url)
        found = memory.recall(_KIND, self._key)
        self.content: dict[str, Any] = found if isinstance(found, dict) else {}

    def put(self, **content: Any) -> None:
        """Keep something more."""
        self.content |= content
        memory.remember(_KIND, self._key, self.content)

    async def get_tokens(self) -> "OAuthToken | None":
        """The tokens, as the SDK asks for them."""
        from mcp.shared.auth import OAuthToken

        tokens: OAuthToken | None = self._as(OAuthToken, "tokens")
        return tokens

    async def set_tokens(self, tokens: "OAuthToken") -> None:
        """Keep new tokens."""
        ends = time.time() + int(tokens.expires_in) if tokens.expires_in else None
        self.put(tokens=tokens.model_dump(mode="json", exclude_none=True), ends=ends)

    async def get_client_info(self) -> "OAuthClientInformationFull | None":
        """What the server knows kbp as."""
        from mcp.shared.auth import OAuthClientInformationFull

        client: OAuthClientInformationFull | None = self._as(OAuthClientInformationFull, "client")
        return client

    async def set_client_info(self, client_info: "OAuthClientInformationFull") -> None:
        """Keep what the server knows kbp as."""
        self.put(client=client_info.model_dump(mode="json", exclude_none=True))

    def _as(self, model: Any, name: str) -> Any:
        try:
            return model.model_validate(self.content[name]) if name in self.content else None
        except ValueError:  # forged, or of another version
            return None


class _Redirects(http.server.BaseHTTPRequestHandler):
    """Takes the browser when the server sends it back."""

    def do_GET(self) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        given = {name: values[0] for name, values in query.items()}
        is_answer = "code" in given or "error" in given
        self.send_response(200 if is_answer else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"kbp has got it: this page can be closed.\n" if is_answer else b"Nothing is here.\n")
        if is_answer:
            self.server.found.append(given)  # type: ignore[attr-defined]  # set by Redirect
            self.server.arrived.set()  # type: ignore[attr-defined]

    def log_message(self, *arguments: Any) -> None:
        pass


class _Server(socketserver.TCPServer):
    allow_reuse_address = True  # the port of the login before this one


class Redirect:
    """The address on this machine that the browser is sent back to, while a person logs in."""

    def __init__(self, port: int) -> None:
        self._server = _Server(("127.0.0.1", port), _Redirects)
        self._server.found = []  # type: ignore[attr-defined]
        self._server.arrived = threading.Event()  # type: ignore[attr-defined]
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    def wait(self, seconds: float) -> dict[str, str] | None:
        """What the browser brings: a code, or an error. None when it does not come."""
        if not self._server.arrived.wait(seconds):  # type: ignore[attr-defined]
            return None
        return self._server.found[0]  # type: ignore[attr-defined, no-any-return]

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()


def _port(store: Store) -> int:
    """The port that the server knows kbp at already, else a free one."""
    with contextlib.suppress(LookupError, ValueError, TypeError):
        known = urllib.parse.urlsplit(str(store.content["client"]["redirect_uris"][0])).port
        if known:
            return known
    store.content.pop("client", None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def provider(url: str, visit: Visit | None, login: Login) -> "httpx2.Auth":
    """Who authorizes requests to a URL: with the tokens of before, renewed when they have ended, else by a login.

    Args:
        url: the server.
        visit: shows a person the address of the login; None when nobody is there, and a login is a failure then.
        login: is told when one begins and ends.
    """
    import anyio.to_thread
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata, OAuthMetadata
    from pydantic import AnyUrl

    store = Store(url)
    port = _port(store)
    redirects: list[Redirect] = []

    async def show(address: str) -> None:
        if visit is None:
            raise Unauthorized(
                f"the server at {without_secrets(url)} wants you to log in",
                ("  run the command on a terminal once, or give a token with --header 'Authorization: Bearer …'",),
            )
        try:
            redirects.append(Redirect(port))
        except OSError:
            store.put(client=None)
            raise Unauthorized(f"port {port} of this machine is taken, to which a login leads: try again") from None
        login.is_open, login.count = True, login.count + 1
        try:
            await anyio.to_thread.run_sync(visit, address)
        except BaseException:
            login.is_open = False
            redirects[-1].close()
            raise

    async def take() -> "AuthorizationCodeResult":
        given = await anyio.to_thread.run_sync(redirects[-1].wait, _LOGIN_SECONDS, abandon_on_cancel=True)
        redirects[-1].close()
        login.is_open = False
        if given is None or "error" in given:
            said = given["error"] if given else f"nobody logged in within {_LOGIN_SECONDS:g} seconds"
            raise Unauthorized(f"the server at {without_secrets(url)} was not logged in to: {said}")
        return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))

    class Provider(OAuthClientProvider):
        """The SDK's provider, which also remembers when tokens end and where new ones come from."""

        async def _initialize(self) -> None:
            await super()._initialize()
            ends = store.content.get("ends")
            self.context.token_expiry_time = ends if isinstance(ends, float) else None
            with contextlib.suppress(ValueError):
                found = store.content.get("addresses")
                self.context.oauth_metadata = OAuthMetadata.model_validate(found) if found else None

        async def _handle_token_response(self, response: "httpx2.Response") -> None:
            await super()._handle_token_response(response)
            if self.context.oauth_metadata is not None:
                store.put(addresses=self.context.oauth_metadata.model_dump(mode="json", exclude_none=True))

    metadata = OAuthClientMetadata(client_name="kbp", redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}/callback")])
    return _when_wanted(Provider(url, metadata, store, show, take), is_wanted="tokens" in store.content)


def _when_wanted(provider: "httpx2.Auth", *, is_wanted: bool) -> "httpx2.Auth":
    """The provider, once the server wants it: the SDK's lets one request wait for the answer of another."""
    import httpx2

    class WhenWanted(httpx2.Auth):
        def __init__(self) -> None:
            self.is_wanted = is_wanted

        async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            if not self.is_wanted:
                response = yield request
                if response.status_code != 401:
                    return
                self.is_wanted = True
            flow = provider.async_auth_flow(request)
            try:
                outgoing = await anext(flow)
                while True:
                    response = yield outgoing
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()

    return WhenWanted()
