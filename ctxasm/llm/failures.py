"""Every way in which a model server fails, as one sentence: what, where, what to do. Never the key, never the whole URL."""

from __future__ import annotations

import json
import re
import ssl
import unicodedata

from ctxasm.llm.endpoint import Endpoint
from ctxasm.model.errors import ModelUnavailable

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses worth another attempt."""
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:context|tokens)|too (?:long|many tokens|large)|exceed\w* .{0,40}(?:context|token)", re.I
)
_FORMAT = re.compile(r"response_format|json_(?:schema|object)|structured|guided|grammar|schema|unsupported|not support", re.I)
"""How servers say that they do not take a wanted form of the answer; each in its own words."""


class Failure(Exception):
    """What went wrong, already in words. `retry` says whether another attempt may help, `wait` what the server asked for."""

    def __init__(self, sentence: str, *, retry: bool = False, wait: float | None = None, drop: str | None = None) -> None:
        self.sentence, self.retry, self.wait, self.drop = sentence, retry, wait, drop
        super().__init__(sentence)

    def as_error(self, partial: str) -> ModelUnavailable:
        """The error for the caller, with what had arrived."""
        return ModelUnavailable(self.sentence, partial)


def of_status(endpoint: Endpoint, status: int, body: object, wait: float | None) -> Failure:
    """The failure that a server stated with an HTTP status. `body` is its JSON error object, if any."""
    where, said, code = endpoint.host, _said(endpoint, body), _field(body, "code")
    detail = f' (it says: "{said}")' if said else ""
    if status in (400, 413, 422) and (status == 413 or code == "context_length_exceeded" or _TOO_LONG.search(_field(body, "message"))):
        return Failure(f"the prompt is too long for {endpoint.model} at {where}: lower max_tokens or choose a model with a larger window")
    if status in (400, 422):
        return Failure(f"{where} refused the request{detail}: check the model's name and settings", drop=_refused_setting(body))
    if status == 429 and code == "insufficient_quota":
        return Failure(f"{where} answers that the account has no quota left: check its plan and billing, or choose another model")
    if status == 429:
        later = f" after {wait:.0f} seconds" if wait else " in a minute"
        return Failure(f"{where} takes no more requests for now (429): ask again{later}", retry=True, wait=wait)
    sentence = {
        401: f"{where} did not accept the API key (401): check the key in the environment or secrets",
        403: f"{where} does not allow this key to use {endpoint.model} (403): check the key's rights or choose another model",
        404: f"{where} does not know the model {endpoint.model}, or the base URL is wrong (404): check both; the URL usually ends in /v1",
        405: f"{where} takes no chat requests at this address (405): check the base URL; it usually ends in /v1",
        408: f"{where} gave up waiting for the request (408): ask again",
    }.get(status)
    if sentence is None and 300 <= status < 400:
        sentence = f"{where} sends requests on to another address ({status}): enter that address as the base URL"
    if sentence is None and status >= 500:
        sentence = f"{where} has a problem of its own ({status}): ask again later, or choose another model"
    return Failure(
        sentence or f"{where} answered with status {status}{detail}: check the base URL and the model", retry=status in RETRIED, wait=wait
    )


def of_connection(endpoint: Endpoint, error: BaseException, began: bool) -> Failure:
    """The failure behind a broken, refused or timed-out connection. `began`: something had arrived."""
    where, causes = endpoint.host, _chain(error)
    text = " ".join(str(cause) for cause in causes)
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or re.search(r"SSL|TLS|certificate", text):
        return Failure(
            f"no secure connection to {where}: its certificate is not trusted or it speaks no TLS; check https or http in the base URL"
        )
    if began:
        return Failure(f"{where} broke off in the middle of its answer: ask again")
    kinds = {type(cause).__name__ for cause in causes}
    if "ConnectTimeout" in kinds:
        return Failure(f"{where} did not take the connection within {endpoint.connect_timeout:g} seconds: check that it runs", retry=True)
    if "gaierror" in kinds or re.search(r"Name or service|getaddrinfo|resolution|nodename", text):
        return Failure(f"the name {where} cannot be found: check the base URL and the network")
    if "ConnectError" in kinds or "ConnectionRefusedError" in kinds:
        return Failure(f"nothing answers at {where}: check that the model server runs and that the base URL is right", retry=True)
    if any(kind.endswith("Timeout") or kind == "APITimeoutError" for kind in kinds):
        return too_slow(endpoint, began=False)
    return Failure(f"{where} closed the connection without an answer: ask again, or check the base URL", retry=True)


def too_slow(endpoint: Endpoint, began: bool) -> Failure:
    """No piece came in time."""
    if began:
        return Failure(f"{endpoint.host} stopped sending for {endpoint.piece_timeout:g} seconds in the middle of its answer: ask again")
    return Failure(f"{endpoint.host} sent nothing within {endpoint.first_piece_timeout:g} seconds: ask again, or raise the timeout")


def too_many_chars(endpoint: Endpoint) -> Failure:
    """The text of the answer passed the limit."""
    return Failure(f"{endpoint.host} sent more than {endpoint.max_answer_chars} characters: lower the maximum answer length")


def empty_answer(endpoint: Endpoint, *, retry: bool = False) -> Failure:
    """The reply holds no text. `retry` where it also had no proper end."""
    sentence = f"{endpoint.host} sent an empty answer: ask again, or check that {endpoint.model} answers chat requests"
    return Failure(sentence, retry=retry)


def instead_of(endpoint: Endpoint, kind: str, wanted: str) -> Failure:
    """The reply has content type `kind`, which is not `wanted`."""
    return Failure(f"{endpoint.host} answered with {plain(kind)} instead of {wanted}: check the base URL; it usually ends in /v1")


def plain(text: str, limit: int = 60) -> str:
    """At most `limit` printable characters of a server's own words."""
    return "".join(char for char in text[:limit] if char.isprintable())


def of_content(endpoint: Endpoint, error: BaseException) -> Failure:
    """The failure behind an event that cannot be read."""
    if any(isinstance(cause, UnicodeDecodeError) for cause in _chain(error)):
        return Failure(f"{endpoint.host} sent bytes that are not UTF-8 text: this is no OpenAI-compatible server, or it is broken")
    if any(isinstance(cause, json.JSONDecodeError) for cause in _chain(error)):
        return Failure(f"{endpoint.host} sent an event that is not valid JSON: this is no OpenAI-compatible server, or it is broken")
    return Failure(f"{endpoint.host} sent an answer that cannot be read ({type(error).__name__}): check that it is OpenAI-compatible")


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found and len(found) < 20:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _field(body: object, name: str) -> str:
    inner = body.get("error", body) if isinstance(body, dict) else None
    value = inner.get(name) if isinstance(inner, dict) else inner if name == "message" else None
    return value if isinstance(value, str) else ""


def _said(endpoint: Endpoint, body: object) -> str:
    """A short excerpt of the server's own words, or nothing where any of it could be a part of the key."""
    text = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in _field(body, "message"))
    key, text = endpoint.api_key, " ".join(text.split())
    if key and (key in text or any(key[at : at + 5] in text for at in range(max(1, len(key) - 4)))):
        return ""
    return text if len(text) <= 160 else text[:159] + "…"


def _refused_setting(body: object) -> str | None:
    """The setting that this model does not take: newer ones want max_completion_tokens, some take no temperature."""
    text = f"{_field(body, 'param')} {_field(body, 'message')}"
    named = next((name for name in ("max_tokens", "temperature") if name in text), None)
    return named or ("response_format" if _FORMAT.search(text) else None)
