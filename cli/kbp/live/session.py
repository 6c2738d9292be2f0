"""One connection to a server: which revision is spoken, requests and their answers, what the server asks meanwhile."""

import itertools
import time
from collections.abc import Callable, Mapping
from typing import Any

from kbp import __version__
from kbp.live.base import (
    CANCELLED,
    INVALID_PARAMS,
    LEGACY,
    METHOD_NOT_FOUND,
    MODERN,
    UNSUPPORTED_REVISION,
    Answer,
    BadAnswer,
    Channel,
    Json,
    NoPrompts,
    Received,
    Refusal,
    TimedOut,
    Unreachable,
)
from kbp.live.peer import PREFIX, Peer, mismatch, peer_of, server_info, supported
from kbp.live.questions import ELICIT, Handler, Question, Reply, question_of

AUTO, LEGACY_ERA = "auto", "legacy"
TIMEOUT = 30.0
MAX_ROUNDS = 10
"""How many times a server may ask back while it makes one prompt."""
PROBE = 5.0
"""How many seconds a server may take for `server/discover` before it is taken for one that does not know it."""
_AT_ONCE = 0.15
"""How many of them pass before it is looked up whether the server is known not to answer."""
_LEGACY_ANSWERS = (METHOD_NOT_FOUND, -32600, INVALID_PARAMS, UNSUPPORTED_REVISION)
"""How a server that shakes hands refuses `server/discover`."""
_MODERN_REFUSALS = (-32020, -32021)
"""What only a server of the modern revision refuses with."""
_NOBODY = (
    "  it was told that nobody can be asked: where it would ask back, --answer NAME=VALUE answers,",
    "  or a person on a terminal",
)
_CLIENT = {"name": "kbp", "version": __version__}


