"""The words of the pages: numbers, names of stages and documents, the fate of a chunk, what a stage did. Pure.

Every sentence may hold titles, ids and text from outside: escape it before it becomes HTML. An event without words is a type error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import assert_never

from ctxasm.app.fates import likeness_words, unexpanded_sentence
from ctxasm.model import events as ev
from ctxasm.model.amounts import counted
from ctxasm.model.events import REASONS
from ctxasm.model.progress import Progress
from ctxasm.model.records import Document

GLOSSARY: Mapping[str, str] = {
    "question": "What is asked of a dataset: one that came with it, or one that you typed.",
    "found": "A chunk that the search returned for the question.",
    "neighbour": "A chunk next to a found one in its document, fetched with it.",
    "repeated": "Text that the context already has from another chunk. It is kept once.",
    "kept": "A chunk whose text is in the context that the model reads.",
    "left out": "A chunk that is not in the context, for a reason that is named.",
    "limit": "The most tokens that the context may have.",
}
"""What the pages call things, and the help that says so. The guide has the same table."""
LEFT_OUT: Mapping[str, str] = {
    "budget": "no room",
    "outbid": "worth less than others",
    "crowded_out": "no room beside better ones",
    "no_value": "no found chunk in it",
    "oversized": "document over the limit",
    "no_room": "limit too small",
    "floor": "score too low",
    "top_k": "rank beyond top_k",
    "degenerate": "too small",
    "irrelevant": "not about the question",
    "empty": "empty",
    "parent_duplicate": "neighbour of a repeated chunk",
    "missing": "not stored",
    "already_sent": "sent in an earlier message",
}
"""Why a chunk is left out, in a few words; `REASONS` says it in a sentence."""
MOST_CELL = 160
"""Characters of a value that a cell shows."""


def number(value: float) -> str:
    """A whole number with its thousands apart: 12,345."""
    return f"{value:,.0f}"


def too_long(what: str, text: str, most: int, remedy: str = "shorten it") -> str | None:
    """What is wrong with a text of more than `most` characters, which `what` names ("A question"); None where nothing is.

    Said by us: a box that has `max_chars` itself drops a longer text that is pasted, without a word.
    """
    return f"{what} has at most {number(most)} characters, this one {number(len(text))}: {remedy}." if len(text) > most else None


def cut(text: str, most: int = MOST_CELL) -> str:
    """One line of at most `most` characters."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most and len(text) <= most * 4 else line[: most - 1].rstrip() + "…"


def in_attribute(text: str) -> str:
    """A text that a person reads as the value of an attribute (`title`, `aria-label`), escaped.

    With ‹ and › for its angle brackets: the browser drops an attribute in which `</style>` or `-->` stands, escaped or not.
    """
    return escape(text.replace("<", "‹").replace(">", "›"))


def decimal(value: float) -> str:
    """A score, as short as it can be read."""
    return f"{value:.3g}"


def title_of(documents: Mapping[str, Document], document_id: str, limit: int = 60) -> str:
    """A document's title, else its source, else its id: one line, at most `limit` characters."""
    document = documents.get(document_id)
    name = (document.title or document.source if document else None) or document_id
    line = " ".join(name.split()) or document_id
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$:~&@/=^\"'])")


def plain(text: str) -> str:
    """`text` on one line, with every sign of markdown (and of addresses, which markdown links by itself) taken as itself."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def seconds_words(seconds: float) -> str:
    """A time as a person says it: `under a second`, `8 s`, `2 min 10 s`, `1 h 05 min`."""
    whole = round(seconds)
    if whole < 1:
        return "under a second"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def progress_words(progress: Progress | None, elapsed_s: float) -> str:
    """`34 of 120 · 2 min 10 s left · reading manual.pdf`."""
    if progress is None:
        return f"starting · {seconds_words(elapsed_s)}"
    parts = [number(progress.done) if progress.total is None else f"{number(progress.done)} of {number(progress.total)}"]
    left = progress.left_s
    parts.append(f"{seconds_words(left)} left" if left is not None else f"{seconds_words(elapsed_s)} so far")
    return " · ".join((*parts, " ".join(progress.what.split())[:120]))


Early = (
    ev.Repeated | ev.Added | ev.Dropped | ev.Absent | ev.Unexpanded | ev.Stripped | ev.Merged | ev.NearMiss | ev.Coincidence | ev.Duplicate
)
"""Events of the stages before the budget."""
Chosen = (
    ev.Promoted
    | ev.Placed
    | ev.Returned
    | ev.Unstripped
    | ev.Truncated
    | ev.Compressed
    | ev.Failed
    | ev.Ordered
    | ev.Yielded
    | ev.Valued
    | ev.Overshot
)
"""Events of choosing, cutting and ordering."""
Written = ev.Supplemented | ev.Prefixed | ev.Neutralised | ev.Gapped | ev.Numbered
"""Events of writing the text."""

SUPPLEMENT_RULES: Mapping[str, str] = {
    "always": "the setting says always",
    "never": "the setting says never",
    "similarity": "no found chunk is close enough in meaning (best similarity below the threshold)",
    "intent": "the question's intent is one that asks for it",
    "suppressed": "a found chunk is close enough in meaning (best similarity), and the question's intent does not ask for it",
    "no_signal": "the record tells neither how close the found chunks are in meaning (best similarity) nor the question's intent",
    "no_block": "there is no block to supplement",
    "no_room": "it does not fit into what the blocks leave of the limit",
}
"""What each rule of the supplement's gate says, as the reason of a sentence."""


