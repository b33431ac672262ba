"""A bundle in a user's own table, linked, assembles byte for byte like the same bundle loaded into our store."""

from __future__ import annotations

from functools import cache

import pytest
from user_tables import Place, keyed, one_table

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config, shipped
from ctxasm.data.files import load_bundle
from ctxasm.data.tables.connecting import link, table_mapping
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from tests.examples import in_turn

SETTINGS = (
    AssemblySettings(),
    AssemblySettings(expand_window=2, max_tokens=900, citation_unit="passage", format="xml"),
    AssemblySettings(expand_window=3, budget_policy="pack", max_tokens=1500, ordering="bookend"),
    AssemblySettings(enabled=False, encoding="o200k_base"),
)


@cache
def sample() -> Bundle:
    return load_bundle(shipped("sample_data/hospital-nl"))


KEYS = ["uuid", "bigint", "text"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("indexed", [True, False])
def test_linked_is_as_loaded(place: Place, key: str, indexed: bool) -> None:
    bundle = keyed(sample(), key)
    fields = one_table(place, bundle, key, indexed=indexed)
    workbench = Workbench(Config("sqlite://", connections={"own": place.table(None)}), MemoryStore(open_counter()))
    workbench.store.add(bundle, "loaded")
    link(workbench, "own", table_mapping("Chunks; DROP TABLE x--", fields), "mine")
    loaded, mine = workbench.dataset("loaded"), workbench.dataset("mine")
    assert bundle.queries
    for number, query in enumerate(in_turn(bundle.queries, 2 * KEYS.index(key) + indexed, 16)):
        for settings in (SETTINGS[0], SETTINGS[1 + number % 3]):
            first, second = (workbench.assemble(query, settings, name).to_dict() for name in ("loaded", "mine"))
            for each in (first, second):
                each.pop("fetch")
                for stage in each["stages"]:
                    stage.pop("elapsed_ms")
            assert second == first
    ids = {document.document_id for document in bundle.documents}
    assert {document.document_id: document.title for document in mine.documents()} == {d.document_id: d.title for d in loaded.documents()}
    for document_id in ids:
        assert [c[:8] for c in mine.document_chunks(document_id)] == [c[:8] for c in loaded.document_chunks(document_id)]
    workbench.close()


def test_what_neighbours_share_as_a_rule_is_found_in_own_tables_too(place: Place) -> None:
    """Sliding windows in long documents and in documents of two chunks; the mirror of a load, at one statement more for each long one."""
    told = [f"Point {at} of the rules of this library is told in a sentence of its own. " for at in range(200)]
    chunks = [Chunk("long", at, "".join(told[at : at + 5])) for at in range(12)]
    chunks += [Chunk(f"short{n}", at, "".join(told[20 * n + at : 20 * n + at + 5])) for n in range(1, 8) for at in (0, 1)]
    bundle = Bundle("sliding", tuple(Document(name) for name in dict.fromkeys(c.document_id for c in chunks)), tuple(chunks))
    fields = one_table(place, bundle, "text", indexed=True)
    workbench = Workbench(Config("sqlite://", connections={"own": place.table(None)}), MemoryStore(open_counter()))
    workbench.store.add(bundle, "loaded")
    link(workbench, "own", table_mapping("Chunks; DROP TABLE x--", fields), "mine")
    query = Query("?", (Hit("long", 5, 0.9), Hit("short3", 0, 0.8)))
    first, again, loaded = (workbench.assemble(query, SETTINGS[0], name) for name in ("mine", "mine", "loaded"))
    assert first.text == again.text == loaded.text
    assert [first.text.count(f"Point {at} ") for at in (4, 10, 60, 65)] == [1, 1, 1, 1]
    assert (first.to_dict()["fetch"]["statements"], again.to_dict()["fetch"]["statements"]) == (5, 1)
    workbench.close()
