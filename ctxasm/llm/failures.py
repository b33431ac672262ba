"""Every way in which a model server fails, as one sentence: what, where, what to do. Never the key, never the whole URL."""

from __future__ import annotations

import json
import re
import ssl
import unicodedata
from typing import Any

from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.redaction import shares
from ctxasm.model.errors import ModelUnavailable, WindowExceeded

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses worth another attempt."""
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:context|tokens)|too (?:long|many tokens|large)|exceed\w* .{0,40}(?:context|token)"
    r"|tokens.{0,40}must be <=",
    re.I,
)
_TOO_LONG_CODES = ("context_length_exceeded", "exceed_context_size_error")
"""What OpenAI and those who follow it, and llama.cpp, call it."""
_COUNT = r"(\d{1,3}(?:,\d{3})+|\d{1,10})"
_WINDOW_SIZES = tuple(
    re.compile(form, re.I)
    for form in (
        rf"(?:context (?:length|window|size)|maximum number of tokens)\D{{0,40}}?{_COUNT}",
        rf"(?:>|<=) ?{_COUNT}",
        rf"{_COUNT} (?:tokens? )?max",
    )
)
"""Where servers name the size of the window, the surest form first."""
_PROMPT_SIZES = tuple(
    re.compile(form, re.I)
    for form in (
        rf"{_COUNT} (?:tokens )?(?:in|from) the (?:input|prompt|messages)",
        rf"{_COUNT} (?:`?inputs?`?|prompt)\b",
        rf"(?:request(?:ed)?|input|contains|resulted in|too long:|given:|the first)\D{{0,25}}?{_COUNT}",
    )
)
"""Where they name that of the prompt: what was asked for in all, answer and prompt together, comes last."""
_ANSWER_TOO_LONG = re.compile(r"max\w*_tokens\W{0,3} (?:is too large|value|exceeds|cannot)|at most \d+ completion", re.I)
USAGE_OPTION = "stream_options"
"""Asks for the server's own counts at the end of a stream; older servers do not know it."""
_FORMAT = re.compile(r"response_format|json_(?:schema|object)|structured|guided|grammar|schema|unsupported|not support", re.I)
"""How servers say that they do not take a wanted form of the answer; each in its own words."""


class ServerAbsent(ModelUnavailable):
    """Nothing answers at the address at all."""


class Failure(Exception):
    """What went wrong, already in words. `retry` says whether another attempt may help, `wait` what the server asked for.

    `absent`: there is no server at that address, or no such name. `of_window`: what was sent, with the answer, is too long, or may be;
    `prompt` are its tokens by the server's count, where it says them apart from the answer's.
    """

    def __init__(
        self,
        sentence: str,
        *,
        retry: bool = False,
        wait: float | None = None,
        drop: str | None = None,
        absent: bool = False,
        of_window: bool = False,
        prompt: int | None = None,
    ) -> None:
        self.sentence, self.retry, self.wait, self.drop, self.absent = sentence, retry, wait, drop, absent
        self.of_window, self.prompt = of_window, prompt
        super().__init__(sentence)

    def as_error(self, partial: str) -> ModelUnavailable:
        """The error for the caller, with what had arrived."""
        if self.of_window:
            return WindowExceeded(self.sentence, partial, self.prompt)
        return (ServerAbsent if self.absent else ModelUnavailable)(self.sentence, partial)


