"""Cases played by google-adk alone into its own database files, as a user's service would have stored them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

from google.adk.events import Event as GoogleEvent, EventActions as GoogleActions
from google.adk.models import LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.session import Session as GoogleSession
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from tests.adk import plain

SERVICES = ("DatabaseSessionService", "SqliteSessionService")


class Reporting(plain.Scripted):
    """Reports its tokens, as a real model does."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse]:
        async for response in super().generate_content_async(llm_request, stream):
            response.usage_metadata = types.GenerateContentResponseUsageMetadata(
                prompt_token_count=7, candidates_token_count=3
            )
            yield response


def service(kind: str, path: Path) -> DatabaseSessionService | SqliteSessionService:
    if kind == "DatabaseSessionService":
        return DatabaseSessionService(f"sqlite+aiosqlite:///{path}")
    return SqliteSessionService(str(path))


async def play(
    case: Mapping[str, Any], sessions: DatabaseSessionService | SqliteSessionService
) -> tuple[plain.Log, Any]:
    """Every request by agent, and the pipeline; the session has the case's id, and a user of its own."""
    log: plain.Log = {}
    root = plain.build(case["root"], log)
    name = case["id"]
    await sessions.create_session(app_name=plain.APP, user_id=name, state=dict(case.get("state", {})), session_id=name)
    runner = Runner(agent=root, app_name=plain.APP, session_service=sessions)
    try:
        for turn in case["turns"]:
            message = types.Content(role="user", parts=[types.Part(text=turn)])
            async for _ in runner.run_async(user_id=name, session_id=name, new_message=message):
                continue
    except Exception as error:  # what google-adk raises here depends on the case; the log says what was sent before
        log["error"] = [{"error": str(error)}]
    return log, root


USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=7, candidates_token_count=3, thoughts_token_count=2, cached_content_token_count=1
)


def said(role: str, *parts: types.Part) -> types.Content:
    return types.Content(role=role, parts=list(parts))


def events() -> list[GoogleEvent]:
    """Events with everything that google-adk puts into one."""
    call = types.FunctionCall(id="c1", name="ask", args={"question": "ünï\u2028", "n": 1.0})
    answer = types.FunctionResponse(id="c1", name="ask", response={"status": "pending", "deep": [{"a": None}]})
    return [
        GoogleEvent(
            author="user", invocation_id="i1", content=said("user", types.Part(text="hi")),
            actions=GoogleActions(state_delta={"k": 1, "app:a": "x", "user:u": [1], "temp:t": "gone"}),
        ),
        GoogleEvent(
            author="A", invocation_id="i1", branch="fan.A", usage_metadata=USAGE, model_version="gemini-2.5-flash",
            finish_reason=types.FinishReason.STOP, long_running_tool_ids={"c1"},
            content=said(
                "model", types.Part(text="hm", thought=True), types.Part(function_call=call, thought_signature=b"\xff\xfe"),
            ),
        ),
        GoogleEvent(
            author="A", invocation_id="i1", branch="fan.A", content=said("user", types.Part(function_response=answer)),
            actions=GoogleActions(artifact_delta={"a.txt": 2}, skip_summarization=True, escalate=True, state_delta={"k": None}),
        ),
        GoogleEvent(
            author="B", invocation_id="i1", branch="fan.B", grounding_metadata=types.GroundingMetadata(),
            content=said(
                "model", types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\x00\xff")),
                types.Part(file_data=types.FileData(file_uri="gs://bucket/o", mime_type="text/plain")),
                types.Part(executable_code=types.ExecutableCode(code="1+1", language=types.Language.PYTHON)),
                types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_FAILED, output="no")),
                types.Part(text=""),
            ),
            actions=GoogleActions(transfer_to_agent="C"),
        ),
        GoogleEvent(author="C", invocation_id="i1", error_code="SAFETY", error_message="no", custom_metadata={"x": 1}),
    ]  # fmt: skip


async def keep(kind: str, path: Path, given: list[GoogleEvent], user: str = "u") -> GoogleSession:
    """Store the events, and read the session as google-adk reads it."""
    sessions = service(kind, path)
    session = await sessions.create_session(
        app_name="app", user_id=user, session_id="s", state={"start": "value", "user:tier": user}
    )
    for event in given:
        await sessions.append_event(session, event)
    found = await sessions.get_session(app_name="app", user_id=user, session_id="s")
    await sessions.close()
    assert found is not None
    return found
