"""A small hospital and a little program, as a dataset; and a model that answers what it is asked about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.enrich.extractive import Whole, whole_document
from ctxasm.model.records import Bundle, Chunk, Document, Query
from ctxasm.store.database import MemoryStore
from ctxasm.text.chunk_facts import chunk_facts
from ctxasm.text.tokens import open_counter

COUNTER = open_counter()
CARDIOLOGY = (
    "Cardiologie\n\nDe dienst Cardiologie van het ziekenhuis onderzoekt en behandelt patiënten met hartklachten op campus Sint-Jan. "
    "Een team van twaalf cardiologen staat voor u klaar.\n\nUw raadpleging\n\n",
    "De raadpleging duurt gemiddeld 30 minuten. U brengt best uw identiteitskaart en verwijsbrief mee.\n\nWaar moet ik zijn?\n\n",
    "Cardiologie bevindt zich op campus Sint-Jan, gebouw B, verdieping 2. De wachtzaal ligt rechts van de lift.",
)
PARKING = ("Parking is paid for at the machines of the main entrance. A day ticket for the hospital car park costs eight euros.",)
PROGRAM = (
    "/// Runs a target and keeps what it observed for the next input of the fuzzer.\n"
    "pub struct DiffExecutor {\n    primary: Primary,\n}\n\n"
    "impl DiffExecutor {\n",
    "    pub fn run_target(&mut self) -> ExitKind {\n        self.primary.run();\n        return ExitKind::Ok;\n    }\n}\n",
)
SUMMARY = "How to pay for parking."
DOCUMENTS = (
    Document("cardio", "Cardiologie", "https://zol.example/cardiologie"),
    Document("parking", "Parking", summary=SUMMARY),
    Document("diff", source="src/executors/diff.rs"),
)
TEXTS: dict[str, Sequence[str]] = {"cardio": CARDIOLOGY, "parking": PARKING, "diff": PROGRAM}


def chunks_of(document_id: str, texts: Sequence[str] | None = None) -> tuple[Chunk, ...]:
    return tuple(Chunk(document_id, index, text) for index, text in enumerate(TEXTS[document_id] if texts is None else texts))


def small_bundle(name: str = "klein", queries: tuple[Query, ...] = ()) -> Bundle:
    return Bundle(name, DOCUMENTS, tuple(chunk for document in DOCUMENTS for chunk in chunks_of(document.document_id)), queries)


def long_bundle(documents: int, chunks: int, name: str = "lang") -> Bundle:
    """Documents of equal length, every chunk with words of its own."""
    made = [Document(f"d{d:03}", f"Brochure {d}") for d in range(documents)]
    texts = [Chunk(one.document_id, index, sentence_about(d * 1000 + index)) for d, one in enumerate(made) for index in range(chunks)]
    return Bundle(name, tuple(made), tuple(texts))


def sentence_about(number: int) -> str:
    """A sentence with a name that no other number has."""
    name = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    return f"De afdeling Zaal{name} is op werkdagen open voor patiënten met hartklachten nummer {number}."


def workbench_with(*bundles: Bundle, config: Config | None = None) -> Workbench:
    workbench = Workbench(config or Config("sqlite://"), MemoryStore(COUNTER))
    for bundle in bundles:
        workbench.store.add(bundle)
    return workbench


def whole_of(document: Document, texts: Sequence[str]) -> Whole:
    return whole_document(document, chunk_facts(chunks_of(document.document_id, texts), None))


def told(body: dict[str, Any]) -> str:
    """The material of a request, also where its first reply did not fit."""
    return str(body["messages"][1]["content"])


def numbers_in(body: dict[str, Any]) -> list[int]:
    """The numbers of the chunks that a request asks about; none where it asks for a summary."""
    return [int(number) for number in re.findall(r"(?m)^CHUNK (\d+) OF \d+ \w{16}$", told(body))]


def well_behaved(body: dict[str, Any]) -> dict[str, Any]:
    """What a good model replies."""
    title = re.findall(r"(?m)^title: (.*)$", told(body))[0]
    numbers = numbers_in(body)
    if not numbers:
        return {"summary": f"{title} is een document van het ziekenhuis."}
    texts = re.split(r"(?m)^CHUNK \d+ OF \d+ \w{16}$(?:\nsection: .*$)?", told(body))[1:]
    first = [" ".join(text.split()[:6]) for text in texts]
    return {
        "chunks": [
            {"number": number, "context": f"Deel {number} van {title}: {words}.", "questions": [f"Wat zegt {title} in deel {number}?"]}
            for number, words in zip(numbers, first, strict=True)
        ]
    }
