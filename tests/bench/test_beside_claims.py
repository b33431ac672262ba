"""What is said of an answer beside its claims, by half: `pytest -m bench -s tests/bench/test_beside_claims.py`.

Whether it answers its question (own answers beside answers to other questions), what disputes claims that people accept (and copies of
their sources with another figure), which labelled answers are listed, and whether the key-free model declines what its corpus has not.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from ctxasm import assemble, check, load, open_store, search
from ctxasm.app.parts import open_likeness
from ctxasm.citations.agreement import ATTRIBUTABLE, bare_claim, is_label
from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import WORST, parts_of
from ctxasm.citations.figures import Likeness, addressed
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.data.files import load_bundle
from ctxasm.llm.extractive import extract_answer, quotes_of
from ctxasm.model.records import Bundle, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.language import language_of
from tests.bench.corpora import SAMPLE
from tests.bench.support_data import hagrid, half_of
from tests.bench.tables import show
from tests.citations.probes_data import HALVES
from tests.real_data import real_folder

pytestmark = pytest.mark.bench
SCORER = LexicalScorer()
QUESTIONS = 30
"""Own questions of each corpus that are tried; of other corpora twice as many."""


class Pair(NamedTuple):
    """A question, its answer, and the sources that the answer was made from; `marked`: it cites them."""

    question: str
    answer: str
    sources: tuple[Any, ...]
    marked: bool


def wilson(part: int, whole: int) -> str:
    """`3 of 90: .033 (.011–.093)`: a share with its 95 % interval."""
    share, z = part / whole, 1.96
    middle, width = share + z * z / 2 / whole, z * sqrt(share * (1 - share) / whole + z * z / 4 / whole / whole)
    low, high = (max(0.0, (middle + side * width) / (1 + z * z / whole)) for side in (-1, 1))
    return f"{part} of {whole}: {share:.3f} ({low:.3f}–{high:.3f})"


def bundle(name: str) -> Bundle:
    folder = real_folder()
    return load_bundle(SAMPLE if name == "hospital" else folder / name) if folder is not None else Bundle(name)


def pairs() -> dict[str, list[Pair]]:
    """Labelled questions with answers: recorded ones of HAGRID, reference answers of corpora beside the chunks that they need."""
    found = {
        "hagrid": [Pair(questions[a.query_id], a.answer, a.sources, True) for answers, questions in hagrid().values() for a in answers]
    }
    for name in ("andocs", "codebase", "hospital"):
        data = bundle(name)
        titles = {document.document_id: document.title or "" for document in data.documents}
        found[name] = []
        for query in data.queries:
            needed = [chunk for chunk in data.chunks if _is_needed(query, chunk)]
            sources = tuple({"n": n, "text": c.text, "title": titles.get(c.document_id, "")} for n, c in enumerate(needed, 1))
            if query.answer and sources:
                found[name].append(Pair(query.query, query.answer, sources, False))
    return found


def _is_needed(query: Query, chunk: Any) -> bool:
    if query.gold:
        return any((gold.document_id, gold.chunk_index) == (chunk.document_id, chunk.chunk_index) for gold in query.gold)
    inside = [span for span in query.spans if span.document_id == chunk.document_id and chunk.start is not None]
    return any(chunk.start < span.end and span.start < chunk.end for span in inside)


def _doubt(pair: Pair, question: str, likeness: Likeness | None) -> bool | None:
    grounds = grounds_of_sources(pair.sources)
    claims = check_answer(pair.answer, grounds, SCORER, question=question, marked=pair.marked).claims
    found = addressed(question, pair.answer, claims, grounds, likeness)
    return None if found is None else found.is_doubtful


@pytest.mark.parametrize("likeness", [None, open_likeness()], ids=["words", "words and meaning"])
def test_own_answers_beside_answers_to_other_questions(likeness: Likeness | None, capsys: pytest.CaptureFixture[str]) -> None:
    if not hagrid():
        pytest.skip("the labelled answers are not beside the project")
    random, rows = Random(7), []
    for half in HALVES:
        totals = Counter[tuple[str, object]]()
        for name, own in pairs().items():
            mine = [pair for pair in own if half_of(pair.question) == half]
            counts = Counter[tuple[str, object]]()
            for pair in mine:
                counts["own", _doubt(pair, pair.question, likeness)] += 1
                other = random.choice([one.question for one in mine if one.question != pair.question])
                counts["other", _doubt(pair, other, likeness)] += 1
            totals += counts
            rows.append([half, name, *_told(counts)])
        rows.append([half, "all", *_told(totals)])
    with capsys.disabled():
        show("Said to maybe not answer", ("half", "set", "its own question", "another of the set", "cannot be told: own", "other"), rows)


def _told(counts: Counter[tuple[str, object]]) -> list[object]:
    whole = {kind: sum(counts[kind, told] for told in (True, False, None)) for kind in ("own", "other")}
    return [*(wilson(counts[kind, True], whole[kind]) for kind in ("own", "other")), counts["own", None], counts["other", None]]


def _altered(text: str) -> str | None:
    """A text with its first whole number of two to four digits another one."""
    found = re.search(r"(?<![\d.,:])\d{2,4}(?![\d.,:]*\d)", text)
    return None if found is None else f"{text[: found.start()]}{int(found[0]) + 3}{text[found.end() :]}"


def test_disputes_of_claims_that_people_accept(capsys: pytest.CaptureFixture[str]) -> None:
    if not hagrid():
        pytest.skip("the labelled answers are not beside the project")
    rows = []
    for half in HALVES:
        raised, seen = Counter[bool](), Counter[bool]()
        for record in hagrid()[half][0]:
            accepted = [label for label in record.labels if is_label(label) and label["cites"] and label["support"] == ATTRIBUTABLE]
            for label in accepted:
                claim = f"{bare_claim(label['claim']).rstrip('.')} {''.join(f'[{n}]' for n in label['cites'])}."
                checked = check_answer(claim, grounds_of_sources(record.sources), SCORER)
                raised[any(one.disputed for one in checked.claims)] += 1
            for source in record.sources:
                sentence = next((one for one in re.split(r"(?<=[a-z]\.) ", source["text"]) if _altered(one) and len(one) < 300), None)
                if sentence is not None:
                    copies = [{"n": 1, "text": sentence}, {"n": 2, "text": source["text"].replace(sentence, str(_altered(sentence)))}]
                    checked = check_answer(f"{sentence.rstrip('.')} [1].", grounds_of_sources(copies), SCORER)
                    seen[any(one.disputed for one in checked.claims)] += 1
        rows.append([half, wilson(raised[True], raised.total()), wilson(seen[True], seen.total())])
    with capsys.disabled():
        show("Disputed", ("half", "claims that people accept", "quotes beside a copy with another figure"), rows)


def test_quotes_that_are_disputed_and_questions_that_are_declined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Quotes of the key-free model are verbatim: most disputes of them would be wrong. Questions of other corpora have no answer here."""
    if real_folder() is None:
        pytest.skip("the corpora are not beside the project")
    store, random = open_store(f"sqlite:///{tmp_path / 'corpora.db'}"), Random(3)
    data = {name: bundle(name) for name in ("chunkeval", "andocs", "codebase", "debfaq-nl", "hospital")}
    other = {question for _, questions in hagrid().values() for question in questions.values()}
    declined, disputed = Counter[tuple[str, str, str, bool]](), []
    for name, own in data.items():
        load(SAMPLE if name == "hospital" else real_folder() / name, store, name=name)  # type: ignore[operator]
        language = "nl" if name in ("debfaq-nl", "hospital") else "en"
        foreign = sorted({query.query for each, one in data.items() if each != name for query in one.queries} | other)
        foreign = [question for question in foreign if language_of(question) == language]
        said, counted = list[str](), 0
        for query in random.sample(own.queries, min(QUESTIONS, len(own.queries))):
            assembly = assemble(query, store, AssemblySettings())
            declined[half_of(query.query), language, "own", not quotes_of(assembly)] += 1
            claims = check(assembly, extract_answer(assembly)).claims
            counted += len(claims)
            said += [f"{claim.claim.text[:60]} · {claim.disputed.conflict.source}" for claim in claims if claim.disputed]
        disputed.append([name, f"{len(said)} of {counted}", "; ".join(dict.fromkeys(said))])
        for question in random.sample(foreign, min(2 * QUESTIONS, len(foreign))):
            found = assemble(search(question, store, name), store, AssemblySettings())
            declined[half_of(question), language, "other", not quotes_of(found)] += 1
    rows = [
        [
            half,
            language,
            *(wilson(declined[half, language, kind, True], _both(declined, half, language, kind)) for kind in ("own", "other")),
        ]
        for half in HALVES
        for language in ("en", "nl")
    ]
    with capsys.disabled():
        show("Quotes of the key-free model that another source of the context disputes", ("corpus", "disputed", "which"), disputed)
        show("Declined by the key-free model", ("half", "language", "own questions", "questions of other corpora"), rows)


