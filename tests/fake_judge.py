"""Replies of a model that is asked for JSON, good and bad, by model name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse, Response

JUDGES = (
    "json-ok",
    "json-in-fence",
    "json-after-thought",
    "json-no-schema",
    "json-refused-format",
    "json-second-try",
    "json-garbage",
    "json-wrong-fields",
    "json-no-usage",
    "json-length",
    "json-window",
    "json-filter",
    "json-refusal",
    "json-tool-call",
    "json-error-body",
    "json-broken-body",
    "json-latin1-body",
    "json-deep",
    "json-no-choices",
    "json-empty",
    "json-stream",
    "json-huge",
    "json-echo-key",
)


def refusal_of_form(name: str, body: dict[str, Any]) -> str:
    """Why this model does not take the form of reply that it is asked for, or nothing."""
    form = body.get("response_format", {}).get("type")
    if name == "json-no-schema" and form == "json_schema":
        return "This response_format type is unavailable now"
    return f"response_format.type '{form}' is not supported" if name == "json-refused-format" and form else ""


def content_of(name: str, attempt: int, right: str, key: str) -> str | None:
    match name:
        case "json-in-fence":
            return f"Here is the result:\n```json\n{right}\n```\nAnything {{else}}?"
        case "json-after-thought":
            return f'<think>Perhaps {{"verdict": "no"}}?</think>{right}'
        case "json-second-try":
            return right if attempt % 2 == 0 else "I think it is fine."
        case "json-garbage":
            return "{ verdict: maybe"
        case "json-wrong-fields":
            return '{"verdict": 7}'
        case "json-length" | "json-window":
            return right[:5]
        case "json-deep":
            return '{"a":' * 30_000
        case "json-filter" | "json-refusal" | "json-tool-call":
            return None
        case "json-empty":
            return ""
        case "json-huge":
            return "x" * 250_000
        case "json-echo-key":
            return json.dumps({"verdict": key})
    return right


def judged(name: str, body: dict[str, Any], attempt: int, judge: Callable[[dict[str, Any]], object], key: str = "") -> Response:
    """The whole reply of this model. `judge` gives the object of a right one."""
    if why := refusal_of_form(name, body):
        return JSONResponse({"error": {"message": why, "type": "invalid_request_error"}}, 400)
    if name == "json-error-body":
        return JSONResponse({"error": {"message": "worker died"}})
    if name == "json-broken-body":
        return Response('{"choices": [', media_type="application/json")
    if name == "json-latin1-body":
        return Response(b'{"choices": "caf\xe9"}', media_type="application/json")
    if name == "json-stream":
        return Response("data: {}\n\ndata: [DONE]\n\n", media_type="text/event-stream")
    message: dict[str, Any] = {"role": "assistant", "content": content_of(name, attempt, json.dumps(judge(body)), key)}
    if name == "json-refusal":
        message["refusal"] = "I cannot help with that."
    if name == "json-tool-call":
        message["tool_calls"] = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    reason = {"json-length": "length", "json-window": "length", "json-filter": "content_filter", "json-tool-call": "tool_calls"}.get(
        name, "stop"
    )
    reply: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 0, "model": "fake-judge-1"}
    reply["choices"] = [] if name == "json-no-choices" else [{"index": 0, "message": message, "finish_reason": reason}]
    if name != "json-no-usage":
        written = body["max_tokens"] if name == "json-length" else 20
        reply["usage"] = {"prompt_tokens": 100, "completion_tokens": written, "total_tokens": 100 + written}
    return JSONResponse(reply)
