"""One client of OpenAI-compatible servers: attempts with what a server takes, streamed pieces, JSON replies."""

from __future__ import annotations

import json
import queue
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import (
    USAGE_OPTION,
    Failure,
    broke_off,
    chain,
    empty_answer,
    instead_of,
    json_object,
    of_connection,
    of_content,
    of_finish,
    of_status,
    of_stream_error,
    plain,
    too_many_chars,
    too_slow,
)
from ctxasm.llm.redaction import StreamRedactor, SurrogateJoiner, joined, out_of_logs, redacted, shares
from ctxasm.model.errors import ModelUnavailable, WindowExceeded, shown
from ctxasm.model.kept import Kept, key_of
from ctxasm.model.messages import Cancel, Message, Usage
from ctxasm.model.results import Assembly

Produce = Generator[str, None, str | None]
"""Yields pieces, returns the finish reason."""


class Pieces:
    """A ModelReply over a generator. `on_close` runs once, however the answer ends; `read_usage` gives what its server counted so far."""

    def __init__(
        self, produce: Produce, on_close: Callable[[], None] | None = None, read_usage: Callable[[], Usage | None] = lambda: None
    ) -> None:
        self._produce, self._on_close, self._read_usage = produce, on_close, read_usage
        self.finish_reason: str | None = None

    @property
    def usage(self) -> Usage | None:
        """See `ReportsUsage`."""
        return self._read_usage()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            return next(self._produce)
        except StopIteration as end:
            self.finish_reason = self.finish_reason or end.value
            self.close()
            raise StopIteration from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the answer. Closing twice is fine."""
        self._produce.close()
        if self._on_close is not None:
            ended, self._on_close = self._on_close, None
            ended()


def usage_in(body: object) -> Usage | None:
    """The counts of a reply's `usage` object; None where it holds no such counts."""
    told = [body.get(name) if isinstance(body, Mapping) else None for name in ("prompt_tokens", "completion_tokens")]
    counts = [count for count in told if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 10**9]
    return Usage(*counts) if len(counts) == 2 else None


_POLL = 0.03
"""Seconds between two looks at `cancel`."""
_FIRST_WAIT = 0.5
"""Seconds before the second attempt; doubled for each further one."""
_LAST_WAIT = 2.0
"""Seconds for the end of the stream once the finish reason is known."""
_WAITING = 1000
"""Pieces that may wait to be taken; a faster server is held up."""

Request = Mapping[str, Any]
"""The body of a chat request, as `chat.completions.create` takes it."""


class Reply(Protocol):
    """What comes back on one attempt. `texts` runs in the worker, `ended` after it, in the caller's thread.

    `is_finished`: the server gave its finish reason. `has_thought`: it sent reasoning. Both may be read at any time.
    """

    @property
    def is_finished(self) -> bool: ...
    @property
    def has_thought(self) -> bool: ...

    def texts(self, client: Any, request: Request) -> Iterator[str]:
        """Send the request and yield its text; an empty string is a sign of life. Raises Failure, or what the package raises."""
        ...

    def ended(self, began: bool, said_done: bool) -> str:
        """The finish reason. Raises Failure where this is no proper end."""
        ...


class _Item(NamedTuple):
    kind: Literal["piece", "alive", "end", "failed"]
    text: str = ""
    failure: Failure | None = None


def without(request: Request, setting: str | None) -> Request | None:
    """The request for a model that refused `setting`, or None where nothing can be changed."""
    if setting not in ("max_tokens", "temperature", USAGE_OPTION) or setting not in request:
        return None
    changed = {name: value for name, value in request.items() if name != setting}
    return {**changed, "max_completion_tokens": request["max_tokens"]} if setting == "max_tokens" else changed