def of_status(endpoint: Endpoint, status: int, body: object, wait: float | None) -> Failure:
    """The failure that a server stated with an HTTP status. `body` is its JSON error object, if any."""
    where, detail = endpoint.host, _detail(endpoint, body)
    if status in (400, 413, 422) or (status >= 500 and _is_too_long(body)):
        return _of_refusal(endpoint, status, body)
    if status == 429 and "insufficient_quota" in (_field(body, "code"), _field(body, "type")):
        return Failure(f"{where} answers that the account has no quota left: check its plan and billing, or choose another model")
    if status == 429:
        later = (
            "in a minute"
            if wait is None
            else f"after {max(2, round(wait))} seconds"
            if wait <= 3600
            else "in some hours, or choose another model"
        )
        return Failure(f"{where} takes no more requests for now (429): ask again {later}", retry=True, wait=wait)
    sentence = {
        401: f"{where} did not accept the API key (401): check the key in the environment or secrets",
        402: f"{where} answers that the account has no credit left (402): check its billing, or choose another model",
        403: f"{where} does not allow this key to use {endpoint.model} (403): check the key's rights or choose another model",
        404: f"{where} does not know the model {endpoint.model}, or the base URL is wrong (404): check both; the URL usually ends in /v1",
        405: f"{where} takes no chat requests at this address (405): check the base URL; it usually ends in /v1",
        408: f"{where} gave up waiting for the request (408): ask again",
        409: f"{where} is busy with a request that conflicts with this one (409): ask again in a moment",
    }.get(status)
    if sentence is None and 300 <= status < 400:
        sentence = f"{where} sends requests on to another address ({status}): enter that address as the base URL"
    if sentence is None and status >= 500:
        sentence = f"{where} has a problem of its own ({status}): ask again later, or choose another model"
    return Failure(
        sentence or f"{where} answered with status {status}{detail}: check the base URL and the model", retry=status in RETRIED, wait=wait
    )


def _of_refusal(endpoint: Endpoint, status: int, body: object) -> Failure:
    """A request that the server will not take as it is."""
    where, code, message = endpoint.host, _field(body, "code"), _field(body, "message")
    if (named := json.dumps(body, default=str)) and any(option in named for option in (USAGE_OPTION, "include_usage")):
        return Failure(f"{where} refused the request{_detail(endpoint, body)}: check the model's name and settings", drop=USAGE_OPTION)
    if code == "content_filter":
        return Failure(f"the content filter of {where} refused the question: put it in other words, or choose another model")
    if _ANSWER_TOO_LONG.search(message):
        if _TOO_LONG.search(message) and all(window_sizes(body)):
            return _of_length(endpoint, body)
        sentence = f"{endpoint.model} at {where} gives no answer of that length: lower the maximum answer length"
        return Failure(sentence, drop="max_tokens" if "max_completion_tokens" in message else None)
    if status == 413 or _is_too_long(body):
        return _of_length(endpoint, body)
    sentence = f"{where} refused the request{_detail(endpoint, body)}: check the model's name and settings"
    return Failure(sentence, drop=_refused_setting(body))


def _is_too_long(body: object) -> bool:
    is_named = any(_field(body, name) in _TOO_LONG_CODES for name in ("code", "type"))
    return is_named or _TOO_LONG.search(_field(body, "message")) is not None


def window_sizes(body: object) -> tuple[int | None, int | None]:
    """Tokens of the prompt and of the window, as the server counts them in a refusal; None for what it does not say."""
    message = _field(body, "message")
    return _size(_field(body, "n_prompt_tokens"), message, _PROMPT_SIZES), _size(_field(body, "n_ctx"), message, _WINDOW_SIZES)


def _size(field: str, message: str, forms: tuple[re.Pattern[str], ...]) -> int | None:
    found = re.fullmatch(_COUNT, field) or next(filter(None, (form.search(message) for form in forms)), None)
    return int(found[1].replace(",", "")) if found else None


def _of_length(endpoint: Endpoint, body: object) -> Failure:
    """A prompt that leaves the answer no room in the window, or does not fit at all, with the sizes that the server names."""
    name, (prompt, window) = f"{endpoint.model} at {endpoint.host}", window_sizes(body)
    what, remedy = "the prompt is too long", "lower max_tokens"
    if prompt is not None and window is not None and prompt <= window:
        what, remedy = "prompt and answer together are too long", "lower max_tokens or the maximum answer length"
    says = [f"counts {prompt:,} tokens"] if prompt is not None else []
    says += [f"has a window of {window:,}"] if window is not None else []
    sizes = f", which {' and '.join(says)}" if says else ""
    alone = _size(_field(body, "n_prompt_tokens"), _field(body, "message"), _PROMPT_SIZES[:2])
    return Failure(f"{what} for {name}{sizes}: {remedy}, or choose a model with a larger window", of_window=True, prompt=alone)


