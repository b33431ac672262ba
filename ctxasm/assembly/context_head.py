"""What stands before the blocks: the page summary of each document, and the supplement of the question.

The summary stands once, before the first rendered chunk of its document (contextual retrieval at query time: a fragment says what
page it comes from, and the page says it only once). What introduces it is in the language of the data, unless `summary_template`
says it. The five-stage pipeline injects its taxonomy results, the supplement, only where intent or similarity say that the retrieved
chunks are not enough; they stand behind a separator line. That there is a block at all and room for them is decided where both are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import cast

from ctxasm.assembly.passages import Piece
from ctxasm.assembly.stages import Arranged, BlockPlan, GateRule, Led, Written
from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.events import Neutralised, Prefixed, Supplemented
from ctxasm.model.ports import ChunkSource, Fetched, KnowsLanguage
from ctxasm.model.records import CorpusLanguage, Document, Query
from ctxasm.model.results import Segment
from ctxasm.model.settings import DUTCH_TEMPLATE, ENGLISH_TEMPLATE, GERMAN_TEMPLATE, AssemblySettings
from ctxasm.text.language import language_of_texts
from ctxasm.text.markers.collisions import Body, defuse, find_behind_a_line, separator_of

TEMPLATES: Mapping[CorpusLanguage, str] = {"nl": DUTCH_TEMPLATE, "en": ENGLISH_TEMPLATE, "de": GERMAN_TEMPLATE}


def summarise(ordered: Arranged) -> Led:
    """A document's summary goes with whichever of its blocks is written first."""
    return Led(introduced(ordered.blocks))


def introduced(blocks: Sequence[BlockPlan]) -> tuple[BlockPlan, ...]:
    """The blocks, each first one of a document marked as the one that carries the summary."""
    seen: set[str] = set()
    marked = []
    for plan, group, _ in blocks:
        document_id = plan.document.document_id
        marked.append(BlockPlan(plan, group, document_id not in seen))
        seen.add(document_id)
    return tuple(marked)


def prefix_of(document: Document, settings: AssemblySettings) -> str:
    """The summary line of a document, or nothing where it has no summary or prefixes are off. The settings are `worded`."""
    if not settings.summary_prefix or not document.summary or not is_visible(document.summary):
        return ""
    return (settings.summary_template or DUTCH_TEMPLATE).replace("{summary}", one_line(document.summary))


def worded(settings: AssemblySettings, source: ChunkSource, fetched: Fetched) -> AssemblySettings:
    """The settings with a template. Where none is set and a summary will need one: that of the language of the data.

    A source that does not know its language is judged by what was fetched, texts and summaries.
    """
    wanted = settings.enabled and settings.summary_prefix and settings.summary_template is None
    if not wanted or not any(document.summary for document in fetched.documents.values()):
        return settings
    if (known := known_language(source)) is not None:
        return _in_language(settings, known)
    texts = [chunk.text for chunk in sorted(fetched.chunks, key=lambda chunk: (chunk.document_id, chunk.chunk_index))]
    summaries = [document.summary or "" for _, document in sorted(fetched.documents.items())]
    return _in_language(settings, language_of_texts([*summaries, *texts]))


def known_language(source: ChunkSource) -> CorpusLanguage | None:
    """The language of a source's data, where it knows it; one that only fetches is a source too."""
    return cast(KnowsLanguage, source).corpus_language() if _may_know_language(type(source)) else None


@cache
def _may_know_language(kind: type[ChunkSource]) -> bool:
    """Whether it can be asked of sources of this class; found out anew each time, that would take as long as to check the whole query."""
    return issubclass(kind, KnowsLanguage)


@lru_cache(maxsize=64)
def _in_language(settings: AssemblySettings, language: CorpusLanguage) -> AssemblySettings:
    return settings.replace(summary_template=TEMPLATES[language])