def attempts(
    endpoint: Endpoint,
    request: Request,
    open_reply: Callable[[], Reply],
    cancel: Cancel,
    change: Callable[[Request, str | None], Request | None] = without,
) -> Produce:
    """Ask, and ask again where that may help and nothing has arrived. Yields text, returns the finish reason ("cancelled").

    `change` gives the request for a server that refused a setting, or None. Raises ModelUnavailable with what had arrived.
    """
    left, wait = endpoint.retries, _FIRST_WAIT
    arrived, halves, veil = list[str](), SurrogateJoiner(), StreamRedactor(endpoint.api_key)
    while True:
        attempt, failure = None, None
        try:
            attempt = _Attempt(endpoint, request, open_reply())
            reason = yield from attempt.pieces(cancel, arrived, lambda text: veil.feed(halves.feed(text)))
        except Failure as caught:
            failure = caught
        finally:
            if attempt is not None:
                attempt.end()
        if rest := veil.feed(halves.rest()) + veil.rest():
            arrived.append(rest)
            yield rest
        if failure is None:
            return reason
        changed = None if arrived else change(request, failure.drop)
        if changed is not None:
            request = changed
            continue
        asked = failure.wait or 0.0
        may_retry = failure.retry and (endpoint.awaits_server or not failure.absent)
        if arrived or not may_retry or not left or asked > endpoint.max_retry_after:
            raise failure.as_error("".join(arrived))
        if _slept(max(asked, wait * random.uniform(0.75, 1.0)), cancel):  # noqa: S311 (spreads retries, guards nothing)
            return "cancelled"
        left, wait = left - 1, wait * 2


