"""By what names files and tables of others call the fields of our records, the surest name first.

Names are compared by `plain_name`, so `chunkIndex`, `chunk-index` and `CHUNK_INDEX` are one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

P = TypeVar("P")

REFERENCES = ("reference_answer", "ground_truth", "expected_answer", "gold_answer", "reference")
FIELD_NAMES: Mapping[str, tuple[str, ...]] = {
    "document_id": (
        "document_id",
        "doc_id",
        "docid",
        "documentid",
        "ref_doc_id",
        "source_id",
        "parent_id",
        "parent_document_id",
        "file_id",
        "page_id",
        "article_id",
        "corpus_id",
        "document",
        "doc",
        "document_uuid",
    ),
    "chunk_index": (
        "chunk_index",
        "chunk_idx",
        "chunk_no",
        "chunk_nr",
        "chunk_number",
        "chunk_order",
        "chunk_position",
        "chunk_seq",
        "split_id",
        "split_idx",
        "seq",
        "sequence",
        "sequence_number",
        "ordinal",
        "position",
        "part",
        "idx",
        "index",
    ),
    "text": (
        *("text", "chunk_text", "page_content", "content", "chunk_content", "passage", "body", "chunk", "contents", "raw_text", "tekst"),
        *("document", "documents", "page_text", "node_text", "context", "inhalt", "texte", "texto", "inhoud"),
        *("textstelle", "fundstelle", "auszug", "abschnittstext", "tekstfragment", "extrait", "fragmento", "passaggio", "estratto"),
    ),
    "start": ("start", "start_char", "start_char_idx", "start_index", "start_offset", "char_start", "offset_start", "begin"),
    "end": ("end", "end_char", "end_char_idx", "end_index", "end_offset", "char_end", "offset_end"),
    "page_number": (
        "page_number",
        "page",
        "page_no",
        "page_label",
        "pagina",
        "seite",
        "seitenzahl",
        "paginanummer",
        "page_num",
        "seitennummer",
    ),
    "section": ("section", "heading", "header", "section_title", "chapter", "breadcrumb", "abschnitt", "kapitel", "hoofdstuk"),
    "row_number": ("row_number", "row", "row_no", "start_line", "line", "line_number"),
    "title": (
        *("title", "document_title", "doc_title", "page_title", "titel", "titre", "titulo", "titolo"),
        *("document_name", "doc_name", "semantic_identifier", "display_name", "dokument", "documento", "name"),
    ),
    "source": (
        *("source", "url", "uri", "source_url", "link", "file_name", "filename", "file_path", "path", "file", "bron", "source_uri"),
        *(
            "quelle",
            "href",
            "permalink",
            "document_url",
            "document_uri",
            "doc_url",
            "file_url",
            "datei",
            "dateipfad",
            "bestand",
            "chunk_source",
        ),
    ),
    "summary": ("summary", "page_summary", "document_summary", "doc_summary", "abstract", "description", "samenvatting"),
    "date": (
        "date",
        "published",
        "published_at",
        "publication_date",
        "created",
        "created_at",
        "updated_at",
        "last_modified",
        "datum",
        "fecha",
    ),
    "embedding": ("embedding", "embeddings", "vector", "emb", "embedding_vector", "dense_vector", "text_embedding"),
    "tsvector": ("tsv", "tsvector", "search_vector", "text_search", "fts", "ts", "document_with_weights", "search"),
    "query_id": ("query_id", "qid", "question_id", "q_id", "queryid", "topic_id"),
    "query": (
        "query",
        "question",
        "query_text",
        "question_text",
        "user_query",
        "user_input",
        "search_query",
        "prompt",
        "vraag",
        "frage",
        "pregunta",
        "domanda",
    ),
    "answer": ("answer", *REFERENCES, "response", "antwoord", "antwort", "respuesta", "risposta"),
    "score": (
        *("score", "similarity", "similarity_score", "relevance_score", "relevance", "cosine_similarity", "rerank_score"),
        *("bm25_score", "bm25", "vector_score", "search_score"),
        *("relevanz", "relevantie", "relevancia", "pertinence", "rilevanza", "ähnlichkeit", "aehnlichkeit", "similitud"),
    ),
    "distance": ("distance", "cosine_distance", "vector_distance", "l2_distance", "dist"),
    "rank": ("rank", "hit_rank", "position", "order", "rang"),
    "retrieved": ("retrieved",),
}

FILE_NAMES = (
    *("file_name", "filename", "original_filename", "source_name", "dateiname", "dokumentname", "bestandsnaam", "documentnaam"),
    *("nom_fichier", "nombre_archivo", "nome_file", "source_document"),
)
"""What names the file of a text: its title where nothing else is."""


@lru_cache(8192)
def plain_name(name: str) -> str:
    """A name without case, marks and separators: what two spellings of it share."""
    parts = unicodedata.normalize("NFKD", name).casefold()
    return "".join(character for character in parts if character.isalnum())


_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(8192)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in any spelling: `textResponse`, `text_response` and `text-response` are two."""
    plain = unicodedata.normalize("NFKD", _HUMP.sub(" ", name)).casefold()
    letters = (character if character.isalpha() else "" if unicodedata.combining(character) else " " for character in plain)
    return tuple("".join(letters).split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for a table of them."""
    return frozenset(text.split())


def by_names(known: Iterable[str], places: Iterable[tuple[str, P]]) -> Iterator[P]:
    """The places whose own name is one of `known`, the surest name first."""
    there: dict[str, list[P]] = {}
    for name, place in places:
        there.setdefault(plain_name(name), []).append(place)
    for plain in dict.fromkeys(map(plain_name, known)):
        yield from there.get(plain, ())


def guess_name(field: str, names: Iterable[str]) -> str | None:
    """The one of `names` that most surely holds `field`, None where none does."""
    return next(by_names(FIELD_NAMES.get(field, ()), ((name, name) for name in names)), None)


LONG_TEXT = 40
"""Characters that texts have at least on average; names and titles are shorter."""
MOST_KEYS = 50
"""Of one object; the rest is not looked at."""


def opened_json(value: Any) -> Any:
    """The object that a text holds as JSON, else the value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # a text that only looks like JSON, or one that was cut
        return value


def _as_it_is(name: str, value: Any) -> Any:
    return value


def places_inside(
    name: str, value: Any, depth: int, opened: Callable[[str, Any], Any] = _as_it_is, most: int = MOST_KEYS
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys that lead to each value inside an object of a column `name`, and the value, down to `depth`.

    `opened` makes objects of texts, told the column or key that they stand under; `most` are the keys of one object.
    """
    found = opened(name, value)
    if depth and isinstance(found, Mapping):
        for key, inner in islice(found.items(), most):
            yield (str(key),), inner
            for rest, innermost in places_inside(str(key), inner, depth - 1, opened, most):
                yield (str(key), *rest), innermost


def longest_texts(values: Mapping[P, Sequence[Any]], least: int = LONG_TEXT) -> P | None:
    """The place of the longest texts, at least `least` characters on average; None where no values read like texts."""
    lengths = {
        place: sum(map(len, texts)) / len(texts)
        for place, there in values.items()
        if len(texts := [value for value in there if isinstance(value, str)]) * 2 > len(there)
        and sum(map(_has_words, texts)) * 2 >= len(texts)
    }
    best = max(lengths, key=lengths.__getitem__, default=None)
    return best if best is not None and lengths[best] >= least else None


def _has_words(text: str) -> bool:
    """Addresses, hashes and codes are letters without blanks; Chinese and Japanese have none either."""
    return " " in text or not text.isascii()


def plain_names(*names: str) -> tuple[str, ...]:
    """Names as `plain_name` has them, each once."""
    return tuple(dict.fromkeys(map(plain_name, names)))


ANSWER_WORDS = word_set(
    "answer answers answered response responses reply replies completion completions generation generations generated "
    "prediction predictions predicted output outputs outcome result assistant bot chatbot ai llm model antwort antworten "
    "antwoord antwoorden reponse respuesta resposta risposta ausgabe uitvoer ergebnis"
)
"""Words of a name that say that what stands there was answered."""
WEAK_WORDS = frozenset(("model", "llm", "ai"))
"""Those that name a model as often."""
CARRIER_WORDS = word_set(
    "content contents text value message messages parts data body choices candidates final delta summary zusammenfassung samenvatting"
)
"""Words of a name that say nothing: what is around it says it."""
EXPECTED_WORDS = word_set(
    "reference references ground truth truths expected gold golden ideal correct target label labels should human referenz "
    "referentie erwartet erwartete verwacht verwachte soll musterantwort modelantwoord"
)
"""Words of a name that say that what stands there should have been answered."""
ASKING_WORDS = word_set("query queries question questions input inputs user session")
"""Words of objects that hold a question, and may hold its answer."""
OTHER_WORDS = word_set(
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
ALTERNATIVES = frozenset(
    map(plain_name, ["choices", "candidates", "generations", "alternatives", "samples", "completions", "replies", "predictions", "answers"])
)
"""Lists of alternatives."""
PART_LISTS = frozenset(
    map(
        plain_name,
        ["content", "contents", "parts", "output", "outputs", "blocks", "messages", "message", "steps", "segments", "deltas", "items"],
    )
)
"""Lists of what is one answer together."""
UNSAID_WORDS = word_set("reasoning thinking thought tool function call query search")
"""Types of parts that are no answer."""
LIST_WORDS = word_set(
    "hits documents docs sources references citations chunks passages contexts results nodes matches snippets retrieved retrieval "
    "treffer quellen bronnen fundstellen resultaten dokumente documenten fragmenten fuentes evidence grounding "
    "segments excerpts fragments extracts extraits extractive"
)
"""Words of the names of lists of hits."""
SCORE_WORDS = word_set(
    "score scores similarity relevance relevancy relevanz relevantie relevancia pertinence ahnlichkeit aehnlichkeit similaridad similarite "
    "overeenkomst gelijkenis punktzahl puntuacion confidence bewertung treffergute probability"
)
"""Words of the names of scores."""
HIT_NAMES: Mapping[str, tuple[str, ...]] = {
    "query": ("user_question", "query_str", "queries", "questions", "query_texts", "input", "inputs", "q", "search", "messages", "ask"),
    "prompt": ("prompt", "messages", "full_prompt", "final_prompt", "rendered_prompt", "prompt_sent", "llm_input", "model_input"),
    "text": ("texts", "chunks", "contexts", "passages", "snippets", "snippet", "content", "text", "value"),
    "id": (
        "id",
        "ids",
        "_id",
        "id_",
        "uuid",
        "chunk_id",
        "node_id",
        "point_id",
        "passage_id",
        "chunk_ids",
        "doc_ids",
        "doc_id",
        "key",
        "pk",
    ),
    "score": ("scores", "ranking_score", "certainty", "text_match", "relevancy", "weight"),
    "distance": ("distances", "nn_distance"),
    "metadata": ("metadatas", "metadata", "payloads"),
}
"""More names than a flat table is trusted with."""
DOCUMENT_NAMES = plain_names(*FIELD_NAMES["document_id"][:10], "document_uuid", "dokument_id", "objectid")
"""Where clients keep the identifier of the document that a chunk was cut from."""
SOURCE_NAMES = plain_names("source", "file_path", "path", *FIELD_NAMES["source"], "key")
TITLE_NAMES = plain_names(*FIELD_NAMES["title"][:-1], *FILE_NAMES, "name")
SECTION_NAMES = plain_names("section", "header", "heading", "Header 3", "Header 2", "Header 1", "header_path", *FIELD_NAMES["section"])
DATE_NAMES = plain_names(
    "date", "last_modified_date", "modified", "creation_date", "published", "published_at", "publication_date", "datum"
)
INDEX_NAMES = (
    *("chunk_index", "chunk_id", "chunk_number", "chunk_num", "chunk", "chunk_seq", "chunk_ind", "segment_position", "seq", "seq_num"),
    *("sequence", "split_id", "node_index", "passage_index", "segment_index", "row", "abschnitt_nr", "chunk_order", "chunk_position"),
)
"""Where clients number the chunks of one document."""
START_NAMES = plain_names("start_index", "start_char_idx", "split_idx_start", "start_char", "char_start", "start_offset")
END_NAMES = plain_names("end_index", "end_char_idx", "split_idx_end", "end_char", "char_end", "end_offset")
PAGE_NAMES = plain_names("page_number", "page_label", *FIELD_NAMES["page_number"][2:])
LONG_NAME = 7
"""Letters of a name that is also known behind others (`x-amz-bedrock-kb-document-page-number`)."""
SHARED = frozenset(("sourceid", "parentid"))
"""Names that mean something else behind others (`data_source_id`)."""
PLACEHOLDERS = frozenset(("", "blob", "unknown", "none", "null", "undefined", "nan", "n/a", "a file", "upload", "string", "untitled"))
"""What tools write where a source has no name."""
SCORE_NAMES = {
    **dict.fromkeys(("relevance_score", "rerank_score", "reranker_score", "cross_encoder_score"), "rerank"),
    **dict.fromkeys(("score", "_score", "hybrid_score", "similarity_score"), "score"),
    **dict.fromkeys(("similarity", "vector_score", "query_similarity_score", "cosine_similarity"), "vector"),
    **dict.fromkeys(("bm25_score", "bm25", "keyword_score"), "bm25"),
    **dict.fromkeys(("distance", "_distance", "vector_distance", "cosine_distance", "l2_distance", "__nn_distance"), "distance"),
}
"""The names of a score, the one that counts first, with what it measures."""
TEXT_NAMES = ("page_content", "pageContent", "text", "content", "chunk", "chunk_text", "passage", "body", "snippet", "document")
INNER_NAMES = ("metadata", "meta", "payload", "_source", "entity", "fields", "attributes", "properties")
ID_NAMES = ("id", "id_", "_id", "node_id", "chunk_id", "uuid")
LIST_NAMES = (
    *("documents", "source_documents", "source_nodes", "nodes", "retrieved_documents", "reranked_documents", "context", "contexts"),
    *("retrieved_contexts", "results", "matches", "points", "hits", "chunks", "passages", "data", "output", "outputs", "result"),
    *("docs", "value", "retriever", "sources"),
)
QUESTION_NAMES = ("query", "question", "user_input", "input", "search_query", "query_str", "query_text", "text", "prompt", "messages")
USER_WORDS = word_set("user human client customer benutzer nutzer gebruiker utilisateur usuario utente mensch humanmessage you")
ASSISTANT_WORDS = word_set("assistant ai bot chatbot api model agent assistent asistente gpt chatgpt claude llm aimessage aimessagechunk")
ASIDE_WORDS = word_set("system developer tool function toolmessage systemmessage functionmessage observation retriever ipython")
