"""On real corpora: where only the characters are known, neighbours are found to be neighbours, and nothing else is."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ctxasm.data.files.recognised.draft import Draft, Place
from ctxasm.data.files.recognised.passages import passage
from ctxasm.data.files.rows import Rows
from tests.real_data import REAL, load_real, real_folder

pytestmark = pytest.mark.skipif(real_folder() is None, reason="the real bundles are not beside the project")
HERE = Place(0, 1)


@pytest.mark.parametrize("is_corpus", [True, False])
@pytest.mark.parametrize("name", REAL)
def test_chunks_touch_where_they_do_in_the_corpus(name: str, is_corpus: bool) -> None:
    """As a corpus, or only what was retrieved: the chunk numbers are hidden, where the chunks start is not."""
    bundle = load_real(name)
    draft = Draft((Rows("export", (), ()),))
    chunks = {(chunk.document_id, chunk.chunk_index): chunk for chunk in bundle.chunks if chunk.start is not None}
    hits = {(hit.document_id, hit.chunk_index) for query in bundle.queries for hit in query.retrieved}
    kept = {
        key: draft.keep(HERE, passage(chunk.text, {"source": key[0], "start_index": chunk.start}), is_listed=is_corpus)
        for key, chunk in chunks.items()
        if is_corpus or key in hits
    }
    draft.lines()
    placed = {key: draft.index_of(number) for key, number in kept.items()}
    assert len(placed) > 400
    for (document, index), (next_document, following) in pairwise(sorted(placed)):
        if document == next_document:
            step = placed[next_document, following] - placed[document, index]
            assert step > 0
            assert (step == 1) == (following == index + 1)
