"""An embedder that knows words by their letters, and a judge that reads what it is shown and answers by the words in common."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ctxasm.model.messages import Cancel, Message
from ctxasm.text.sentences import sentence_spans


class WordEmbedder:
    """A unit vector by the words of a text; remembers every batch."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.queries: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.batches.append(list(texts))
        return np.array([self._vector(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Any:
        self.queries.append(text)
        return self._vector(text)

    @staticmethod
    def _vector(text: str) -> Any:
        vector = np.zeros(512)
        for word in re.findall(r"\w+", text.lower()) or ["?"]:
            vector[zlib.crc32(word.encode()) % 512] += 1
        return vector / np.linalg.norm(vector)


class Reply(NamedTuple):
    data: Mapping[str, Any]
    tokens_in: int = 100
    tokens_out: int = 20
    calls: int = 1


def shown(user: str) -> tuple[dict[int, str], str, str]:
    """What a user message shows: sources by number, the question, and the first claim."""
    sources, question, claims = all_shown(user)
    return sources, question, claims[0]


def all_shown(user: str) -> tuple[dict[int, str], str, list[str]]:
    """Sources by number, the question, and the claims. Read by its code, as a judge would."""
    code = user.rstrip().rpartition(" ")[2]
    parts = re.split(rf"^(SOURCE \d+|END OF SOURCES|QUESTION|CLAIM \d+|END OF CLAIMS) {code}\n?", user, flags=re.MULTILINE)
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    sources = {int(name.split()[1]): re.sub(r"\ATitle: .*\n", "", text)[:-1] for name, text in texts.items() if name.startswith("SOURCE")}
    return sources, texts.get("QUESTION", "").strip(), [text[:-1] for name, text in texts.items() if name.startswith("CLAIM")]


def of_each(user: str, judge: Any) -> dict[str, Any]:
    """A reply on all claims of a message, by what `judge` says of a message with one of them."""
    code, (_, _, claims) = user.rstrip().rpartition(" ")[2], all_shown(user)
    head = user.partition(f"CLAIM 1 {code}\n")[0]
    each = [judge(f"{head}CLAIM 1 {code}\n{claim}\nEND OF CLAIMS {code}") for claim in claims]
    return {"claims": [{"claim": number, **told} for number, told in enumerate(each, 1)]}


def entry(source: int, verdict: str, quote: str, missing: Sequence[str] = (), conflict: Sequence[str] = ("none", "", "")) -> dict[str, Any]:
    kind, ours, theirs = conflict
    return {
        "source": source,
        "verdict": verdict,
        "quote": quote,
        "missing": list(missing),
        "conflict_kind": kind,
        "conflict_claim": ours,
        "conflict_source": theirs,
    }


def honest(user: str) -> dict[str, Any]:
    """A judgement by words: all of them in one sentence is full, half of them part."""
    sources, _, claim = shown(user)
    wanted = set(re.findall(r"\w+", claim.lower()))
    entries = []
    for number, text in sources.items():
        sentences = [text[start:end] for start, end in sentence_spans(text)]
        have = {sentence: wanted & set(re.findall(r"\w+", sentence.lower())) for sentence in sentences}
        best = max(sentences, key=lambda sentence: len(have[sentence]), default="")
        missing = sorted(wanted - have.get(best, set()))
        if best and 2 * len(missing) <= len(wanted):
            entries.append(entry(number, "part" if missing else "full", best, missing))
    return {"sources": entries, "together": []}


class Judge:
    """An `AskForJson` that answers by what `judge` says of one claim, and remembers what it was asked."""

    def __init__(self, judge: Any = honest) -> None:
        self.judge, self.asked = judge, list[tuple[tuple[Message, ...], dict[str, Any]]]()

    def __call__(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any], schema_name: str, max_tokens: int, cancel: Cancel | None
    ) -> Reply:
        self.asked.append((tuple(messages), {"schema": schema, "schema_name": schema_name, "max_tokens": max_tokens}))
        return Reply(of_each(messages[-1].content, self.judge))


def served(body: dict[str, Any]) -> dict[str, Any]:
    """The same judge for a server that gets a request body."""
    assert json.dumps(body)
    return of_each(body["messages"][-1]["content"], honest)
