"""adknb's callbacks, tools and instruction functions under google-adk: each receives what it is written for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from google.adk.models import LlmRequest as GoogleRequest, LlmResponse as GoogleResponse
from google.adk.tools import BaseTool, FunctionTool as GoogleTool, LongRunningFunctionTool as GoogleLongRunning

from adknb.adk.sent import sent_request, system_text
from adknb.adk.wire import from_content, from_part, from_response, to_content, to_part, to_response
from adknb.core.content import Content, Part
from adknb.core.errors import NotSupported, StateValueError
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.run import Session
from adknb.core.tools import CONTEXT_PARAMETER, FunctionTool
from adknb.runtime.callbacks import as_content, call
from adknb.runtime.tree import LlmNode, Node


class GoogleState(MutableMapping[str, Any]):
    """The state of a google-adk context, to read and to write. ADK Python cannot delete a key."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        return self._state[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._state[key] = value

    def __delitem__(self, key: str) -> None:
        raise StateValueError(
            f"state key {key!r} cannot be deleted: ADK Python's state has no deletion. Set it to None."
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        return dict(self._state) if isinstance(self._state, Mapping) else dict(self._state.to_dict())


class GoogleContext:
    """A context of google-adk as adknb's `CallbackContext`, `ToolContext` and `ReadonlyContext` have it."""

    def __init__(self, context: Any, node: Node, session: Session) -> None:
        self._context = context
        self._node = node
        self.session = session
        self.state = GoogleState(context.state)

    @property
    def actions(self) -> Any:
        return self._context.actions

    @property
    def agent_name(self) -> str:
        return self._node.name

    @property
    def invocation_id(self) -> str:
        return str(self._context.invocation_id)

    @property
    def function_call_id(self) -> str | None:
        return getattr(self._context, "function_call_id", None)

    @property
    def user_content(self) -> Content | None:
        return to_content(self._context.user_content)

    def text_of(self, value: object) -> str:
        return self._node.rules.text_of(value)

    async def save_artifact(self, filename: str, artifact: Part) -> int:
        return int(await self._context.save_artifact(filename, from_part(artifact)))

    async def load_artifact(self, filename: str, version: int | None = None) -> Part | None:
        found = await self._context.load_artifact(filename, version)
        return to_part(found) if found is not None else None

    async def list_artifacts(self) -> list[str]:
        return list(await self._context.list_artifacts())


class Written:
    """The functions of one adknb agent, each as google-adk calls it."""

    def __init__(self, node: Node, session: Session) -> None:
        self._node = node
        self._session = session

    def _context(self, context: Any) -> Any:
        return GoogleContext(context, self._node, self._session)

    async def _call(self, kind: str, function: Callable[..., Any], *arguments: Any) -> Any:
        return await call(self._node.name, kind, function, *arguments)

    def instruction(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def instruction(context: Any) -> str:
            return str(await self._call("instruction", function, self._context(context)))

        return instruction

    def agent_callback(self, kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
        async def agent_callback(callback_context: Any) -> Any:
            content = as_content(
                await self._call(kind, function, self._context(callback_context)), self._node.name, kind
            )
            return from_content(content) if content is not None else None

        return agent_callback

    def before_model(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def before_model(callback_context: Any, llm_request: GoogleRequest) -> GoogleResponse | None:
            assert isinstance(self._node, LlmNode)
            given = sent_request(self._node, llm_request.model or "", llm_request, None, {})
            edited = given.copy()
            answer = await self._call("before_model_callback", function, self._context(callback_context), edited)
            self._take_over(given, edited, llm_request)
            return self._response("before_model_callback", answer)

        return before_model

    def after_model(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def after_model(callback_context: Any, llm_response: GoogleResponse) -> GoogleResponse | None:
            answer = await self._call(
                "after_model_callback", function, self._context(callback_context), to_response(llm_response)
            )
            return self._response("after_model_callback", answer)

        return after_model

    def before_tool(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def before_tool(tool: BaseTool, args: dict[str, Any], tool_context: Any) -> Any:
            return await self._call(
                "before_tool_callback", function, self._tool(tool), args, self._context(tool_context)
            )

        return before_tool

    def after_tool(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def after_tool(tool: BaseTool, args: dict[str, Any], tool_context: Any, tool_response: Any) -> Any:
            return await self._call(
                "after_tool_callback", function, self._tool(tool), args, self._context(tool_context), tool_response
            )

        return after_tool

    def tool(self, tool: FunctionTool) -> GoogleTool:
        """The tool under its own name and description; its context is adknb's, whatever its parameter is called."""
        signature = inspect.signature(tool.func)
        parameters = [
            parameter.replace(name=CONTEXT_PARAMETER, annotation=parameter.empty)
            if parameter.name == tool.context_parameter
            else parameter
            for parameter in signature.parameters.values()
        ]

        def arguments(given: dict[str, Any]) -> dict[str, Any]:
            if tool.context_parameter is None:
                return given
            context = self._context(given.pop(CONTEXT_PARAMETER))
            return {**given, tool.context_parameter: context}

        if tool.is_async:

            async def awaited(**given: Any) -> Any:
                return await tool.func(**arguments(given))

            called: Any = awaited
        else:

            def called_at_once(**given: Any) -> Any:
                return tool.func(**arguments(given))

            called = called_at_once
        called.__name__ = tool.name
        called.__doc__ = tool.description
        called.__annotations__ = {
            name: hint for name, hint in inspect.get_annotations(tool.func, eval_str=True).items()
            if name != tool.context_parameter
        }  # fmt: skip
        hints = called.__annotations__
        called.__signature__ = signature.replace(
            parameters=[each.replace(annotation=hints.get(each.name, each.empty)) for each in parameters],
            return_annotation=hints.get("return", signature.empty),
        )
        return GoogleLongRunning(called) if tool.long_running else GoogleTool(called)

    def _tool(self, tool: BaseTool) -> Any:
        """adknb's tool of the name; google-adk's own for those that it adds (`transfer_to_agent`)."""
        own = self._node.tools.get(tool.name) if isinstance(self._node, LlmNode) else None
        return own if own is not None else tool

    def _response(self, kind: str, answer: Any) -> GoogleResponse | None:
        if isinstance(answer, LlmResponse):
            return from_response(answer)
        content = as_content(answer, self._node.name, kind)
        return GoogleResponse(content=from_content(content)) if content is not None else None

    def _take_over(self, given: LlmRequest, edited: LlmRequest, request: GoogleRequest) -> None:
        """What a callback changed in adknb's request, changed in google-adk's."""
        if edited.tools != given.tools:
            raise NotSupported(
                f"agent {self._node.name!r}: its before_model_callback changed the request's tools, which adknb cannot take "
                "over into google-adk's request. Write the callback for google-adk, on an agent of google-adk."
            )
        if edited.system_instruction != system_text(request):
            request.config.system_instruction = edited.system_instruction
        if edited.contents != given.contents:
            request.contents = [from_content(content) for content in edited.contents]
        for name in {*given.config, *edited.config}:
            if edited.config.get(name) != given.config.get(name):
                setattr(request.config, name, edited.config.get(name))
