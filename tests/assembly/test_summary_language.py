"""The line of a page summary is in the language of the data, unless the setting says how it is written."""

from __future__ import annotations

import pytest

from ctxasm import assemble as assemble_plainly
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.presets import preset
from ctxasm.model.records import Bundle, Chunk, CorpusLanguage, Document, Hit, Query
from ctxasm.model.settings import DUTCH_TEMPLATE, ENGLISH_TEMPLATE, GERMAN_TEMPLATE, AssemblySettings
from ctxasm.model.settings_text import from_environment, from_toml, from_url, to_environment, to_toml, to_url
from ctxasm.store.database import MemoryStore, Store
from ctxasm.store.memory import MemorySource
from ctxasm.text.language import SAMPLE, language_of_texts, sample_of
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

SAID: dict[CorpusLanguage, tuple[str, str]] = {
    "nl": ("Deze pagina gaat over het bezoek aan de dienst.", "Het bezoek is welkom van de middag tot de avond, maar niet op zondag."),
    "en": ("This page is about visiting the department.", "Visitors are welcome from noon until the evening, but not on Sunday."),
    "de": (
        "Diese Seite handelt von dem Besuch auf der Station.",
        "Der Besuch ist von dem Mittag bis zum Abend möglich, aber nicht am Sonntag.",
    ),
}
LEADS = {"nl": "[Pagina context: ", "en": "[Page context: ", "de": "[Seitenkontext: "}
LANGUAGES: tuple[CorpusLanguage, ...] = ("nl", "en", "de")
QUERY = Query("Wanneer?", (Hit("d1", 0, 0.9),), "q")


def bundle(language: CorpusLanguage, documents: int = 3, first: int = 0) -> Bundle:
    summary, text = SAID[language]
    chunks = [Chunk(f"d{number}", first + index, f"{text} ({number}.{index})") for number in range(documents) for index in range(3)]
    return Bundle("b", tuple(Document(f"d{number}", summary=summary) for number in range(documents)), tuple(chunks))


def text_of(source: object, query: Query = QUERY, **chosen: object) -> str:
    return assemble(query, source, AssemblySettings(**chosen), COUNTER, FakeClock()).text  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_source_says_it_in_the_language_of_the_data(language: CorpusLanguage) -> None:
    data = bundle(language)
    lead, (summary, text) = LEADS[language], SAID[language]
    memory = MemoryStore(COUNTER)
    with Store("sqlite://", COUNTER) as stored:
        for store in (memory, stored):
            store.add(data)
        sources = [
            *(memory, memory.dataset(), stored, stored.dataset()),
            *(MemorySource(data.documents, data.chunks), FakeSource(data.documents, data.chunks, COUNTER)),
        ]
        for source in sources:
            assert f"{lead}{summary}]\n{text}" in text_of(source)
    plain = [{"document_id": "d", "chunk_index": 0, "text": text, "score": 1.0, "summary": summary}]
    assert assemble_plainly("Wanneer?", hits=plain).text == f"[1] Source: d\n{lead}{summary}]\n{text}"


def test_what_is_set_holds_whatever_the_language() -> None:
    english, dutch = (MemorySource(data.documents, data.chunks) for data in (bundle("en"), bundle("nl")))
    assert LEADS["nl"] in text_of(english, summary_template=DUTCH_TEMPLATE)
    assert LEADS["en"] in text_of(dutch, **preset("english").changed())
    assert LEADS["de"] in text_of(dutch, summary_template=GERMAN_TEMPLATE)


def test_a_stored_dataset_is_judged_as_a_whole_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One English page among Dutch ones is introduced in Dutch, whatever the question hits; a new load is judged anew."""
    dutch = bundle("nl", 4)
    summary, text = SAID["en"]
    mixed = Bundle("b", (*dutch.documents, Document("e", summary=summary)), (*dutch.chunks, Chunk("e", 0, text)))
    query = Query("When?", (Hit("e", 0, 0.9),), "q")
    with Store("sqlite://", COUNTER) as stored:
        stored.add(mixed)
        dataset = stored.dataset()
        assert f"{LEADS['nl']}{summary}]" in text_of(dataset, query)
        assert f"{LEADS['nl']}{summary}]" in text_of(MemorySource(mixed.documents, mixed.chunks), query)
        with monkeypatch.context() as deaf:
            deaf.setattr(dataset, "_consistent", lambda ask: pytest.fail("asked again"))
            assert dataset.corpus_language() == "nl"
        stored.add(bundle("en"))
        assert LEADS["en"] in text_of(dataset)
        assert dataset.corpus_language() == "en"


@pytest.mark.parametrize("first", [0, 2, 100_000])
@pytest.mark.parametrize("language", LANGUAGES)
def test_chunks_are_found_wherever_their_indexes_begin(language: CorpusLanguage, first: int) -> None:
    data = bundle(language, 120, first)
    bare = Bundle("b", tuple(Document(document.document_id) for document in data.documents), data.chunks)
    with Store("sqlite://", COUNTER) as stored:
        stored.add(bare)
        assert stored.dataset().corpus_language() == MemorySource(bare.documents, bare.chunks).corpus_language() == language


@pytest.mark.parametrize("documents", [0, 1, 2, 49, 50, 51, 149, 100_000])
def test_a_sample_is_small_and_from_all_over(documents: int) -> None:
    sample = sample_of(documents)
    assert len(sample.documents) <= 50
    assert len(sample.documents) * (1 + sample.chunks) <= SAMPLE
    assert not documents or sample.chunks >= 3
    assert not documents or sample.documents[-1] >= documents * 0.9 - 1


def test_where_no_summary_is_shown_nobody_looks_for_a_language() -> None:
    class Deaf(MemorySource):
        def corpus_language(self) -> CorpusLanguage:
            raise AssertionError("asked")

    data = bundle("en")
    bare = [Document(document.document_id) for document in data.documents]
    assert text_of(Deaf(bare, data.chunks))
    assert text_of(Deaf(data.documents, data.chunks), summary_prefix=False)
    assert text_of(Deaf(data.documents, data.chunks), summary_template=DUTCH_TEMPLATE)
    assert text_of(Deaf(data.documents, data.chunks), enabled=False)


def test_unset_is_the_default_wherever_settings_are_written_and_old_writings_hold() -> None:
    default, chosen = AssemblySettings(), AssemblySettings(summary_template=DUTCH_TEMPLATE)
    assert default.summary_template is None
    assert default.to_dict()["summary_template"] is None
    assert (to_url(default), to_environment(default), to_toml(default)) == ({}, {}, "[context_assembly]\n")
    # A link or a file that names the Dutch line, as one that was made while it was the default may, still means that line.
    assert from_url({"pt": "[Pagina context: {summary}]"}) == (chosen, ())
    assert from_url(to_url(chosen)) == (chosen, ())
    assert from_toml(to_toml(chosen)) == chosen
    assert from_environment({"CONTEXT_ASSEMBLY_SUMMARY_TEMPLATE": ENGLISH_TEMPLATE}).summary_template == ENGLISH_TEMPLATE
    assert from_url({"pt": "language"}) == from_url({"pt": ""}) == (default, ())


def test_the_settings_of_an_assembly_stay_those_that_were_given() -> None:
    data = bundle("en")
    done = assemble(QUERY, MemorySource(data.documents, data.chunks), AssemblySettings(), COUNTER, FakeClock())
    assert done.settings == AssemblySettings()
    assert language_of_texts([done.text]) == "en"
