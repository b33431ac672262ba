"""One question, one JSON object that fits a schema: for a model that judges, not one that writes.

The form of the reply is asked for as strictly as the server takes it: a JSON schema, else any JSON object, else plain
text from which the object is taken. What a server takes is remembered for the life of the process, because a judge
asks hundreds of times. The reply is not streamed: half a verdict is of no use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ctxasm.llm.attempt import Request, attempts, without
from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import Failure, empty_answer, json_object, of_finish, plain, too_many_chars
from ctxasm.llm.json_reply import NotValid, object_in
from ctxasm.llm.pieces import Pieces, usage_in
from ctxasm.llm.secrecy import redacted, shares
from ctxasm.llm.surrogates import joined
from ctxasm.model.errors import ModelUnavailable, WindowExceeded
from ctxasm.model.messages import Cancel, Message

FORMS = ("json_schema", "json_object", "text")
"""From strict to lax."""
_QUOTED = 2000
"""Characters of a reply that did not fit, as the model gets it back."""
_taken: dict[tuple[str, str], str] = {}
"""The form that a model at a base URL takes. Never the key."""


class Completion(NamedTuple):
    """An object that fits the schema. Tokens are what the server reports, over all `calls` that it took; `model` names itself.

    `counted` is False where a reply told no usage: the tokens are then too low, not exact.
    """

    data: dict[str, Any]
    tokens_in: int
    tokens_out: int
    model: str
    calls: int = 1
    counted: bool = True


def complete_json(
    endpoint: Endpoint,
    messages: Sequence[Message],
    *,
    schema: Mapping[str, Any],
    schema_name: str,
    max_tokens: int,
    cancel: Cancel | None = None,
) -> Completion:
    """Ask once, and once more where the reply does not fit. Blocks until then; `cancel` ends it within 0.1 s.

    `schema` is a JSON schema of an object, as strict mode wants it: every property required, no additional ones. Of
    `schema_name` only letters, digits, `_` and `-` are sent. `endpoint.first_piece_timeout` is the time for the whole
    reply. Raises ModelUnavailable in one sentence for every fault, for a reply that twice does not fit, and when cancelled.
    """
    asking = _Asking(endpoint, schema, schema_name, max_tokens)
    sent, problem, spent = list(messages), "", _Usage()
    for _ in range(2):
        reply = asking.ask(sent, cancel or (lambda: False))
        spent = spent.plus(reply.usage)
        try:
            data = object_in(reply.text, schema)
        except NotValid as error:
            problem = str(error)
        else:
            return Completion(data, spent.tokens_in, spent.tokens_out, reply.model, spent.calls, spent.counted)
        if reply.reason == "length":
            raise _incomplete(endpoint, reply.usage, max_tokens)
        again = f"That does not fit: {problem}. Reply with the corrected JSON object and nothing else."
        sent = [*messages, Message("assistant", reply.text[:_QUOTED]), Message("user", again)]
    raise ModelUnavailable(f"{_name(endpoint)} gave no JSON that fits, twice ({plain(problem, 120)}): choose another model")


def _name(endpoint: Endpoint) -> str:
    return f"{endpoint.model} at {endpoint.host}"


def _incomplete(endpoint: Endpoint, usage: _Usage, max_tokens: int) -> ModelUnavailable:
    """Which of the two limits ended a reply: that of the answer, or, where it had not come so far, the window."""
    if usage.counted and usage.tokens_out < max_tokens:
        full = f"{usage.tokens_in:,} tokens of prompt and {usage.tokens_out:,} of its reply fill the window"
        return WindowExceeded(f"{_name(endpoint)} could not complete its JSON: {full}: send less, or choose a model with a larger one")
    return ModelUnavailable(f"{_name(endpoint)} reached {max_tokens} tokens before its JSON was complete: raise the maximum")


class _Usage(NamedTuple):
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0
    counted: bool = True

    def plus(self, other: _Usage) -> _Usage:
        return _Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.calls + other.calls,
            self.counted and other.counted,
        )


class _Asking:
    """What is sent to one server, changed to what it takes."""

    def __init__(self, endpoint: Endpoint, schema: Mapping[str, Any], schema_name: str, max_tokens: int) -> None:
        self._endpoint, self._schema, self._max_tokens = endpoint, schema, max_tokens
        self._name = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in schema_name)[:64] or "reply"
        self._place = (endpoint.base_url, endpoint.model)

    def ask(self, messages: Sequence[Message], cancel: Cancel) -> _Whole:
        """One reply as text. Raises ModelUnavailable."""
        replies: list[_Whole] = []

        def open_reply() -> _Whole:
            replies.append(_Whole(self._endpoint))
            return replies[-1]

        def change(request: Request, setting: str | None) -> Request | None:
            if setting != "response_format" or "response_format" not in request:
                return without(request, setting)
            lower = FORMS[FORMS.index(request["response_format"]["type"]) + 1]
            self._remember(lower)
            kept = {name: value for name, value in request.items() if name not in ("response_format", "messages")}
            return {**kept, **self._formed(messages, lower)}

        request = {"model": self._endpoint.model, "temperature": 0.0, "max_tokens": self._max_tokens, "stream": False}
        request |= self._formed(messages, _taken.get(self._place, FORMS[0]))
        pieces = Pieces(attempts(self._endpoint, request, open_reply, cancel, change))
        for _ in pieces:
            pass
        if pieces.finish_reason == "cancelled":
            raise ModelUnavailable(f"the question to {_name(self._endpoint)} was stopped on request")
        return replies[-1]

    def _remember(self, form: str) -> None:
        if len(_taken) >= 64:
            _taken.clear()
        _taken[self._place] = form

    def _formed(self, messages: Sequence[Message], form: str) -> dict[str, Any]:
        """The messages and the response format. Where no schema can be enforced, the model is told it."""
        sent = [{"role": message.role, "content": message.content} for message in messages]
        if form == "json_schema":
            named = {"name": self._name, "schema": dict(self._schema), "strict": True}
            return {"messages": sent, "response_format": {"type": "json_schema", "json_schema": named}}
        told = f"Reply with one JSON object that fits this JSON schema, and with nothing else: {json.dumps(self._schema)}"
        place = 0 if sent and sent[0]["role"] == "system" else -1
        sent[place] = {**sent[place], "content": f"{sent[place]['content']}\n\n{told}"}
        return {"messages": sent, **({"response_format": {"type": "json_object"}} if form == "json_object" else {})}


class _Whole:
    """A reply that comes in one part."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.text, self.reason, self.model, self.usage = "", "", endpoint.model, _Usage(calls=1, counted=False)
        self.is_finished, self.has_thought = False, False

    def texts(self, client: Any, request: Request) -> Iterator[str]:
        raw = client.chat.completions.with_raw_response.create(**request)
        self._read(json_object(self._endpoint, raw))
        yield self.text

    def _read(self, body: Mapping[str, Any]) -> None:
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        choice = choice if isinstance(choice, dict) else {}
        message = choice.get("message")
        message = message if isinstance(message, dict) else {}
        text = message.get("content")
        self.text = redacted(joined(text), self._endpoint.api_key) if isinstance(text, str) else ""
        self.reason = plain(str(choice.get("finish_reason") or ""))
        if len(self.text) > self._endpoint.max_answer_chars:
            raise too_many_chars(self._endpoint)
        if not self.text and isinstance(message.get("refusal"), str):
            raise Failure(f"{_name(self._endpoint)} declined to answer: choose another model")
        model = body.get("model")
        is_told = isinstance(model, str) and not shares(model, self._endpoint.api_key)
        self.model = (plain(str(model), 100) if is_told else "") or self._endpoint.model
        if (usage := usage_in(body.get("usage"))) is not None:
            self.usage = _Usage(*usage, 1, True)

    def ended(self, began: bool, said_done: bool) -> str:
        if not began and (failure := of_finish(self._endpoint, self.reason)):
            raise failure
        if not began and self.reason == "content_filter":
            raise Failure(f"the content filter of {_name(self._endpoint)} stopped the reply: choose another model")
        if not began and self.reason != "length":
            raise empty_answer(self._endpoint)
        return self.reason or "stop"
