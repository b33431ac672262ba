"""Where the answer of a row stands: by the words of its path, and by its shape: prose beside a question and hits that is neither.

An answer may be one text, alternatives of which the first counts (`choices`), or a list of typed parts that are joined.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.seen import ABSENT, name_of, value_at
from ctxasm.data.names import plain_name, word_set, words_of
from ctxasm.data.paths import EVERY, lists_of

ANSWER = word_set(
    "answer answers answered response responses reply replies completion completions generation generations generated "
    "prediction predictions predicted output outputs outcome result assistant bot chatbot ai llm model antwort antworten "
    "antwoord antwoorden reponse respuesta resposta risposta ausgabe uitvoer ergebnis"
)
"""Words of a name that say that what stands there was answered."""
WEAK = frozenset(("model", "llm", "ai"))
"""Those that name a model as often."""
CARRIERS = word_set(
    "content contents text value message messages parts data body choices candidates final delta summary zusammenfassung samenvatting"
)
"""Words of a name that say nothing: what is around it says it."""
EXPECTED = word_set(
    "reference references ground truth truths expected gold golden ideal correct target label labels should human referenz "
    "referentie erwartet erwartete verwacht verwachte soll musterantwort modelantwoord"
)
"""Words of a name that say that what stands there should have been answered."""
OTHER = word_set(
    "comment comments note notes feedback remark rating title titel description explanation reason reasoning thinking thought "
    "thoughts error errors instruction instructions system intent rewritten rewrite keyword keywords context contexts history "
    "prompt prompts template query queries question questions frage vraag usage metrics config configuration url uri link "
    "path name user username workspace status role type category tags persona version tool tools arguments function functions "
    "trace debug logprobs hash token tokens judge critique evaluation verdict rationale source sources document documents "
    "citation citations annotations chunk chunks passage passages hit hits snippet highlight highlights metadata meta date "
    "time timestamp id ids uuid input inputs request requests language lang session email provider suggestions followup "
    "related warning warnings kommentar notiz opmerking citationless"
)
"""Words of a name that say that it is something else."""
FIRST = frozenset(
    map(plain_name, ["choices", "candidates", "generations", "alternatives", "samples", "completions", "replies", "predictions", "answers"])
)
"""Lists of alternatives."""
PARTS = frozenset(
    map(
        plain_name,
        ["content", "contents", "parts", "output", "outputs", "blocks", "messages", "message", "steps", "segments", "deltas", "items"],
    )
)
"""Lists of what is one answer together."""
UNSAID = word_set("reasoning thinking thought tool function call query search")
"""Types of parts that are no answer."""
LEAST_PROSE, MOST_DIGITS = 12, 3
_ADDRESS = re.compile(r"\w+:/{1,3}\S+$")


class AnswerPlace(NamedTuple):
    """A path, and how sure it is that the answer stands there: 5 is its name, 1 its shape alone."""

    path: str
    sure: int


def answer_places(around: Mapping[str, list[Any]], taken: Collection[str], hits: Sequence[str] = ()) -> list[AnswerPlace]:
    """Where an answer may stand among the paths `around` the hits whose texts are `hits`, the surest first."""
    asked = {value for path in taken for value in around.get(path, ()) if isinstance(value, str)}
    found: list[tuple[int, int, float, str]] = []
    for path, values in around.items():
        texts = [value for value in values if isinstance(value, str) and value.strip()]
        if not texts or 2 * len(texts) < len([value for value in values if value not in (None, "")]) or path in taken:
            continue
        if (sure := _sure(path)) and _fits(texts, sure, asked, hits):
            found.append((sure, -path.count(EVERY) - path.count("."), sum(map(len, texts)) / len(texts), path))
    return [
        AnswerPlace(path, sure)
        for sure, _, _, path in sorted(found, key=lambda one: (one[0], one[1] if one[0] > 1 else 0, one[2]), reverse=True)
    ]


def is_expected(path: str) -> bool:
    """Whether the name of a path says that it holds what should have been answered."""
    words = [word for name in name_of(path, every=True) for word in words_of(name)]
    return bool(EXPECTED & set(words)) and not OTHER & set(words_of(name_of(path)))


def _sure(path: str) -> int:
    names = [words_of(name) for name in name_of(path, every=True)]
    last, above = set(names[-1]), {word for name in names[:-1] for word in name}
    if EXPECTED & (last | above) or OTHER & (last | above) or ("summary" in above and ANSWER & above):
        return 0
    if last and last <= ANSWER - WEAK:
        return 5
    if last & (ANSWER - WEAK):
        return 4
    if last & WEAK:
        return 3
    if last <= CARRIERS and above & (ANSWER | {"message", "delta", "choices", "candidates"}):
        return 3
    return 2 if last <= CARRIERS else 1


def _fits(texts: Sequence[str], sure: int, asked: Collection[str], hits: Sequence[str]) -> bool:
    if any(text in asked for text in texts) or (
        len(texts) > 2 and sure < 4 and len(set(texts)) == 1
    ):  # a template says the same everywhere
        return False
    if sure < 4 and sum(map(is_prose, texts)) * 2 < len(texts):
        return False
    return sure > 4 or not any(_quotes(text, hits) for text in texts)


def is_prose(text: str) -> bool:
    """Whether it reads like words: no address, code, date or number."""
    bare = text.strip()
    letters = sum(character.isalpha() for character in bare)
    return (" " in bare or not bare.isascii()) and letters * 2 > len(bare) and len(bare) >= LEAST_PROSE and _ADDRESS.match(bare) is None


def _quotes(text: str, hits: Sequence[str]) -> bool:
    """Whether a text is a prompt: it holds passages, and much beside them."""
    inside = [hit for hit in hits if len(hit) >= LEAST_PROSE and hit in text]
    return any(text == hit for hit in inside) or (bool(inside) and len(text) > 2 * len(max(inside, key=len)))


def shared_lists(path: str, hits: str) -> int:
    """How many lists two paths go through together that hold records, and not parts of one answer."""
    shared = 0
    for own, other in zip(lists_of(path)[:-1], lists_of(hits)[:-1], strict=False):
        if own != other or plain_name(own.rpartition(".")[2]) in PARTS:
            break
        shared += 1
    return shared


def answer_at(row: Any, path: str) -> str | None:
    """The answer at a path: parts joined, the first of alternatives."""
    found = _said(row, lists_of(path))
    return found if found and found.strip() else None


def _said(value: Any, parts: Sequence[str]) -> str:
    found = _below(value, parts[0])
    if len(parts) == 1:
        return found if isinstance(found, str) else "".join(_strings(found))
    listed = found if isinstance(found, list) else list(found.values()) if isinstance(found, Mapping) else []
    pieces = (_said(item, parts[1:]) for item in listed if not _is_unsaid(item))
    if plain_name(parts[0].rpartition(".")[2]) in FIRST:
        return next((piece for piece in pieces if piece.strip()), "")
    return joined(piece for piece in pieces if piece)


def _below(value: Any, path: str) -> Any:
    if not path:
        return parsed(value) if isinstance(value, str) and value[:1] in "[{" else value
    found = value_at(value, path) if isinstance(value, Mapping) else ABSENT
    if found is ABSENT:
        return ""
    return parsed(found) if isinstance(found, str) else found


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _is_unsaid(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    return bool(UNSAID & set(words_of(str(item.get("type") or "")))) or item.get("thought") is True or is_other_role(item.get("role"))


def is_other_role(role: Any) -> bool:
    """Whether a role is that of somebody who asks or of the system."""
    return isinstance(role, str) and bool({"user", "human", "system", "tool", "developer"} & set(words_of(role)))


def joined(pieces: Iterator[str]) -> str:
    """The parts of an answer as one text: without a seam, but for a space between two sentences that none stands between."""
    text = ""
    for piece in pieces:
        if text and text.rstrip() == text and text[-1:] in ".!?:。" and piece[:1].isupper():
            text += " "
        text += piece
    return text
