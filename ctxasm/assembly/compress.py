"""Stage 5, only when not all fits: oversized chunks are shortened to what the question is about. Or always, and every chunk.

Selective, as in the bookend guide: what is below the relevance floor left long before; of the rest only chunks above
`max_chunk_tokens` are touched, the worst first, and only until the candidates together fit the limit. That guide's code compresses
every one, which costs evidence for nothing: on four corpora (10 hits with neighbours, 4,000 tokens, 100 a chunk) the context then held
all evidence of .88, .70, .03 and .12 of the questions; worst first, of .97, .88, .25 and .50. `compression_when=always` is the
token-budget guide's code, and the query-time filter of the record on contextual embeddings. From here on a compressed chunk is
the text that is left of it; its extract maps that text back to the original, so that citations still reach the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ctxasm.assembly.deduplicate import by_document, resolve
from ctxasm.assembly.extract_sentences import ExtractiveCompressor
from ctxasm.assembly.passages import CUT
from ctxasm.assembly.stages import Compressor, Extract, Grouped, KeptSpan, compressed_text, cuts_head, cuts_tail
from ctxasm.model.characters import is_visible
from ctxasm.model.errors import InvalidInput
from ctxasm.model.events import Compressed, Dropped, Event, Failed
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.results import Candidate, Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.chunk_facts import overlap_at
from ctxasm.text.overlap import NOTHING_SHARED, Overlap, left_behind


@dataclass(frozen=True, slots=True)
class Compression:
    """The candidates after the stage, the extracts that are in force, and the chunks that were found irrelevant."""

    candidates: Mapping[Key, Candidate]
    extracts: Mapping[Key, Extract]
    irrelevant: tuple[Key, ...]
    events: tuple[Event, ...]


def compress_grouped(
    query: str,
    grouped: Grouped,
    limit: int,
    settings: AssemblySettings,
    compressor: Compressor | None,
    counter: TokenCounter,
    cancelled: Callable[[], bool],
    measure: Callable[[], int],
) -> Grouped:
    """The documents with oversized chunks shortened, where not everything fits; `measure` says what all comes to. They stay in their order.

    Raises InvalidInput where a model is to compress and none is there.
    """
    if settings.compression == "extractive":
        compressor = ExtractiveCompressor(settings.gap_mark, settings.compression_when == "always")
    if compressor is None:
        raise InvalidInput("compression=model needs a compressor, got none: pass one to assemble(), or set compression=extractive")
    there = {(document_id, index) for document_id, indexes in grouped.resolution.shown.items() for index in indexes}
    standing = {candidate.key: candidate for own in grouped.own.values() for candidate in own.values()}
    candidates = {key: candidate for key, candidate in standing.items() if key in there}
    done = compress(query, candidates, limit, settings, compressor, counter, cancelled, measure())
    irrelevant = frozenset(done.irrelevant)
    irrelevant |= {copy for copy, original in grouped.resolution.duplicates.items() if original in irrelevant}
    own = by_document(done.candidates.get(key, candidate) for key, candidate in standing.items() if key not in irrelevant)
    resolution = resolve(own, grouped.relations, grouped.order)
    return replace(
        grouped,
        own=own,
        resolution=resolution,
        extracts=done.extracts,
        irrelevant=irrelevant,
        notes=done.events,
    )


def compress(
    query: str,
    candidates: Mapping[Key, Candidate],
    limit: int,
    settings: AssemblySettings,
    compressor: Compressor,
    counter: TokenCounter,
    cancelled: Callable[[], bool] = lambda: False,
    tokens: int | None = None,
) -> Compression:
    """The whole stage. `tokens` is what all candidates take, where the caller has measured it; else their own counts say it."""
    keys = oversized(candidates, limit, settings, tokens)
    if not keys:
        return Compression(candidates, {}, (), ())
    most, mark = settings.max_chunk_tokens, settings.gap_mark
    extracts = dict(zip(keys, compressor.compress(query, [candidates[key].chunk for key in keys], most, counter, cancelled), strict=True))
    best = best_hit(candidates)
    if best in extracts and extracts[best] is None:
        extracts[best] = ExtractiveCompressor(mark).compress(query, [candidates[best].chunk], most, counter)[0]
    return replace_chunks(candidates, extracts, mark, counter)


def best_hit(candidates: Mapping[Key, Candidate]) -> Key | None:
    """The chunk that is never irrelevant; a neighbour where every hit repeats one and left."""
    hits = [candidate for candidate in candidates.values() if candidate.retrieved] or candidates.values()
    return min(hits, key=lambda hit: (hit.rank, hit.key)).key if hits else None


def oversized(candidates: Mapping[Key, Candidate], limit: int, settings: AssemblySettings, tokens: int | None = None) -> tuple[Key, ...]:
    """The chunks to compress, in the order of the candidates: of those above the size, the worst, until all fits; or every one.

    The better ones stay verbatim where that is enough, and no model is asked about them (the bookend guide's own words; its
    code compresses every one). None when everything fits; all when even that does not bring it about.
    """
    if settings.compression_when == "always":
        return tuple(candidates)
    shared = {key: _shared_tokens(candidate.chunk, candidates) for key, candidate in candidates.items()}
    if tokens is None:
        tokens = sum((candidate.chunk.token_count or 0) - shared[key] for key, candidate in candidates.items())
    over = tokens - limit
    chars_over = sum(len(c.chunk.text) for c in candidates.values()) - settings.max_chars if settings.max_chars is not None else 0
    most = settings.max_chunk_tokens
    chosen: set[Key] = set()
    for key, candidate in sorted(candidates.items(), key=lambda item: (item[1].score, -item[1].rank, item[0])):
        own = candidate.chunk.token_count or 0
        if (over > 0 or chars_over > 0) and own > most:
            chosen.add(key)
            # Neither its own head nor that of the chunk after it is taken for shared any more.
            over -= own - most - shared[key] - shared.get((key[0], key[1] + 1), 0)
            chars_over -= len(candidate.chunk.text) * (own - most) // own
    return tuple(key for key in candidates if key in chosen)


def _shared_tokens(chunk: FetchedChunk, candidates: Mapping[Key, Candidate]) -> int:
    """Of its tokens those that the chunk before it shows."""
    return (chunk.overlap_tokens or 0) if (chunk.document_id, chunk.chunk_index - 1) in candidates else 0


def replace_chunks(
    candidates: Mapping[Key, Candidate], extracts: Mapping[Key, Extract | None], gap_mark: str, counter: TokenCounter
) -> Compression:
    """The candidates with compressed chunks in place of the originals, and with the facts of their neighbours set right.

    None drops a chunk, but never the best hit, which stays as it is; so does a chunk that would not become smaller.
    The neighbours of a dropped chunk stay: nobody judged them.
    """
    best = best_hit(candidates)
    after: dict[Key, Candidate] = {}
    in_force: dict[Key, Extract] = {}
    events: list[Event] = []
    for key, candidate in candidates.items():
        extract = extracts.get(key)
        if extract is None:
            if key in extracts and key != best:
                events.append(Dropped(*key, "irrelevant"))
                continue
            after[key] = candidate
            continue
        chunk, tokens = compressed_chunk(candidate.chunk, extract, gap_mark, counter), candidate.chunk.token_count or 0
        kept_tokens = chunk.token_count or 0
        if not is_visible(chunk.text) or kept_tokens >= tokens:
            after[key] = candidate
            continue
        after[key] = candidate._replace(chunk=chunk)
        in_force[key] = extract
        events.append(Compressed(*key, tokens, kept_tokens, len(chunk.text), extract.how))
    irrelevant = tuple(key for key in candidates if key not in after)
    failures = [extract.failure for extract in extracts.values() if extract is not None and extract.failure]
    events += [Failed(message, failures.count(message)) for message in dict.fromkeys(failures)]
    return Compression(_with_seams(candidates, after, in_force), in_force, irrelevant, tuple(events))


def compressed_chunk(chunk: FetchedChunk, extract: Extract, gap_mark: str, counter: TokenCounter) -> FetchedChunk:
    """The chunk as later stages see it. It has no place in its document as a whole any more, so its offsets are gone."""
    text = compressed_text(chunk.text, extract, gap_mark)
    return chunk._replace(
        text=text,
        start=None,
        end=None,
        token_count=counter.count(text),
        overlap_chars=None,
        overlap_kind=None,
        overlap_tokens=None,
        duplicate_key=None,
        lead_tokens=None,
        quiet=None,
    )


def _with_seams(before: Mapping[Key, Candidate], after: Mapping[Key, Candidate], extracts: Mapping[Key, Extract]) -> dict[Key, Candidate]:
    """The candidates with true facts about every seam that a compressed chunk has a part in."""
    seen: dict[Key, Candidate] = {}
    for key, candidate in after.items():
        first = (key[0], key[1] - 1)
        if key in extracts or first in extracts:
            chunk = _seam(before.get(first), before[key], extracts.get(first), extracts.get(key), candidate.chunk)
            candidate = candidate._replace(chunk=chunk)
        seen[key] = candidate
    return seen


def _seam(
    first: Candidate | None, second: Candidate, first_extract: Extract | None, extract: Extract | None, chunk: FetchedChunk
) -> FetchedChunk:
    """`chunk`, what is left of `second`, with what is left of its overlap with `first`.

    Only an overlap that both still show whole, at the very seam, can be stripped. Its own count stays what it was.
    """
    whole = NOTHING_SHARED
    if first is not None:
        whole = overlap_at(first.chunk, second.chunk)
        if left_behind(first.chunk, second.chunk, whole):
            whole = NOTHING_SHARED
        if first_extract is not None and cuts_tail(first.chunk.text, first_extract):
            whole = Overlap(0, CUT)
    if extract is not None and cuts_head(second.chunk.text, extract):
        whole = Overlap(0, CUT)
    shown = min(_last_length(first, first_extract), _first_length(second, extract))
    if whole.kind in ("offsets", "text", "header"):
        whole = Overlap(whole.chars, "text") if whole.chars <= shown and not whole.header else NOTHING_SHARED
    tokens = second.chunk.overlap_tokens if whole.kind == "text" else None
    return chunk._replace(overlap_chars=whole.chars, overlap_kind=whole.kind, overlap_tokens=tokens, lead_tokens=None)


def _last_length(candidate: Candidate | None, extract: Extract | None) -> int:
    """How many characters of a chunk are shown in one piece up to its end."""
    if extract is None:
        return len(candidate.chunk.text) if candidate is not None else 0
    last = extract.spans[-1] if extract.spans else KeptSpan(0, 0)
    return last.end - last.start if candidate is not None and last.end == len(candidate.chunk.text) else 0


def _first_length(candidate: Candidate, extract: Extract | None) -> int:
    """How many characters of a chunk are shown in one piece from its beginning."""
    if extract is None:
        return len(candidate.chunk.text)
    first = extract.spans[0] if extract.spans else KeptSpan(0, 0)
    return first.end if first.start == 0 else 0