class Session:
    """A connection over a channel.

    Args:
        channel: what carries the messages.
        revision: `auto`, `legacy` for any that shakes hands, or one revision.
        is_known_silent: says whether the server is known not to answer `server/discover`: it is not waited for then.
        timeout: how many seconds an answer may take; what a person thinks is not counted. None: any time.
        handler: who answers questions; without one the server is told that nobody does.
        takes_urls: whether the handler can send a person to an address.
        notified: is given each notification.

    `was_silent` says after `connect` whether the server let `server/discover` unanswered, `has_declared` whether an
    older server was told that somebody answers questions.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        revision: str = AUTO,
        is_known_silent: Callable[[], bool] = lambda: False,
        timeout: float | None = TIMEOUT,
        handler: Handler | None = None,
        takes_urls: bool = True,
        notified: Callable[[Json], None] = lambda message: None,
    ) -> None:
        self.channel = channel
        self.timeout = timeout
        self.handler = handler
        self._takes_urls = takes_urls
        self.was_silent = False
        self.peer = Peer(MODERN)
        self._revision = revision
        self._is_known_silent = is_known_silent
        self._notified = notified
        self._max_rounds = self._questions_left = MAX_ROUNDS
        self.has_declared = False
        self._ids = itertools.count(1)

    # Connecting

    def connect(self) -> Peer:
        """Agree with the server on a revision.

        Raises:
            LiveError: it cannot be reached, does not answer, or speaks none that is wanted.
        """
        if self._revision not in (AUTO, MODERN):
            self.peer = self._initialize()
        else:
            self.peer = self._discover()
        self.channel.revision = self.peer.revision
        return self.peer

    def _discover(self) -> Peer:
        number = self._send("server/discover", self._modern({}))
        is_pinned = self._revision == MODERN
        try:
            answer = self._wait("server/discover", number, self.timeout) if is_pinned else self._probed(number)
        except Refusal as refusal:
            if refusal.code == UNSUPPORTED_REVISION and not set(supported(refusal)) & set(LEGACY):
                raise mismatch(supported(refusal)) from None
            is_legacy = refusal.code in _LEGACY_ANSWERS if is_pinned else refusal.code not in _MODERN_REFUSALS
            if not is_legacy and not refusal.is_local:
                raise Unreachable(f"the server refused to start: {refusal} ({refusal.code})") from None
            return self._initialize()
        return self._initialize(probe=number) if answer is None else self._modern_peer(answer)

    def _probed(self, number: int) -> Answer | None:
        """The answer to the request that finds out the revision; None when the server lets it unanswered."""
        try:
            return self._wait("server/discover", number, _AT_ONCE)
        except TimedOut:
            if self._is_known_silent():
                return None
        try:
            return self._wait("server/discover", number, PROBE if self.timeout is None else min(PROBE, self.timeout))
        except TimedOut:
            self.was_silent = True
            return None

    def _modern_peer(self, answer: Answer) -> Peer:
        result = answer.result
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or MODERN not in versions:
            return self._initialize()
        return peer_of(MODERN, result, server_info(result))

    def _initialize(self, probe: int | None = None) -> Peer:
        if self._revision == MODERN:
            raise Unreachable(f"the server speaks an older revision than {MODERN}; leave out --revision")
        pinned = self._revision if self._revision in LEGACY else None
        self.peer = Peer(pinned or LEGACY[-1])
        params = {
            "protocolVersion": pinned or LEGACY[-1],
            "capabilities": self._capabilities(),
            "clientInfo": _CLIENT,
        }
        self.has_declared = "elicitation" in params["capabilities"]
        self.channel.revision = None
        number = self._send("initialize", params)
        try:
            answer = self._wait("initialize", number, self.timeout, also=probe)
        except Refusal as refusal:
            if MODERN in supported(refusal):
                if self._revision == AUTO:
                    return Peer(MODERN)
                raise Unreachable(f"the server speaks {MODERN} alone; leave out --revision") from None
            if refusal.is_local:
                help = ("  is this the address of an MCP server? one with the older transport wants --sse",)
                raise Unreachable(f"the server answers with {refusal}", help) from None
            raise Unreachable(f"the server refused to start: {refusal} ({refusal.code})") from None
        if "supportedVersions" in answer.result:  # the probe's, late: the server was slow to start
            self.was_silent = False
            return self._modern_peer(answer)
        agreed = answer.result.get("protocolVersion")
        if agreed not in LEGACY:
            raise mismatch([str(agreed)])
        if pinned and agreed != pinned:
            raise Unreachable(f"the server speaks {agreed} where {pinned} was asked for; leave out --revision")
        self.channel.revision = str(agreed)
        self.channel.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        info = answer.result.get("serverInfo")
        return peer_of(str(agreed), answer.result, info if isinstance(info, dict) else {})

    def _capabilities(self) -> Json:
        """What the client can do, as the revision that is spoken has it."""
        if self.handler is None or self.peer.revision < "2025-06-18":
            return {}
        if self.peer.revision < "2025-11-25":
            return {"elicitation": {}}
        return {"elicitation": {"form": {}, "url": {}} if self._takes_urls else {"form": {}}}

    def _modern(self, params: Mapping[str, Any]) -> Json:
        """The parameters with what each request of the modern revision says of the client."""
        meta = {
            f"{PREFIX}protocolVersion": MODERN,
            f"{PREFIX}clientInfo": _CLIENT,
            f"{PREFIX}clientCapabilities": self._capabilities(),
        }
        return {**params, "_meta": meta}

    # Requests

    def request(self, method: str, params: Mapping[str, Any] | None = None, *, seconds: float | None = None) -> Answer:
        """The answer to a request.

        Args:
            method: what is asked for.
            params: its parameters.
            seconds: how long it may take, if not as long as any.

        Raises:
            Refusal: the server answers with an error.
            TimedOut: it does not answer in time; it is told to stop.
            LiveError: it is gone, or answers what is no answer.
        """
        is_modern = self.peer.revision == MODERN
        self._questions_left = self._max_rounds
        number = self._send(method, self._modern(params or {}) if is_modern else dict(params or {}))
        try:
            return self._wait(method, number, self.timeout if seconds is None else seconds)
        except (TimedOut, KeyboardInterrupt) as stopped:
            reason = "it took too long" if isinstance(stopped, TimedOut) else "nobody waits any more"
            params = {"requestId": number, "reason": reason}
            self.channel.send({"jsonrpc": "2.0", "method": CANCELLED, "params": params})
            raise

    def _send(self, method: str, params: Json) -> int:
        number = next(self._ids)
        self.channel.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def _wait(self, method: str, number: int, seconds: float | None, also: int | None = None) -> Answer:
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            received = self.channel.receive(left) if left is None or left > 0 else None
            if received is None:
                raise TimedOut(f"the server did not answer {method} within {seconds:g} seconds", self.channel.remarks())
            if "method" in received.message:
                thought = self._heed(received.message)
                if deadline is not None:  # what a person thinks is not the server's time
                    deadline += thought
            elif _is_answer(received, number) or (
                also is not None and _is_answer(received, also) and "result" in received.message
            ):
                return _answer(received, method)

    def _heed(self, message: Json) -> float:
        """Take a notification, or answer what the server asks; and give the seconds that a person thought about it.

        The modern revision knows no requests of a server: one is not answered.
        """
        if "id" not in message:
            self._notified(message)
            return 0.0
        if self.peer.revision == MODERN:
            return 0.0
        reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
        params, method = message.get("params"), message["method"]
        question = question_of(str(message["id"]), params, self.peer.name) if method == ELICIT else None
        started = time.monotonic()
        if method == "ping":
            reply["result"] = {}
        elif method == ELICIT and self.handler is None and self.has_declared:
            reply["result"] = Reply("decline").as_json()
        elif method != ELICIT or self.handler is None:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"kbp does not do {method}"}
        elif question is None:
            reply["error"] = {"code": INVALID_PARAMS, "message": "this question is of no known kind"}
        else:
            try:
                self._questions_left -= 1
                if self._questions_left < 0:
                    raise BadAnswer("the server asks more often than it may (--max-rounds)")
                reply["result"] = _asked(self.handler, question)
            except BaseException:
                self.channel.send({**reply, "result": Reply("cancel").as_json()})
                raise
        thought = time.monotonic() - started
        self.channel.send(reply)
        return thought

    # Prompts

    def check_prompts(self) -> None:
        """See that the server offers prompts.

        Raises:
            NoPrompts: it declares none.
        """
        if self.peer.capabilities is not None and "prompts" not in self.peer.capabilities:
            raise NoPrompts("the server offers no prompts")

    def get(self, name: str, arguments: Mapping[str, str], max_rounds: int = MAX_ROUNDS) -> Answer:
        """The result of a prompt, after as many rounds of questions as the server wants.

        Args:
            name: the prompt.
            arguments: its values, sent as they are.
            max_rounds: how many times the server may ask for more.

        Raises:
            BadAnswer: it asks more often, asks what nobody can answer, or answers what is no result.
            LiveError: as `request`.
        """
        self._max_rounds = max_rounds
        base = {"name": name, **({"arguments": dict(arguments)} if arguments else {})}
        more: Json = {}
        for done in range(max_rounds + 1):
            try:
                answer = self.request("prompts/get", {**base, **more})
            except Refusal as refusal:
                if self.handler is None and refusal.code == INVALID_PARAMS:
                    refusal.help = _NOBODY
                raise
            kind = answer.result.get("resultType", "complete")
            if kind == "complete" or self.peer.revision != MODERN:
                return answer
            if kind != "input_required":
                raise BadAnswer(f"the server answered with the unknown result type {kind!r}", answer)
            if done < max_rounds:
                more = self._round(answer, done)
        raise BadAnswer(f"the server asked for more input than {max_rounds} times (--max-rounds)", answer)

    def _round(self, answer: Answer, done: int) -> Json:
        """What goes with the next request: the replies to the questions of an answer, and its state."""
        requests = answer.result.get("inputRequests")
        has_state = "requestState" in answer.result
        if (not requests and not has_state) or (requests and not isinstance(requests, dict)):
            raise BadAnswer("the server wants more input and does not say which", answer)
        replies = {}
        for key, request in requests.items() if isinstance(requests, dict) else ():
            method = request.get("method") if isinstance(request, dict) else None
            question = question_of(key, request.get("params"), self.peer.name) if method == ELICIT else None
            if question is None:
                raise BadAnswer(f"the server asks for {method or 'nothing'}, which kbp does not do", answer)
            if self.handler is None:
                raise BadAnswer(f"the server asks, and nobody is there to answer: {question.message}", answer)
            replies[key] = _asked(self.handler, question)
        if not replies:
            time.sleep(min(0.05 * 2**done, 0.25))
        state = {"requestState": answer.result["requestState"]} if has_state else {}
        return {**({"inputResponses": replies} if replies else {}), **state}

    def close(self) -> None:
        """End the connection."""
        self.channel.close()


def _asked(handler: Handler, question: Question) -> Json:
    reply = handler(question)
    if not isinstance(reply, Reply):
        raise TypeError(f"a handler gives a kbp.Reply, and not {type(reply).__name__}")
    return reply.as_json()


def _is_answer(received: Received, number: int) -> bool:
    return received.message.get("id") in (number, str(number)) and not isinstance(received.message["id"], bool)


def _answer(received: Received, method: str) -> Answer:
    message = received.message
    error = message.get("error")
    if error is not None:
        content = error if isinstance(error, dict) else {}
        code = content.get("code")
        said = str(content.get("message") or "it gives no reason")
        raise Refusal(code if isinstance(code, int) else 0, said, content.get("data"), is_local=received.is_local)
    result = message.get("result")
    if not isinstance(result, dict):
        raise BadAnswer(f"the server answered {method} with no result")
    return Answer(result, received.result_text or "{}")