def _slept(seconds: float, cancel: Cancel) -> bool:
    """Wait; True as soon as cancelled."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if cancel():
            return True
        time.sleep(min(_POLL, left))
    return cancel()


class _Attempt:
    """One attempt: the worker reads the reply, `pieces` takes what it read."""

    def __init__(self, endpoint: Endpoint, request: Request, reply: Reply) -> None:
        import openai  # here, so that loading the package does not count as the server's time

        from ctxasm.llm.transport import open_client

        self._openai, self._endpoint, self._request, self._reply = openai, endpoint, request, reply
        self._client, self._line = open_client(endpoint)
        self._items: queue.Queue[_Item] = queue.Queue(_WAITING)
        self._stopped = threading.Event()
        self._began = False

    def pieces(self, cancel: Cancel, arrived: list[str], shown: Callable[[str], str]) -> Produce:
        """Yield what `shown` gives of what arrives, keeping it in `arrived`. Raises Failure; returns the finish reason.

        Only text buys time: a stream of empty events must end too.
        """
        threading.Thread(target=self._read, name="ctxasm-answer", daemon=True).start()
        deadline = time.monotonic() + self._endpoint.first_piece_timeout
        while True:
            if cancel():
                return "cancelled"
            if self._reply.is_finished:
                deadline = min(deadline, time.monotonic() + _LAST_WAIT)
            try:
                item = self._items.get(timeout=max(0.001, min(_POLL, deadline - time.monotonic())))
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue
                item = self._late(bool(arrived))
            if item.kind == "end":
                if not self._reply.is_finished and (body := self._line.stated_error) is not None:
                    raise of_stream_error(self._endpoint, body, bool(arrived))
                return self._reply.ended(bool(arrived), self._line.said_done)
            if item.failure is not None:
                raise item.failure
            if item.text:
                deadline = time.monotonic() + self._endpoint.piece_timeout
                if text := shown(item.text):
                    arrived.append(text)
                    yield text
            elif time.monotonic() >= deadline:
                raise too_slow(self._endpoint, bool(arrived), self._reply.has_thought)

    def _late(self, began: bool) -> _Item:
        """What it means that nothing came in time: an end, where the finish reason is known."""
        if self._reply.is_finished:
            return _Item("end")
        return _Item("failed", failure=too_slow(self._endpoint, began, self._reply.has_thought))

    def end(self) -> None:
        """Cut the connection; the worker ends by itself."""
        self._stopped.set()
        self._line.cut()

    def _put(self, item: _Item) -> None:
        while not self._stopped.is_set():
            try:
                self._items.put(item, timeout=0.2)
                return
            except queue.Full:
                continue

    def _read(self) -> None:
        try:
            with out_of_logs(self._endpoint.api_key):
                self._take()
            self._put(_Item("end"))
        except Failure as failure:
            self._put(_Item("failed", failure=failure))
        except Exception as error:  # noqa: BLE001 (whatever a server provokes becomes one sentence)
            is_end = self._reply.is_finished and self._began
            self._put(_Item("end") if is_end else _Item("failed", failure=self._judge(error)))
        finally:
            self._client.close()

    def _take(self) -> None:
        # The package never gets the key: the transport adds it to what goes to the server.
        client = self._openai.OpenAI(api_key="none", base_url=self._endpoint.base_url, max_retries=0, http_client=self._client)
        for text in self._reply.texts(client, self._request):
            self._began = self._began or bool(text)
            self._put(_Item("piece" if text else "alive", text))
            if self._stopped.is_set():
                return

    def _judge(self, error: Exception) -> Failure:
        from ctxasm.llm.transport import retry_after

        openai, where = self._openai, self._endpoint
        if stated := [cause for cause in chain(error) if isinstance(cause, Failure)]:
            return stated[0]
        if isinstance(error, openai.APIStatusError):
            return of_status(where, error.status_code, error.body, retry_after(error.response.headers))
        if (
            isinstance(error, openai.APIConnectionError)
            or type(error).__module__.startswith(("httpx2", "httpcore"))
            or isinstance(error, OSError)
        ):
            return of_connection(where, error, self._began, self._line.is_proxied)
        if isinstance(error, openai.APIError):
            return of_stream_error(where, error.body, self._began)
        return of_content(where, error)


_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_MAX_TRIES = 100
"""Braces at which an object is looked for: each try may read to the end of the reply."""
_MAX_DEPTH = 40
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


class NotValid(Exception):
    """The reply holds no object that fits. The message says where and why, for the model and for the user."""


def object_in(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The first JSON object in `text` that fits `schema`, whatever stands around it. Raises NotValid.

    Where several objects are found and none fits, the message is about the first.
    """
    text, first, at = without_thought(text), "", -1
    decoder = json.JSONDecoder(parse_constant=_refuse)
    for _ in range(_MAX_TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            break
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if not (problem := problem_of(found, schema)):
            assert isinstance(found, dict)
            return found
        first, at = first or problem, end - 1
    raise NotValid(first or "there is no JSON object in it")


def without_thought(text: str) -> str:
    """A reply without what a reasoning model thinks aloud before it."""
    return _THOUGHT.sub("", text, count=1)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def problem_of(value: object, schema: Mapping[str, Any]) -> str:
    """What of `value` does not fit `schema`, with its path, or nothing."""
    return _problem(value, schema, schema, "the reply", 0)


def _problem(value: object, schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int) -> str:
    schema = _resolved(schema, root)
    if depth > _MAX_DEPTH:
        return f"{path} is nested too deep"
    if "anyOf" in schema and all(_problem(value, branch, root, path, depth + 1) for branch in schema["anyOf"]):
        return f"{path} fits none of the allowed forms, got {shown(value, 40)}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if kinds and not any(_TYPES[kind](value) for kind in kinds if kind in _TYPES):
        return f"{path} must be {' or '.join(kinds)}, got {shown(value, 40)}"
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(value == one and type(value) is type(one) for one in allowed):
        return f"{path} must be one of {', '.join(map(shown, allowed))}, got {shown(value, 40)}"
    if bound := _out_of_bounds(value, schema):
        return f"{path} must be {bound}, got {shown(value, 40)}"
    if isinstance(value, dict):
        return _problem_inside(value, schema, root, path, depth)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        problems = (_problem(item, schema["items"], root, f"{path}[{place}]", depth + 1) for place, item in enumerate(value))
        return next(filter(None, problems), "")
    return ""


def _problem_inside(value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int) -> str:
    for name in schema.get("required", ()):
        if name not in value:
            return f"{path} lacks the field {name}"
    problems = (
        _problem(value[name], inner, root, f"{path}.{name}", depth + 1)
        for name, inner in schema.get("properties", {}).items()
        if name in value
    )
    return next(filter(None, problems), "")


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(_MAX_DEPTH):
        name = schema.get("$ref")
        if not isinstance(name, str):
            break
        schema = root.get("$defs", {}).get(name.rpartition("/")[2], {})
    return schema


def _out_of_bounds(value: object, schema: Mapping[str, Any]) -> str:
    """The bound that `value` breaks, in words."""
    size: float | None = None
    low, high, unit = "minimum", "maximum", ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        size = value
    elif isinstance(value, list):
        size, low, high, unit = len(value), "minItems", "maxItems", " items"
    elif isinstance(value, str):
        size, low, high, unit = len(value), "minLength", "maxLength", " characters"
    if size is None:
        return ""
    if low in schema and size < schema[low]:
        return f"at least {schema[low]}{unit}"
    return f"at most {schema[high]}{unit}" if high in schema and size > schema[high] else ""


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


_STREAMS = ("text/event-stream", "text/plain", "application/octet-stream", "")
"""Content types under which servers send a stream; some name none."""
_REASONS = {
    **dict.fromkeys(("model_length", "max_tokens", "max_length"), "length"),
    **dict.fromkeys(("safety", "SAFETY", "RECITATION", "content-filter"), "content_filter"),
    **dict.fromkeys(("eos", "eos_token", "stop_sequence", "end_turn", "STOP"), "stop"),
    "null": "",
}
"""What some servers write instead of the reasons of the standard."""
_counts_nothing: Kept[bool] = Kept(64)
"""The models at a base URL that refuse to be asked for their counts, in this process. Never the key."""


class OpenAIModel:
    """A language model behind an OpenAI-compatible endpoint."""

    is_language_model = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @property
    def name(self) -> str:
        return f"{self._endpoint.model} at {self._endpoint.host}"

    @property
    def address(self) -> str:
        """The whole base URL, to tell servers of one host apart. Never shown: a key may hide in it."""
        return self._endpoint.base_url

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name})"

    def stream(
        self,
        messages: Sequence[Message],
        *,
        assembly: Assembly,
        temperature: float = 0.0,
        max_tokens: int = 512,
        cancel: Cancel | None = None,
    ) -> Pieces:
        """Ask. Nothing is sent until the first piece is taken. Iterating raises ModelUnavailable with `partial`."""
        return stream_reply(self._endpoint, messages, temperature=temperature, max_tokens=max_tokens, cancel=cancel)


