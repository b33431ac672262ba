"""Replies, chats and streams of other tools: question, hits with their names, and answer are found wherever they stand."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from ctxasm.data.files.importing import import_files, preview
from ctxasm.data.files.recognised.draft import UNKNOWN_QUESTION
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Bundle

TEXTS = ("The starter is fed twice a day with flour.", "The oven is heated to 240 degrees.", "Rye bread keeps for a week in linen.")
FILES, SCORES = ("bread.pdf", "oven.pdf", "bread.pdf"), (0.9, 0.7, 0.2)
ASKS, SAYS = "How often is the starter fed, and how hot is the oven?", "It is fed twice a day [1]. The oven has 240 degrees [2]."
ALL = range(3)


class Reply(NamedTuple):
    """A file, and what it must give beside the texts: whether it states scores and asks."""

    value: Any
    asks: bool = True
    scored: bool = True
    file: str = "x.json"
    hits: int = 3


def sources(text: str, name: str, score: str = "score", **more: Any) -> list[dict[str, Any]]:
    return [{text: TEXTS[at], name: FILES[at], score: SCORES[at], **more} for at in ALL]


def events(*found: Any) -> bytes:
    return "".join(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in found).encode()


PARALLEL = {"document": list(TEXTS), "metadata": [{"name": name} for name in FILES], "distances": list(SCORES)}
CITED = [{"type": "char_location", "cited_text": TEXTS[at], "document_title": FILES[at]} for at in ALL]
GROUNDS = [{"retrievedContext": {"title": FILES[at], "text": TEXTS[at]}} for at in ALL]
SUPPORTS = [{"segment": {"text": SAYS[:26]}, "groundingChunkIndices": [0]}]
SEGMENTS = [{"document": {"derivedStructData": {"title": FILES[at], "extractive_segments": [{"content": TEXTS[at]}]}}} for at in ALL]
REFERENCES = [
    {
        "generatedResponsePart": {"textResponsePart": {"text": SAYS[:26]}},
        "retrievedReferences": [
            {"content": {"text": TEXTS[at]}, "metadata": {"x-amz-bedrock-kb-source-uri": f"s3://b/{FILES[at]}"}} for at in ALL
        ],
    }
]
CHOICES = [{"message": {"role": "assistant", "content": SAYS}}]
STEPS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKS}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look up the opening hours in the rules."}]},
    {"type": "file_search_call", "queries": ["opening hours"], "results": sources("text", "filename", attributes={})},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAYS, "annotations": []}]},
]
GIVEN = [{"type": "search_result", "title": FILES[at], "content": [{"type": "text", "text": TEXTS[at]}]} for at in ALL]
REPLIES: dict[str, Reply] = {
    "the items of a conversation in order": Reply({"object": "list", "data": STEPS}),
    "search results given with the question, of which some are cited": Reply(
        {
            "request": {"messages": [{"role": "user", "content": [*GIVEN, {"type": "text", "text": ASKS}]}]},
            "response": {"content": [{"type": "text", "text": SAYS, "citations": CITED[:2]}]},
        },
        scored=False,
    ),
    "a stream with pings": Reply(
        events({"input": ASKS}, {"context": sources("page_content", "title")}, {"answer": SAYS[:9]})
        + b": ping - 2025-03-11\n\n"
        + events({"answer": SAYS[9:]}),
        file="stream.txt",
    ),
    "a chat as list and tree": Reply(
        {"chat": {"messages": [{"role": "user", "content": ASKS}, {"role": "assistant", "content": SAYS, "sources": [PARALLEL]}]}}
    ),
    "messages that say who speaks by a flag": Reply(
        [
            {"text": ASKS, "isCreatedByUser": True},
            {"text": "", "content": [{"type": "text", "text": SAYS}], "isCreatedByUser": False, "files": sources("content", "fileName")},
        ]
    ),
    "messages from the newest on, one a line": Reply(
        "\n".join(
            json.dumps(message)
            for message in (
                {
                    "role": "apiMessage",
                    "content": SAYS,
                    "at": 2,
                    "timestamp": 2,
                    "documents": json.dumps(sources("pageContent", "fileName")),
                },
                {"role": "userMessage", "content": ASKS, "timestamp": 1},
            )
        ).encode(),
        file="x.jsonl",
    ),
    "a German chat": Reply(
        {
            "verlauf": [
                {"rolle": "Nutzer", "inhalt": ASKS},
                {"rolle": "Assistent", "inhalt": SAYS, "quellen": sources("inhalt", "titel", "Ähnlichkeit")},
            ]
        }
    ),
    "hits in the message of a tool": Reply(
        {
            "messages": [
                {"role": "user", "content": ASKS},
                {"role": "tool", "content": json.dumps(sources("snippet", "file_name"))},
                {"role": "assistant", "content": SAYS},
            ]
        }
    ),
    "lists beside the messages": Reply(
        {
            "messages": [{"role": "user", "content": ASKS}, {"role": "assistant", "content": SAYS}] * 2,
            "reference": [{"chunks": sources("content", "document_name", "similarity")}] * 2,
        }
    ),
    "parts with citations": Reply(
        {"role": "assistant", "content": [{"type": "text", "text": SAYS[:26], "citations": CITED}, {"type": "text", "text": SAYS[26:]}]},
        False,
        False,
    ),
    "grounding": Reply(
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": "Let me think.", "thought": True}, {"text": SAYS}]},
                    "groundingMetadata": {"groundingChunks": GROUNDS, "groundingSupports": SUPPORTS},
                }
            ]
        },
        False,
        False,
    ),
    "segments in documents": Reply({"query": ASKS, "results": SEGMENTS, "summary": {"summaryText": SAYS}}, True, False),
    "references of sentences": Reply({"output": {"text": SAYS}, "citations": REFERENCES}, False, False),
    "choices beside results": Reply(
        {"choices": CHOICES, "search_results": [{"title": FILES[at], "snippet": TEXTS[at]} for at in ALL]}, False, False
    ),
    "documents beside spans of the answer": Reply(
        {"text": SAYS, "citations": [{"text": "fed twice a day"}], "documents": [{"title": FILES[at], "snippet": TEXTS[at]} for at in ALL]},
        False,
        False,
    ),
    "a reply as JSON in a text": Reply([{"prompt": ASKS, "response": json.dumps({"text": SAYS, "sources": sources("text", "title")})}]),
    "highlights": Reply(
        {
            "query": ASKS,
            "hits": {
                "hits": [
                    {"_id": name, "_score": score, "_source": {"title": name}, "highlight": {"body": [f"<em>{text[:3]}</em>{text[3:]}"]}}
                    for text, name, score in zip(TEXTS, FILES, SCORES, strict=True)
                ]
            },
            "reply": SAYS,
        }
    ),
    "what Python printed": Reply(
        {
            "query": ASKS,
            "answer": SAYS,
            "data": [str([{"id": at, "distance": SCORES[at], "entity": {"text": TEXTS[at], "title": FILES[at], "x": None}} for at in ALL])],
        }
    ),
    "a Spanish log": Reply([{"pregunta": ASKS, "respuesta": SAYS, "fuentes": sources("texto", "título", "puntuación")}]),
    "names in camel case, deep": Reply(
        {
            "payload": {
                "userQuestion": ASKS,
                "botReply": {"messageText": SAYS},
                "found": {"items": sources("passageText", "docTitle", "relevanceScore")},
            }
        }
    ),
    "documents of a chain beside an odd answer": Reply(
        {
            "question": ASKS,
            "final_output": SAYS,
            "source_documents": [{"page_content": TEXTS[at], "metadata": {"source": "blob", "fileName": FILES[at]}} for at in ALL],
        },
        True,
        False,
    ),
    "an answer by its shape alone": Reply({"question": ASKS, "hits": sources("text", "title"), "utterance": SAYS, "trace": "abc-1"}),
    "a stream of pieces": Reply(
        events(
            {"sources": sources("text", "title")},
            *({"choices": [{"delta": {"content": piece}}]} for piece in (SAYS[:9], SAYS[9:30], SAYS[30:])),
            "[DONE]",
        ),
        False,
        True,
        "x.txt",
    ),
    "a stream that grows": Reply(
        events(*({"data": {"answer": SAYS[:end]}} for end in (9, 30, 99)), {"data": {"answer": SAYS, "chunks": sources("text", "title")}}),
        False,
        True,
        "x.txt",
    ),
    "a prompt with tags": Reply(
        {
            "messages": [
                {
                    "role": "user",
                    "content": "".join(f'<source id="{at + 1}" name="{FILES[at]}">{TEXTS[at]}</source>\n' for at in ALL)
                    + f"<query>{ASKS}</query>",
                }
            ],
            "response": SAYS,
        },
        True,
        False,
    ),
    "a prompt with trees": Reply(
        {
            "messages": [
                {"role": "system", "content": "\n".join(f"ID: {at}\n├── Title: {FILES[at]}\n└── Content:\n{TEXTS[at]}\n" for at in ALL)},
                {"role": "user", "content": ASKS},
            ],
            "response": SAYS,
        },
        True,
        False,
    ),
}


def load(reply: Reply) -> Bundle:
    data = reply.value if isinstance(reply.value, bytes) else json.dumps(reply.value, ensure_ascii=False).encode()
    return import_files([(reply.file, data)]).bundle


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_read_whole(name: str) -> None:
    reply = REPLIES[name]
    bundle = load(reply)
    titles = {document.document_id: document.title for document in bundle.documents}
    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in bundle.chunks}
    query = bundle.queries[0]
    ranked = sorted(query.retrieved, key=lambda hit: hit.rank or 0)
    assert query.query == (ASKS if reply.asks else UNKNOWN_QUESTION)
    assert [texts[hit.document_id, hit.chunk_index] for hit in ranked] == list(TEXTS)
    assert [titles[hit.document_id] for hit in ranked] == list(FILES)
    assert [hit.score for hit in ranked] == (list(SCORES) if reply.scored else [1, 1 / 2, 1 / 3])
    assert {answer.answer for answer in bundle.answers} == {SAYS}
    assert query.answer is None


def test_turns_keep_what_was_said_before() -> None:
    turns = [{"role": role, "content": f"{role} {at}?"} for at in (1, 2) for role in ("user", "assistant")]
    bundle = load(Reply({"title": "x", "messages": turns}))
    assert [query.query for query in bundle.queries] == ["user 1?", "user 2?"]
    assert [answer.answer for answer in bundle.answers] == ["assistant 1?", "assistant 2?"]


def test_a_message_below_another_is_a_turn_of_its_own() -> None:
    tree: list[dict[str, Any]] = []
    for at, text in reversed(list(enumerate((ASKS, SAYS, "Thank you.", "You are welcome.")))):
        beside = {"sources": sources("content", "fileName")} if at == 1 else {}
        tree = [{"messageId": f"m{at}", "text": text, "isCreatedByUser": at % 2 == 0, "children": tree, **beside}]
    bundle = load(Reply({"messages": tree}))
    assert [(query.query, len(query.retrieved)) for query in bundle.queries] == [(ASKS, 3), ("Thank you.", 0)]
    assert [answer.answer for answer in bundle.answers] == [SAYS, "You are welcome."]


def test_scores_of_metrics_are_not_those_of_hits() -> None:
    case = {"input": ASKS, "actualOutput": SAYS, "context": ["What a person would have looked up."], "retrievalContext": list(TEXTS)}
    bundle = load(Reply({"testCases": [{**case, "metricsData": [{"name": "Faithfulness", "score": float("nan"), "reason": None}]}]}))
    assert [(query.query, len(query.retrieved)) for query in bundle.queries] == [(ASKS, 3)]
    assert ([chunk.text for chunk in bundle.chunks], [answer.answer for answer in bundle.answers]) == (list(TEXTS), [SAYS])


def test_a_row_for_each_hit_repeats_the_question_and_the_answer() -> None:
    rows = "".join(f"Wann?;{SAYS};{FILES[at]};{at + 1};{TEXTS[at]};0,{9 - at}3\r\n" for at in ALL)
    table = f"Frage;Antwort;Dokument;Seite;Textstelle;Relevanz\r\n{rows}".encode("cp1252")
    bundle = import_files([("x.csv", table)]).bundle
    assert [(query.query, [hit.score for hit in query.retrieved]) for query in bundle.queries] == [("Wann?", [0.93, 0.83, 0.73])]
    assert [answer.answer for answer in bundle.answers] == [SAYS]
    assert [(chunk.text, chunk.page_number) for chunk in bundle.chunks] == [(TEXTS[at], at + 1) for at in ALL]


def test_a_system_prompt_is_no_question_and_what_may_be_an_answer_is_named() -> None:
    row = {
        "system_prompt": "You are a friendly baker.",
        "question": ASKS,
        "hits": sources("text", "title"),
        "reviewer_comment": "This looks wrong to me.",
    }
    reading = import_files([("x.json", json.dumps([row]).encode())])
    assert (reading.bundle.queries[0].query, reading.bundle.answers) == (ASKS, ())
    (note,) = [note for note in reading.notes if "known as an answer" in note]
    assert "'reviewer_comment' (such as 'This looks wrong to me.')" in note


def test_what_a_person_should_have_said_stays_a_reference() -> None:
    table = f"question,expected_answer,generated_answer\n{json.dumps(ASKS)},Twice.,Twice a day.\n".encode()
    bundle = import_files([("x.csv", table)]).bundle
    assert (bundle.queries[0].answer, bundle.answers[0].answer) == ("Twice.", "Twice a day.")


@pytest.mark.parametrize("data", [b"sep=;\ntext;title\nIt opens.;A\n", b'sep=\t\ntext\ttitle\n"It opens."\tA\n'])
def test_the_line_that_says_the_delimiter_is_no_row(data: bytes) -> None:
    (file,) = preview([("x.csv", data)]).files
    assert (file.columns, file.row_count) == (("text", "title"), 1)


def test_quotes_behind_backslashes_are_those_of_the_text() -> None:
    (chunk,) = import_files([("x.csv", b'text,document_id\n"He said \\"no\\", twice",a\n')]).bundle.chunks
    assert chunk.text == 'He said "no", twice'


def test_documents_without_a_text_are_no_load() -> None:
    with pytest.raises(InvalidInput, match="1 document, but no text and no question"):
        import_files([("x.json", b'[{"doc_id": "1", "title": "T", "url": "http://x"}]')])
