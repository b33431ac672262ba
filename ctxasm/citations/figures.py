"""Figures of one answer: citation recall and precision, which expected passages it stands on, and whether it may answer its question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from ctxasm.citations.answer_text import without_markers
from ctxasm.citations.checked import Addressed, CheckedClaim, Claim, Figures, Share, Withheld
from ctxasm.citations.grounds import Grounds
from ctxasm.citations.markers import parse_markers
from ctxasm.citations.report import CheckedAnswer, figures_of_counts
from ctxasm.citations.verdicts import Bench
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import GoldChunk, Span
from ctxasm.model.results import Assembly, Key
from ctxasm.text.language import language_of
from ctxasm.text.overlap import has_offsets
from ctxasm.text.terms import is_alike, terms_of

Likeness = Callable[[str, str], float | None]
"""The cosine of a question and a text; None for a language that the embedder does not know."""
SHARED = 0.3
"""An answer that shares less of the question's words is doubtful."""
NEAR_SHARED, NEAR = 0.4, 0.4
"""An embedder is asked where the first share is not reached; then an answer is doubtful whose cosine is below the second."""
ENOUGH = 16
"""Different words of an answer that are enough to tell, though no source carries it: a short one may say it in other words."""


def addressed(
    question: str, answer: str, claims: Sequence[CheckedClaim], grounds: Grounds, likeness: Likeness | None = None
) -> Addressed | None:
    """How near the answer is to the question; None where that cannot be told: either says nothing, it declines, their languages
    differ, or it is short and no source carries it.
    """
    asked = [*dict.fromkeys(terms_of(question))]
    stating = [claim for claim in claims if claim.verdict != "declined"]
    if not asked or not stating:
        return None
    bare = " ".join(without_markers(answer, parse_markers(answer)).split())
    sources = {ground.source.number: ground.source for ground in grounds.items}
    places = [[*claim.support, *((claim.better_support,) if claim.better_support else ())] for claim in stating]
    carried = [sources[place.number].text[place.start : place.end] for own in places for place in own]
    titles = {sources[place.number].title for own in places for place in own}
    whole = "\n".join((bare, *carried, *sorted(titles)))
    shared = round(_share(asked, whole), 4)
    told = 2 * sum(map(bool, places)) >= len(stating) or len({*terms_of(bare)}) >= ENOUGH
    if told and shared < NEAR_SHARED and likeness is not None and (near := likeness(question, whole)) is not None:
        return Addressed(round(near, 4), NEAR, "meaning")
    known = shared >= SHARED or (told and language_of(question) == language_of(bare))
    return Addressed(shared, SHARED) if known else None


def _share(asked: Sequence[str], text: str) -> float:
    said = {*terms_of(text)}
    return sum(max((is_alike(word, term) for term in said), default=0.0) for word in asked) / len(asked)


_AROUND = " .,;:!?…\"'“”‘’*_"
"""What may stand around a quote: its marker stood before the full stop."""


def figures_of(claims: Mapping[int, CheckedClaim], bench: Bench) -> Figures:
    """The figures of the claims that were judged, by their place in the comparison. Declined ones are not among them."""
    stating = carried = reachable = citations = needed = 0
    for at, checked in claims.items():
        claim = checked.claim
        each = [(bench.clauses[at] + place, clause) for place, clause in enumerate(claim.clauses)] or [(at, claim)]
        cited = all(_is_carried(bench, place, clause) for place, clause in each)
        for place, clause in each:
            citations += len(clause.cited)
            if _is_carried(bench, place, clause):
                known = _known(bench, clause)
                needed += sum(_needed(bench, place, number, known) for number in known)
        if claim.states:
            stating += 1
            carried += cited
            reachable += cited or _is_reachable(bench, at)
    return figures_of_counts(stating, citations, carried, needed, reachable)


def without_shares(figures: Figures, withheld: Withheld) -> Figures:
    """The counts alone, and why."""
    return Figures(figures.claims, figures.citations, None, None, None, None, withheld)


def only_quotes(claims: Iterable[CheckedClaim], bench: Bench) -> bool:
    """Whether every claim stands word by word in one source that it cites; where nothing is cited, in one that carries it."""
    sources = {source.number: source for source in bench.grounds.sources}

    @cache
    def parts(number: int) -> list[str]:
        source = sources.get(number)
        return [_squeezed(source.text[low:high]) for low, high in source.ranges] if source is not None else []

    def quotes(checked: CheckedClaim) -> bool:
        words = _squeezed(checked.claim.text).strip(_AROUND)
        numbers = checked.claim.cited or checked.claim.inherited or [support.number for support in checked.support]
        return bool(words) and any(words in part for number in numbers for part in parts(number))

    each = [part for checked in claims for part in checked.clauses or (checked,)]
    return bool(each) and all(quotes(checked) for checked in each)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _known(bench: Bench, claim: Claim) -> list[int]:
    return [number for number in claim.cited if number in bench.positions]


def _is_carried(bench: Bench, at: int, claim: Claim) -> bool:
    """Whether the sources that a claim cites, or inherits where it cites none, carry it together."""
    known = _known(bench, claim) or [number for number in claim.inherited if number in bench.positions]
    return bool(known) and bench.carries(bench.together(at, known))


def _is_reachable(bench: Bench, at: int) -> bool:
    """Whether any source of the context carries a claim, or those that carry something of it do so together."""
    each = bench.each(at, least=bench.scorer.partly / 2)
    if any(map(bench.carries, each.values())):
        return True
    return len(each) > 1 and bench.carries(bench.together(at, list(each)))


def _needed(bench: Bench, at: int, number: int, known: Sequence[int]) -> bool:
    rest = [other for other in known if other != number]
    return bench.carries(bench.together(at, (number,))) or not bench.carries(bench.together(at, rest))


