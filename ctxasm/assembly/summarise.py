"""Stage 5: the page summary, once before the first rendered chunk of each document that has one.

Contextual retrieval at query time: a fragment says what page it comes from, and the page says it only once. What introduces
it is in the language of the data, unless `summary_template` says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import cast

from ctxasm.assembly.steps import Arranged, BlockPlan, Led
from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.events import Prefixed
from ctxasm.model.ports import ChunkSource, Fetched, KnowsLanguage
from ctxasm.model.records import CorpusLanguage, Document
from ctxasm.model.results import Segment
from ctxasm.model.settings import DUTCH_TEMPLATE, ENGLISH_TEMPLATE, GERMAN_TEMPLATE, AssemblySettings
from ctxasm.text.language import language_of_texts

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
