"""Where the answer of a row stands: by the words of its path, and by its shape: prose beside a question and hits that is neither.

An answer may be one text, alternatives of which the first counts (`choices`), or a list of typed parts that are joined.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.seen import ABSENT, name_of, value_at
from ctxasm.data.names import (
    ALTERNATIVES,
    ANSWER_WORDS,
    ASKING_WORDS,
    CARRIER_WORDS,
    EXPECTED_WORDS,
    OTHER_WORDS,
    PART_LISTS,
    UNSAID_WORDS,
    WEAK_WORDS,
    plain_name,
    words_of,
)
from ctxasm.data.paths import EVERY, lists_of

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
    return bool(EXPECTED_WORDS & set(words)) and not OTHER_WORDS & set(words_of(name_of(path)))


def _sure(path: str) -> int:
    names = [words_of(name) for name in name_of(path, every=True)]
    last, above = set(names[-1]), {word for name in names[:-1] for word in name}
    other = OTHER_WORDS - ASKING_WORDS if last & ANSWER_WORDS else OTHER_WORDS
    if EXPECTED_WORDS & (last | above) or OTHER_WORDS & last or other & above or ("summary" in above and ANSWER_WORDS & above):
        return 0
    if last and last <= ANSWER_WORDS - WEAK_WORDS:
        return 5
    if last & (ANSWER_WORDS - WEAK_WORDS):
        return 4
    if last & WEAK_WORDS:
        return 3
    if last <= CARRIER_WORDS and above & (ANSWER_WORDS | {"message", "delta", "choices", "candidates"}):
        return 3
    return 2 if last <= CARRIER_WORDS else 1


def _fits(texts: Sequence[str], sure: int, asked: Collection[str], hits: Sequence[str]) -> bool:
    # An answer by its name may say word for word what was expected; of a guess that means that it is the same text once more.
    if sure < 5 and any(text in asked for text in texts):
        return False
    if len(texts) > 2 and sure < 4 and len(set(texts)) == 1:  # a template says the same everywhere
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
        if own != other or plain_name(own.rpartition(".")[2]) in PART_LISTS:
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
    if plain_name(parts[0].rpartition(".")[2]) in ALTERNATIVES:
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
    return bool(UNSAID_WORDS & set(words_of(str(item.get("type") or "")))) or item.get("thought") is True or is_other_role(item.get("role"))


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