Expected = Span | GoldChunk
Stretch = tuple[Key, int, int]
"""Characters of a chunk."""


def used_passages(assembly: Assembly, checked: CheckedAnswer) -> Share:
    """How many of the expected passages the answer stands on, and how many there are."""
    expected = _expected(assembly, checked)
    return Share(sum(is_used for _, is_used in expected), len(expected))


def unused_passages(assembly: Assembly, checked: CheckedAnswer) -> tuple[tuple[int, int] | None, ...]:
    """Where in the context each expected passage stands that the answer does not stand on; None: the context does not hold it."""
    return tuple(_place(assembly, passage) for passage, is_used in _expected(assembly, checked) if not is_used)


def _expected(assembly: Assembly, checked: CheckedAnswer) -> list[tuple[Expected, bool]]:
    """A passage is used where a claim that no source contradicts stands on characters of it, or of an exact copy of its chunk.

    Expected are the spans of the query, and gold chunks that a person added beside them; all gold chunks where the spans cannot be
    judged, because chunks do not say where they stand in their document, or say what cannot be. What is lost is never used.
    """
    chunks = {key: candidate.chunk for key, candidate in assembly.trace.candidates.items()}
    unplaced = {key[0] for key, chunk in chunks.items() if not has_offsets(chunk)}
    spans = [span for span in assembly.query.spans if not unplaced & {place.document_id for place in span.places}]
    beside = [gold for gold in assembly.query.marked if not any(_holds(chunks.get(key), span) for span in spans for key in gold.chunks)]
    expected: tuple[Expected, ...] = (*spans, *beside) if spans else assembly.query.gold
    placed = _with_copies(assembly, [stretch for low, high in _carried(checked) for stretch in _in_chunks(assembly, low, high)])
    return [(passage, any(_common(assembly, passage, stretch) for stretch in placed)) for passage in expected]


def _place(assembly: Assembly, passage: Expected) -> tuple[int, int] | None:
    """From the first to the last character of the passage in the first block that holds any of it."""
    found: dict[int | None, list[tuple[int, int]]] = {}
    for segment in assembly.segments:
        for stretch in _with_copies(assembly, list(_in_chunks(assembly, segment.start, segment.end)) if segment.kind == "chunk" else []):
            if common := _common(assembly, passage, stretch):
                shift = segment.start - stretch[1]
                found.setdefault(segment.block, []).append((common[0] + shift, common[1] + shift))
    first = next(iter(found.values()), None)
    return (min(low for low, _ in first), max(high for _, high in first)) if first else None


def _common(assembly: Assembly, passage: Expected, stretch: Stretch) -> tuple[int, int] | None:
    """The characters of its chunk that a stretch and a passage share."""
    key, low, high = stretch
    if isinstance(passage, GoldChunk):
        return (low, high) if key in passage.chunks else None
    begin = assembly.trace.candidates[key].chunk.start or 0
    shared = [
        (max(low, place.start - begin), min(high, place.end - begin))
        for place in passage.places
        if place.document_id == key[0] and not place.lost
    ]
    return next((one for one in shared if one[0] < one[1]), None)


def _holds(chunk: FetchedChunk | None, span: Span) -> bool:
    places = [place for place in span.places if not place.lost]
    return chunk is not None and any(
        chunk.document_id == place.document_id and (chunk.start or 0) < place.end and place.start < (chunk.end or 0) for place in places
    )


def cited_passages(assembly: Assembly, claim: CheckedClaim) -> tuple[Key, ...]:
    """The chunks that a claim stands on by what it cites, in their order: those that are right if its citation is.

    A claim that no source carries in full, one that only another source than it cites carries, and a disputed one name none.
    """
    if claim.verdict != "supported" or claim.disputed is not None:
        return ()
    places = [(s.context_start, s.context_end) for s in claim.support if s.context_start is not None and s.context_end is not None]
    return tuple(dict.fromkeys(key for low, high in places for key, *_ in _in_chunks(assembly, low, high)))


def _carried(checked: CheckedAnswer) -> Iterator[tuple[int, int]]:
    """Characters of the context that claims stand on, whether or not they cite the right number for it."""
    for claim in checked.claims:
        found = (*claim.support, *((claim.better_support,) if claim.better_support else ()))
        for support in found if claim.verdict != "contradicted" else ():
            if support.context_start is not None and support.context_end is not None:
                yield support.context_start, support.context_end


def _in_chunks(assembly: Assembly, low: int, high: int) -> Iterator[Stretch]:
    """The chunks that hold characters `low` to `high` of the context, and which characters of each."""
    for segment in assembly.segments:
        if segment.end <= low or high <= segment.start or segment.kind != "chunk":
            continue
        if segment.document_id is not None and segment.chunk_index is not None:
            first, last = max(low, segment.start), min(high, segment.end)
            if first < last and segment.chunk_start is not None:
                shift = segment.chunk_start - segment.start
                yield (segment.document_id, segment.chunk_index), first + shift, last + shift


def _with_copies(assembly: Assembly, stretches: list[Stretch]) -> list[Stretch]:
    """The same, and where a chunk has an exact copy that was left out, that one's as well."""
    texts = {key: candidate.chunk.text for key, candidate in assembly.trace.candidates.items()}
    copies = [
        ((fate.document_id, fate.chunk_index), fate.of)
        for fate in assembly.trace.fates
        if fate.of is not None and texts.get((fate.document_id, fate.chunk_index)) == texts.get(fate.of)
    ]
    known = [stretch for stretch in stretches if stretch[0] in texts]
    return known + [(copy, low, high) for key, low, high in known for copy, of in copies if of == key]