def _both(counts: Counter[tuple[str, str, str, bool]], half: str, language: str, kind: str) -> int:
    return counts[half, language, kind, True] + counts[half, language, kind, False]


def test_labelled_answers_that_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    if not hagrid():
        pytest.skip("the labelled answers are not beside the project")
    worst, labels = Counter[str](), defaultdict[str, Counter[bool]](Counter)
    for answers, questions in hagrid().values():
        for record in answers:
            checked = check_answer(record.answer, grounds_of_sources(record.sources), SCORER, question=questions[record.query_id])
            parts = {part for claim in checked.claims for part in parts_of(claim, checked)}
            worst[min(parts, key=WORST.index) if parts else "nothing to check"] += 1
            told = {_plain(label["claim"]): label["support"] == ATTRIBUTABLE for label in record.labels if is_label(label)}
            for claim in checked.claims:
                if _plain(claim.claim.text) in told and (own := parts_of(claim, checked)):
                    labels[own[0]][told[_plain(claim.claim.text)]] += 1
    rows = [[name, worst[name], labels[name][True], labels[name][False]] for name in (*WORST, "nothing to check")]
    with capsys.disabled():
        show("HAGRID by the worst of each answer", ("worst", "answers", "such claims accepted by people", "refused"), rows)


def _plain(text: str) -> str:
    return " ".join(bare_claim(text).split()).strip(" .")