def prefixed(segments: Iterable[Segment]) -> tuple[Prefixed, ...]:
    """The summaries that were written, with the tokens each added."""
    return tuple([Prefixed(segment.document_id or "", segment.tokens) for segment in segments if segment.kind == "prefix"])


Write = Callable[[Sequence[BlockPlan], Sequence[Piece]], Written]


def supplement(query: Query, led: Led, settings: AssemblySettings, limit: int, write: Write) -> Led:
    """The blocks, behind the supplement where the gate lets it in and there is room."""
    wanted, rule = decide(query, settings)
    if not wanted:
        return Led(led.blocks, (), rule)
    if not led.blocks:
        return Led((), (), "no_block")
    lead = (Piece("supplement", supplement_text(query, settings)),)
    fits = write(led.blocks, lead).size.budgeted <= limit
    return Led(led.blocks, lead, rule) if fits else Led(led.blocks, (), "no_room")


def supplemented(query: Query, led: Led, written: Written, settings: AssemblySettings) -> tuple[Supplemented | Neutralised, ...]:
    """Whether the supplement stands in the context and why, and what in it was defused."""
    rule = led.rule or "no_signal"
    if not led.lead:
        return (Supplemented(False, rule, 0),)
    return (Supplemented(True, rule, written.segments[0].tokens), *supplement_events(query, settings))


def decide(query: Query, settings: AssemblySettings) -> tuple[bool, GateRule]:
    """Whether the gate lets the supplement in, and the rule that decided. Never in for a query that brings none.

    `auto` opens below `supplement_threshold` (a similarity that equals it is enough) or for an intent that is listed; a
    record that says neither gets no supplement.
    """
    opens, rule = _gate(query, settings)
    return opens and query.has_supplement, rule


def _gate(query: Query, settings: AssemblySettings) -> tuple[bool, GateRule]:
    if settings.supplement_mode == "always":
        return True, "always"
    if settings.supplement_mode == "never":
        return False, "never"
    similarity = query.best_similarity
    if similarity is not None and math.isnan(similarity):
        similarity = None
    intent = _intent(query.intent or "")
    if similarity is not None and similarity < settings.supplement_threshold:
        return True, "similarity"
    if intent and intent in supplement_intents(settings):
        return True, "intent"
    return False, "no_signal" if similarity is None and not intent else "suppressed"


def supplement_intents(settings: AssemblySettings) -> frozenset[str]:
    """The intents that open the gate, as they are compared: without case and outer white space."""
    return frozenset(intent for part in settings.supplement_intents.split(",") if (intent := _intent(part)))


def _intent(text: str) -> str:
    return one_line(text).casefold()


def supplement_text(query: Query, settings: AssemblySettings) -> str:
    """Separator line, supplement, blank line; empty for a query that brings none.

    What would read as a marker or a block's header is defused as `marker_collisions` says: nobody cites the supplement.
    Ends in a newline, so that a block which starts with a visible character begins at a safe seam.
    """
    if not query.has_supplement:
        return ""
    return "".join(_defused(query, settings).texts)


def supplement_events(query: Query, settings: AssemblySettings) -> tuple[Neutralised, ...]:
    """What in supplement and separator would have read as a marker or a header. It belongs to no document: its id is empty."""
    if not query.has_supplement:
        return ()
    swap = settings.marker_collisions == "neutralise"
    return tuple(Neutralised("", None, text, swap) for _, text in _defused(query, settings).found)


def _defused(query: Query, settings: AssemblySettings) -> Body:
    """Separator and supplement looked at together: a marker may also stand across their seam."""
    separator, text = one_line(settings.supplement_separator), (query.supplement or "").strip("\r\n").rstrip()
    texts = (f"{separator}\n" if is_visible(separator) else "", f"{text}\n\n")
    if settings.marker_collisions == "off":
        return Body(texts)
    swap, line = settings.marker_collisions == "neutralise", separator_of(settings)
    return defuse(texts, swap, settings.format, find_behind_a_line, line)