def of_stream_error(endpoint: Endpoint, body: object, began: bool) -> Failure:
    """An error object that came as an event of the stream, under a status that said all was well."""
    where, code = endpoint.host, _field(body, "code") or _field(body, "status")
    if began and _is_too_long(body):
        return _of_length(endpoint, body)
    if began:
        return Failure(f"{where} reported an error in the middle of its answer{_detail(endpoint, body)}: ask again")
    if re.fullmatch(r"[45]\d\d", code):
        return of_status(endpoint, int(code), body, None)
    if code == "content_filter" or _is_too_long(body):
        return _of_refusal(endpoint, 400, body)
    sentence = f"{where} reported an error instead of an answer{_detail(endpoint, body)}: ask again later, or choose another model"
    return Failure(sentence, retry=True)


def of_connection(endpoint: Endpoint, error: BaseException, began: bool, is_proxied: bool = False) -> Failure:
    """The failure behind a broken, refused or timed-out connection. `began`: something had arrived."""
    where, causes = endpoint.host, chain(error)
    if began:
        return Failure(f"{where} broke off in the middle of its answer: ask again")
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return _of_tls(where, causes)
    text, kinds = " ".join(str(cause) for cause in causes), {type(cause).__name__ for cause in causes}
    if "ProxyError" in kinds or (is_proxied and "ConnectError" in kinds):
        return Failure(f"the proxy named in HTTPS_PROXY does not connect to {where}: check the proxy, or add the host to NO_PROXY")
    if "ConnectTimeout" in kinds:
        return Failure(f"{where} did not take the connection within {endpoint.connect_timeout:g} seconds: check that it runs", retry=True)
    if "gaierror" in kinds or re.search(r"Name or service|getaddrinfo|resolution|nodename", text):
        return Failure(f"the name {where} cannot be found: check the base URL and the network", absent=True)
    if "ConnectError" in kinds or "ConnectionRefusedError" in kinds:
        sentence = f"nothing answers at {where}: check that the model server runs and that the base URL is right"
        return Failure(sentence, retry=True, absent=True)
    if any(kind.endswith("Timeout") or kind == "APITimeoutError" for kind in kinds):
        return too_slow(endpoint, began=False)
    if "RemoteProtocolError" in kinds and not re.search(r"disconnected|closed|incomplete", text):
        return Failure(f"{where} does not answer in HTTP: check host and port in the base URL")
    hint = "ask again, or check the base URL, also whether it begins with http or https"
    return Failure(f"{where} closed the connection without an answer: {hint}", retry=True)


def _of_tls(where: str, causes: list[BaseException]) -> Failure:
    reason = next((cause.verify_message for cause in causes if isinstance(cause, ssl.SSLCertVerificationError)), "")
    if reason:
        why = reason.partition(",")[0].partition(" for ")[0][:60].lower()
        return Failure(f"the certificate of {where} is not trusted ({why}): correct it, or name the file of its issuer in SSL_CERT_FILE")
    return Failure(f"no secure connection to {where}: it speaks no TLS or another version; check http or https in the base URL")


def too_slow(endpoint: Endpoint, began: bool, has_thought: bool = False) -> Failure:
    """No text came in time. `has_thought`: the model sent reasoning."""
    where, seconds = endpoint.host, f"{endpoint.first_piece_timeout:g} seconds"
    if began:
        return Failure(f"{where} stopped sending for {endpoint.piece_timeout:g} seconds in the middle of its answer: ask again")
    if has_thought:
        return Failure(f"{endpoint.model} at {where} was still thinking after {seconds}: raise the timeout, or choose one that thinks less")
    return Failure(f"{where} sent nothing within {seconds}: ask again, or raise the timeout")


def broke_off(endpoint: Endpoint) -> Failure:
    """The stream ended without saying so."""
    return Failure(f"{endpoint.host} broke off in the middle of its answer: ask again")