def stream_reply(
    endpoint: Endpoint, messages: Sequence[Message], *, temperature: float = 0.0, max_tokens: int = 512, cancel: Cancel | None = None
) -> Pieces:
    """The reply to some messages as it comes; as `OpenAIModel.stream`, for questions that are about no assembly."""
    request: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "temperature": temperature,
        "max_tokens": max_tokens,
        "stream": True,
    }
    place = key_of(endpoint.base_url, endpoint.model)
    if not _counts_nothing.get(place):
        request[USAGE_OPTION] = {"include_usage": True}
    replies: list[_Streamed] = []

    def open_reply() -> _Streamed:
        replies.append(_Streamed(endpoint))
        return replies[-1]

    def change(refused: Request, setting: str | None) -> Request | None:
        if setting == USAGE_OPTION:
            _counts_nothing.put(place, True)
        return without(refused, setting)

    produce = attempts(endpoint, request, open_reply, cancel or (lambda: False), change)
    return Pieces(produce, read_usage=lambda: replies[-1].usage if replies else None)


class _Streamed:
    """A streamed reply: the text of the first choice."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._chars, self._reason = 0, ""
        self.has_thought = False
        self.usage: Usage | None = None

    @property
    def is_finished(self) -> bool:
        return bool(self._reason)

    def texts(self, client: Any, request: Request) -> Iterator[str]:
        stream = client.chat.completions.create(**request)
        kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _STREAMS:
            raise instead_of(self._endpoint, kind, "a stream")
        for chunk in stream:
            if getattr(chunk, "object", "") == "error":
                raise of_stream_error(self._endpoint, chunk.model_dump(), self._chars > 0)
            self._take_usage(getattr(chunk, "usage", None))
            yield self._text_of(getattr(chunk, "choices", None))

    def _take_usage(self, usage: object) -> None:
        self.usage = usage_in(usage.model_dump() if hasattr(usage, "model_dump") else usage) or self.usage

    def _text_of(self, choices: object) -> str:
        first = (one for one in choices if getattr(one, "index", None) in (0, None)) if isinstance(choices, list) else iter(())
        choice = next(first, None)
        delta = getattr(choice, "delta", None)
        reason = plain(str(getattr(choice, "finish_reason", None) or ""))
        self._reason = _REASONS.get(reason, reason) or self._reason
        self.has_thought = self.has_thought or any(getattr(delta, name, None) for name in ("reasoning_content", "reasoning"))
        text = getattr(delta, "content", None)
        text = text if isinstance(text, str) else ""
        self._chars += len(text)
        if self._chars > self._endpoint.max_answer_chars:
            raise too_many_chars(self._endpoint)
        return text

    def ended(self, began: bool, said_done: bool) -> str:
        if failure := of_finish(self._endpoint, self._reason):
            raise failure
        if not self._reason and not said_done:
            raise broke_off(self._endpoint) if began else empty_answer(self._endpoint, retry=True)
        if not began and self._reason in ("", "stop"):
            raise empty_answer(self._endpoint)
        return self._reason or "stop"
