"""What the server answers: lists, prompts, values for arguments, and the same as tools for clients without prompts."""

import base64
import binascii
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kbp.display import counted
from kbp.live.base import INVALID_PARAMS, MODERN
from kbp.model import Argument, Message
from kbp.renderer import MissingArguments, TooLarge
from kbp.server import mirror
from kbp.server.bodies import SLOW
from kbp.server.offers import Offer
from kbp.server.revisions import RESULT_SINCE, fitted, sendable
from kbp.server.scope import UnknownScope, Wish, nearest, wish_of
from kbp.server.splice import PAGE_TEXT
from kbp.server.stock import Stock
from kbp.server.suggestions import MAX_VALUES, matching, values_of
from kbp.server.views import View, Views

if TYPE_CHECKING:
    import mcp_types
    from anyio import CapacityLimiter
    from mcp import MCPError
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any, Any]

Result = dict[str, Any]
QUESTION = "arguments"
"""The key of the one question that asks for all missing arguments."""
_MAX_UNKNOWN = 10
_NO_RESOURCE = -32002  # up to 2025-11-25
_LIST = {"ttlMs": 0, "cacheScope": "private"}
_WISH = "kbp.wish"


def invalid(message: str, **data: Any) -> "MCPError":
    """The error that a request is wrong (-32602)."""
    from mcp import MCPError

    return MCPError(code=INVALID_PARAMS, message=sendable(message), data=sendable(data) or None)