def of_finish(endpoint: Endpoint, reason: str) -> Failure | None:
    """The failure behind a finish reason that is no end of an answer."""
    name = f"{endpoint.model} at {endpoint.host}"
    if reason in ("tool_calls", "function_call"):
        return Failure(f"{name} wants to call a tool instead of answering: choose a model or server without tools of its own")
    if reason in ("error", "abort", "insufficient_system_resource"):
        return Failure(f"{name} ended its answer with an error: ask again")
    return None


def too_many_chars(endpoint: Endpoint) -> Failure:
    """The text of the answer passed the limit."""
    return Failure(f"{endpoint.host} sent more than {endpoint.max_answer_chars} characters: lower the maximum answer length")


def empty_answer(endpoint: Endpoint, *, retry: bool = False) -> Failure:
    """The reply holds no text. `retry` where it also had no proper end. Many servers end so where the prompt fills the window."""
    cause = "most likely the prompt does not fit the window that the model was started with"
    remedy = f"lower max_tokens or give it a larger window, else check that {endpoint.model} answers chat requests"
    return Failure(f"{endpoint.host} sent an empty answer: {cause}; {remedy}", retry=retry, of_window=True)


def instead_of(endpoint: Endpoint, kind: str, wanted: str) -> Failure:
    """The reply has content type `kind`, which is not `wanted`."""
    told = kind if re.fullmatch(r"[a-z]+/[a-z0-9.+-]{1,50}", kind) and not shares(kind, endpoint.api_key) else "something else"
    return Failure(f"{endpoint.host} answered with {told} instead of {wanted}: check the base URL; it usually ends in /v1")


def json_object(endpoint: Endpoint, reply: Any) -> dict[str, Any]:
    """The object that a reply of the client holds, whole; an empty one for other JSON. Raises Failure, ValueError."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not (kind.endswith("json") or kind in ("text/plain", "")):
        raise instead_of(endpoint, kind, "JSON")
    body = json.loads(reply.content)
    if not isinstance(body, dict):
        return {}
    if body.get("error"):
        raise of_stream_error(endpoint, body, began=False)
    return body


def plain(text: str, limit: int = 60) -> str:
    """At most `limit` printable characters of a server's own words."""
    return "".join(char for char in text[:limit] if char.isprintable())


def of_content(endpoint: Endpoint, error: BaseException) -> Failure:
    """The failure behind an event that cannot be read."""
    check = "ask again, or check that it is an OpenAI-compatible server"
    if any(isinstance(cause, UnicodeDecodeError) for cause in chain(error)):
        return Failure(f"{endpoint.host} sent bytes that are not UTF-8 text: {check}")
    if any(isinstance(cause, json.JSONDecodeError) for cause in chain(error)):
        return Failure(f"{endpoint.host} sent an event that is not valid JSON: {check}")
    return Failure(f"{endpoint.host} sent an answer that cannot be read: {check}")


def chain(error: BaseException) -> list[BaseException]:
    """The error and what caused it, outermost first."""
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found and len(found) < 20:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _field(body: object, name: str) -> str:
    page = isinstance(body, str) and "<" in body  # HTML of something that stands between
    inner = body.get("error", body) if isinstance(body, dict) else None if page else body
    value = inner.get(name) if isinstance(inner, dict) else inner if name == "message" else None
    return str(value) if isinstance(value, (str, int)) else ""


def _detail(endpoint: Endpoint, body: object) -> str:
    """A short excerpt of the server's own words in brackets, or nothing where any of it could be a part of the key."""
    text = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in _field(body, "message"))
    text = " ".join(text.split())
    if not text or shares(text, endpoint.api_key):
        return ""
    return f' (it says: "{text if len(text) <= 160 else text[:159] + "…"}")'


def _refused_setting(body: object) -> str | None:
    """The setting that this model does not take: newer ones want max_completion_tokens, some take no temperature."""
    text = f"{_field(body, 'param')} {_field(body, 'message')}"
    named = next((name for name in ("max_tokens", "temperature") if name in text), None)
    return named or ("response_format" if _FORMAT.search(text) else None)