def event_sentence(event: ev.Event) -> str:
    """What one event says, in one sentence without its document (the caller shows which chunk it is about)."""
    if isinstance(event, Early):
        return _early(event)
    return _written(event) if isinstance(event, Written) else _chosen(event)


def _early(event: Early) -> str:
    match event:
        case ev.Repeated():
            return f"Found {counted(event.times, 'time')}; its best score and rank count."
        case ev.Added():
            return f"Added as a neighbour of {_parents(event.parents)}, with score {decimal(event.score)}."
        case ev.Dropped():
            missing = f"; needs {counted(event.missing_tokens, 'more token')}" if event.missing_tokens else ""
            return f"Left out: {REASONS[event.reason]}{missing}."
        case ev.Absent():
            return "Not stored: the document has a gap at this index."
        case ev.Unexpanded():
            return unexpanded_sentence(event)
        case ev.Stripped():
            return f"First {counted(event.chars, 'character')} left out: the chunk before it shows them."
        case ev.Merged():
            return f"All {counted(event.chars, 'character')} are shown by the chunks before it."
        case ev.NearMiss():
            return f"Shares {counted(event.chars, 'character')} with the chunk before it: too few to strip, kept."
        case ev.Coincidence():
            return f"Kept whole: {coincidence_words(event.chars, event.of_chars, 'the chunk before it')}"
        case ev.Duplicate():
            says = likeness_words(event.likeness, f"{event.of_document_id} #{event.of_chunk_index}", event.similarity)
            return f"{says[0].upper()}{says[1:]}, which is kept."
        case _:
            assert_never(event)


def _chosen(event: Chosen) -> str:
    match event:
        case ev.Promoted():
            return f"Newer than {event.of_document_id} #{event.of_chunk_index}: stands in its place, with its score {decimal(event.score)}."
        case ev.Placed():
            return f"Document placed at position {event.position} (best score {decimal(event.score)})."
        case ev.Returned():
            return "Came back: the chunk that it repeats is not in the context."
        case ev.Unstripped():
            return f"Got {counted(event.chars, 'character')} of its head back: the chunk before it left."
        case ev.Truncated():
            return f"Cut after {counted(event.kept_chars, 'character')} to fit the limit."
        case ev.Compressed():
            how = {
                "extractive": "to its sentences about the question",
                "model": "by the model to what it says about the question, word for word",
                "rewritten": "by the model, in words that are not all its own: rewritten",
            }[event.how]
            return f"Shortened from {number(event.tokens)} to {counted(event.kept_tokens, 'token')} {how}."
        case ev.Failed():
            done = f"{counted(event.chunks, 'chunk')} shortened to the sentences about the question instead"
            return f"The model that compresses did not answer ({event.message.rstrip('.')}): {done}."
        case ev.Ordered():
            return f"Its block stands at position {event.position}, by score {decimal(event.score)} (rank {event.rank})."
        case ev.Yielded():
            return f"The document's {event.part} gave way so that its best chunk fits."
        case ev.Valued():
            return value_sentence(event)
        case ev.Overshot():
            return f"The context is {counted(event.tokens, 'token')} over the limit."
        case _:
            assert_never(event)


def _written(event: Written) -> str:
    match event:
        case ev.Supplemented():
            return supplement_sentence(event)
        case ev.Prefixed():
            return f"Page summary written before the document's first chunk ({counted(event.tokens, 'token')})."
        case ev.Neutralised():
            where = "its text" if event.chunk_index is not None else "a header field or summary" if event.document_id else "the supplement"
            done = "swapped for look-alikes" if event.swapped else "left as it is"
            return f"{where.capitalize()} holds {event.text!r}, which would read as a marker or a boundary: {done}."
        case ev.Gapped():
            return "A gap mark stands before it: text in between is left out."
        case ev.Numbered():
            return f"Cited as [{event.number}] ({counted(len(event.chunk_indexes), 'chunk')})."
        case _:
            assert_never(event)


def coincidence_words(chars: int, of_chars: int, first: str) -> str:
    """Why text that two neighbours share is not taken for an overlap."""
    return (
        f"it repeats {number(chars)} of the {counted(of_chars, 'character')} of {first}, more than half. Neighbours here do not share "
        "that much as a rule, a repeated table or licence often does, and no offsets say which: repeating text costs less than losing it."
    )


def value_sentence(event: ev.Valued) -> str:
    """What a chunk is worth to the question, and why."""
    near = counted(event.distance, "step")
    place = f"rank {event.rank}" if not event.distance else f"{near} from a found chunk, the best of those near it of rank {event.rank}"
    shared = f"shares {', '.join(event.words)} with the question" if event.words else "shares no word with the question"
    title = ", which its title speaks of too" if event.title_words >= 0.5 else ""
    others = f"{counted(event.hits, 'found chunk')} in its document"
    worth = "Worth the most" if event.value >= 1 else f"Worth {decimal(event.value)} of the best"
    return f"{worth} before its tokens are counted: {place}, {shared}{title}, {others}."


def supplement_sentence(event: ev.Supplemented) -> str:
    """Whether the supplement stands in the context, and the rule that decided."""
    done = f"Supplement written ({counted(event.tokens, 'token')})" if event.injected else "Supplement left out"
    return f"{done}: {SUPPLEMENT_RULES[event.rule]}."


def _parents(parents: tuple[int, ...]) -> str:
    return " and ".join(f"#{index}" for index in parents) if parents else "a found chunk"
