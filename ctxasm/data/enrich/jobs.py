"""What a language model is asked in one call: the summary of a document, or contexts and questions of several of its chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxasm.data.enrich.central import central_sentences
from ctxasm.data.enrich.outline import headings_of
from ctxasm.data.enrich.texts import MOST_QUESTIONS, MOST_TOKENS
from ctxasm.data.enrich.whole import LONGEST_NAME, Part, Whole
from ctxasm.model.characters import one_line
from ctxasm.model.records import Document
from ctxasm.text.language import Language

READ_OF_DOCUMENT = 12_000
READ_OF_CHUNK = 6_000
"""Characters that a prompt shows at most of a document that is summarised, and of a chunk."""
MOST_HEADINGS = 40
_ABOUT_CHARS = 600
_SPARE_TOKENS = 200
_QUESTION_TOKENS = 40


@dataclass(frozen=True, slots=True)
class Described:
    """A document as every prompt about it describes it. `about` is its own summary, else what its central sentences say."""

    document: Document
    name: str
    language: Language
    about: str
    headings: tuple[str, ...]
    chunks: int

    def bare(self, parts: int) -> Described:
        """Without what the document's own text says, for a call about one chunk."""
        return self if parts > 1 else replace(self, about=one_line(self.document.summary or "")[:_ABOUT_CHARS], headings=())


@dataclass(frozen=True, slots=True)
class SummaryJob:
    """`text` is what of the document is read."""

    described: Described
    text: str

    @property
    def size(self) -> int:
        """Chunks that are done with it."""
        return 0

    @property
    def name(self) -> str:
        """As it may stand in a message."""
        return f"the summary of {self.described.name}"

    @property
    def max_tokens(self) -> int:
        return 2 * MOST_TOKENS + _SPARE_TOKENS

    @property
    def likely_tokens(self) -> int:
        """About what a reply comes to."""
        return 70

    @property
    def schema(self) -> dict[str, Any]:
        return _object({"summary": {"type": "string"}})

    def halves(self) -> tuple[Job, ...]:
        """What is asked where this failed: the same once more."""
        return (self,)


@dataclass(frozen=True, slots=True)
class ChunksJob:
    """Chunks of one document; each is known by its place, which counts from 1."""

    described: Described
    parts: tuple[Part, ...]
    contexts: bool = True
    questions: bool = True

    @property
    def size(self) -> int:
        return len(self.parts)

    @property
    def name(self) -> str:
        first, last = self.parts[0].place, self.parts[-1].place
        return f"{self.described.name}, chunk {first}" + (f" to {last}" if last != first else "") + f" of {self.described.chunks}"

    @property
    def max_tokens(self) -> int:
        """Twice what was asked for: models write longer than they are told, and a reply that is cut off is lost."""
        return 2 * len(self.parts) * (MOST_TOKENS + MOST_QUESTIONS * _QUESTION_TOKENS + 20) + _SPARE_TOKENS

    @property
    def likely_tokens(self) -> int:
        """About what a reply comes to: 75 tokens of context, two questions of 20, and what JSON puts around them."""
        return 10 + len(self.parts) * (10 + 80 * self.contexts + 50 * self.questions)

    @property
    def schema(self) -> dict[str, Any]:
        wanted: dict[str, Any] = {"number": {"type": "integer"}}
        wanted |= {"context": {"type": "string"}} if self.contexts else {}
        wanted |= {"questions": {"type": "array", "items": {"type": "string"}}} if self.questions else {}
        return _object({"chunks": {"type": "array", "items": _object(wanted)}})

    def halves(self) -> tuple[Job, ...]:
        """What is asked where this failed: a half of the chunks each, so that one chunk that no model takes costs no other.

        A chunk alone is asked about without the rest of the document: what another chunk says may be what made it fail.
        """
        middle = (len(self.parts) + 1) // 2
        halves = (self.parts[:middle], self.parts[middle:])
        return tuple(replace(self, parts=half, described=self.described.bare(len(half))) for half in halves if half)


Job = SummaryJob | ChunksJob


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema as strict mode wants it."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def described(whole: Whole) -> Described:
    """What prompts say of a document."""
    about = one_line(whole.document.summary or "") or " ".join(central_sentences(whole.text, 2))
    headings = dict.fromkeys(heading.text for heading in headings_of(whole.text)) or dict.fromkeys(
        name for part in whole.parts for name in part.path
    )
    names = tuple(one_line(heading)[:LONGEST_NAME] for heading in headings)[:MOST_HEADINGS]
    return Described(whole.document, whole.name, whole.language, about[:_ABOUT_CHARS], names, len(whole.parts))


def summary_job(whole: Whole, about: Described) -> SummaryJob:
    """The call for a document's summary."""
    return SummaryJob(about, whole.text[:READ_OF_DOCUMENT])


def chunk_groups(parts: Sequence[Part], size: int) -> list[tuple[Part, ...]]:
    """The chunks of a document in groups of `size`, always the same ones: what is not kept of a group is asked again as a group."""
    return [tuple(parts[at : at + size]) for at in range(0, len(parts), size)]