class Handlers:
    """The answers of a server to each request, from its stock."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self._views = Views()

    def view(self, ctx: "Context") -> View:
        """What the client sees, by its URL and headers; everything where it has none.

        Raises:
            MCPError: it names what there is not.
        """
        try:
            return self._views.of(self.stock.offers, _wish(ctx).scope)
        except UnknownScope as error:
            raise invalid(str(error)) from None

    def find(self, ctx: "Context", name: str) -> Offer:
        """The prompt of that name that the client sees.

        Raises:
            MCPError: there is none, or it lies outside its scope: the same for both.
        """
        view = self.view(ctx)
        offer = view.find(name)
        if offer is not None:
            return offer
        near = nearest(name, view.names())
        hint = f"; did you mean {near!r}?" if near else ""
        raise invalid(f"there is no prompt {name[:200]!r}{hint}", prompt=name[:200])

    # Prompts

    async def list_prompts(self, ctx: "Context", params: "mcp_types.PaginatedRequestParams") -> Result:
        """A page of the prompts that the client sees."""
        view = self.view(ctx)
        names, has_more = view.page(None if params.cursor is None else _name_at(params.cursor))
        result: Result = {"prompts": [], **_LIST}
        if ctx.request is not None and ctx.method == "prompts/list":
            ctx.request.scope[PAGE_TEXT] = view.text(names, ctx.protocol_version)  # put in when the answer leaves
        else:
            result["prompts"] = view.wire(names, ctx.protocol_version)
        if has_more:
            result["nextCursor"] = _cursor(names[-1])
        return _complete(result, ctx)

    async def get_prompt(self, ctx: "Context", params: "mcp_types.GetPromptRequestParams") -> Result:
        """A prompt, filled in; a question for what is missing, where the client can be asked."""
        offer = self.find(ctx, params.name)
        values = {name: value for name, value in (params.arguments or {}).items() if value}
        missing = _missing(offer, values)
        if missing and QUESTION in (params.input_responses or {}):
            values |= _answered((params.input_responses or {})[QUESTION], missing)
        elif missing and _can_be_asked(ctx):
            return _question(offer, missing)
        return _complete(await self.rendered(offer, values, params.arguments or {}), ctx)

    async def rendered(self, offer: Offer, values: Mapping[str, str], given: Iterable[str]) -> Result:
        """A prompt, filled in. `given` are the names of all that the client gave.

        Raises:
            MCPError: a required argument is missing, or the result would be too large.
        """
        missing = _missing(offer, values)
        if missing:
            names = [argument.name for argument in missing]
            said = f"{offer.prompt.name} needs {counted(len(names), 'argument')} that {_was(names)} not given"
            known = {argument.name for argument in offer.prompt.arguments}
            unknown = [name[:100] for name in given if name not in known][:_MAX_UNKNOWN]
            more = f" (and there is no argument {', '.join(unknown)})" if unknown else ""
            raise invalid(f"{said}: {', '.join(names)}{more}", prompt=offer.prompt.name, arguments=names)
        try:
            messages = await _in_thread(offer, values)
        except TooLarge as error:
            raise invalid(f"{offer.prompt.name} cannot be filled in: {error}") from None
        except MissingArguments as error:  # as the file declares now
            raise invalid(f"{offer.prompt.name}: {error}") from None
        said_of = {"description": offer.prompt.description} if offer.prompt.description else {}
        told = [{"role": each.role, "content": dict(each.content)} for each in messages]
        result: Result = sendable({**said_of, "messages": told})
        return result

    async def complete(self, ctx: "Context", params: "mcp_types.CompleteRequestParams") -> Result:
        """The values that the file lists for an argument, as far as they start with what is typed."""
        values: Sequence[str] = ()
        if params.ref.type == "ref/prompt":
            offer = self.find(ctx, params.ref.name)
            values = matching(values_of(offer.file, params.argument.name), params.argument.value)
        shown = sendable(values[:MAX_VALUES])
        completion = {"values": shown, "total": len(values), "hasMore": len(values) > len(shown)}
        return _complete({"completion": completion}, ctx)

    # The same as tools, and what clients ask for whatever is declared

    async def list_tools(self, ctx: "Context", params: "mcp_types.PaginatedRequestParams") -> Result:
        """The tools in place of prompts, for a client that wants them."""
        tools = mirror.tools(ctx.protocol_version) if _wish(ctx).has_tools else []
        return _complete({"tools": tools, **_LIST}, ctx)

    async def call_tool(self, ctx: "Context", params: "mcp_types.CallToolRequestParams") -> Result:
        """What a tool gives: the JSON of the protocol, as text and as it is. A mistake is an error of the tool."""
        from mcp import MCPError

        try:
            result = await self._tool(ctx, params.name, params.arguments or {})
        except MCPError as error:
            return _complete({"content": [{"type": "text", "text": error.error.message}], "isError": True}, ctx)
        text = {"type": "text", "text": json.dumps(result, ensure_ascii=False)}
        return _complete({"content": [text], "structuredContent": result}, ctx)

    async def _tool(self, ctx: "Context", name: str, arguments: Mapping[str, Any]) -> Result:
        from mcp_types import PaginatedRequestParams

        if name == mirror.LIST:
            cursor = arguments.get("cursor")
            if cursor is not None and not isinstance(cursor, str):
                raise invalid("cursor is no text")
            page = await self.list_prompts(ctx, PaginatedRequestParams(cursor=cursor))
            return {key: page[key] for key in ("prompts", "nextCursor") if key in page}
        if name == mirror.GET:
            prompt, values = arguments.get("name"), arguments.get("arguments") or {}
            if not isinstance(prompt, str):
                raise invalid("name is no text: it is the name of a prompt")
            try:
                given = mirror.texts(values)
            except ValueError as error:
                raise invalid(str(error)) from None
            return await self.rendered(self.find(ctx, prompt), given, given)
        raise invalid(f"there is no tool {name[:200]!r}")

    async def list_resources(self, ctx: "Context", params: "mcp_types.PaginatedRequestParams") -> Result:
        """No resources: some clients drop a server that does not answer."""
        return _complete({"resources": [], **_LIST}, ctx)

    async def read_resource(self, ctx: "Context", params: "mcp_types.ReadResourceRequestParams") -> Result:
        """No resource is there, whichever is asked for."""
        from mcp import MCPError

        uri = str(params.uri)[:500]
        code = INVALID_PARAMS if ctx.protocol_version == MODERN else _NO_RESOURCE
        raise MCPError(code=code, message="there is no such resource", data={"uri": uri})

    async def list_resource_templates(self, ctx: "Context", params: "mcp_types.PaginatedRequestParams") -> Result:
        """No templates of resources."""
        return _complete({"resourceTemplates": [], **_LIST}, ctx)


def _complete(content: Result, ctx: "Context") -> Result:
    """A result that is no question, without what the revision of the client does not define."""
    return fitted({"resultType": "complete", **content}, RESULT_SINCE, ctx.protocol_version)


def _wish(ctx: "Context") -> Wish:
    """What the client asks for by its URL and headers; read once a request."""
    if ctx.request is None:
        return Wish()
    request = ctx.request.scope
    if _WISH not in request:
        request[_WISH] = wish_of(ctx.request.url.query, ctx.request.headers.items())
    wish: Wish = request[_WISH]
    return wish


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode("utf-8", "surrogatepass")).decode()


def _name_at(cursor: str) -> str:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        raise invalid("this cursor is none of this server") from None


def _missing(offer: Offer, values: Mapping[str, str]) -> list[Argument]:
    return [each for each in offer.prompt.arguments if each.required and not values.get(each.name)]


def _was(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


async def _in_thread(offer: Offer, values: Mapping[str, str]) -> Sequence[Message]:
    """The messages of a prompt, read and filled in where that holds up nobody; of a file that hangs the last ones."""
    import anyio
    from anyio import to_thread

    with anyio.move_on_after(SLOW):
        fill = functools.partial(offer.body.messages, values)
        return await to_thread.run_sync(fill, abandon_on_cancel=True, limiter=_threads())
    offer.body.give_up()
    return await to_thread.run_sync(functools.partial(offer.body.last_messages, values), abandon_on_cancel=True)


@functools.cache
def _threads() -> "CapacityLimiter":
    """Threads for prompts alone, so that a file that hangs takes none that others need."""
    import anyio

    return anyio.CapacityLimiter(64)


def _can_be_asked(ctx: "Context") -> bool:
    """Whether the client answers forms within its own request: an empty capability means forms (2026-07-28)."""
    if ctx.protocol_version != MODERN or ctx.session.client_capabilities is None:
        return False
    elicitation = ctx.session.client_capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _question(offer: Offer, missing: Sequence[Argument]) -> Result:
    """An input-required result: one form for all that is missing."""
    properties = {
        each.name: {
            key: value
            for key, value in (("type", "string"), ("title", each.title), ("description", each.description))
            if value
        }
        for each in missing
    }
    schema = {"type": "object", "properties": properties, "required": [each.name for each in missing]}
    message = f"{offer.prompt.name} needs {counted(len(missing), 'argument')}"
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    question = {"method": "elicitation/create", "params": params}
    result: Result = sendable({"resultType": "input_required", "inputRequests": {QUESTION: question}})
    return result


def _answered(answer: Any, missing: Sequence[Argument]) -> dict[str, str]:
    """The values for what is missing that an answer has; none where the person declined or left."""
    content = getattr(answer, "content", None)
    if getattr(answer, "action", None) != "accept" or not isinstance(content, Mapping):
        return {}
    names = {each.name for each in missing}
    try:
        return mirror.texts({name: value for name, value in content.items() if name in names})
    except ValueError:
        return {}
