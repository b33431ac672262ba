"""The whole loop with pages that nobody here wrote: every figure on the way is counted once more from the words themselves.

The pages are the descriptions that the installed packages carry, a hundred of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest

import ctxasm
from ctxasm import AssemblySettings, Query
from ctxasm.__main__ import main
from ctxasm.model.characters import normalised
from ctxasm.tuning.statistics import paired_difference

pytestmark = pytest.mark.system
PAGES, LABELS, LEAST_CHARS = 100, 10, 6_000
AXES = {"expand_window": (0, 1, 2), "max_tokens": (1000, 2000, 4000)}
GRID = [part for name, values in AXES.items() for part in ("--grid", f"{name}={','.join(map(str, values))}")]


def descriptions() -> dict[str, str]:
    """The longest descriptions by the names of their packages, at most `PAGES`."""
    found: dict[str, str] = {}
    for each in distributions():
        text = each.metadata.get_payload() or each.metadata.get("Description") or ""
        if isinstance(text, str) and len(text) > 500:
            found.setdefault(each.metadata["Name"].lower().replace(".", "-"), text)
    return dict(sorted(found.items(), key=lambda each: -len(each[1]))[:PAGES])


def sentence_in(text: str, everything: str) -> str | None:
    """A sentence of one line from the second half of a text that stands once in all pages, without marks of Markdown."""
    for found in re.finditer(r"(?<=\n)[A-Z][A-Za-z ,']{50,110}\.(?=\n| )", text):
        if found.start() > len(text) // 2 and everything.count(normalised(found.group())) == 1:
            return found.group()
    return None


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("loop")


@pytest.fixture
def database(loop: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{loop / 'loop.db'}"
    monkeypatch.setenv("CTXASM_DATABASE_URL", url)
    return url


class Ran:
    """Runs a command, and gives what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        self._capsys.readouterr()
        assert main(list(arguments)) == code, self._capsys.readouterr().err
        captured = self._capsys.readouterr()
        return captured.out, captured.err


def held(phrases: Mapping[str, str], contexts: Mapping[str, str]) -> dict[str, bool]:
    """Of each question whether its words stand in its context."""
    return {query_id: normalised(phrase) in normalised(contexts[query_id]) for query_id, phrase in phrases.items()}


def contexts_of(ran: Ran, *settings: str) -> dict[str, str]:
    lines = ran("assemble", "--all", "--format", "jsonl", *settings)[0].splitlines()
    return {each["query_id"]: each["text"] for each in map(json.loads, lines)}


def test_no_step_of_the_loop_says_what_is_not_so(loop: Path, database: str, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys)
    pages = descriptions()
    folder = loop / "pages"
    folder.mkdir()
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    ran("ingest", str(folder), "--data", "pages", "--chunk-tokens", "200")
    assert ctxasm.open_store(database).dataset("pages").info.documents == len(pages)

    # Ten questions, each with the words that answer it.
    phrases, everything = {}, normalised("\n".join(pages.values()))
    for name, text in pages.items():
        if len(text) > LEAST_CHARS and (sentence := sentence_in(text, everything)) and len(phrases) < LABELS:
            phrases[name] = sentence
    assert len(phrases) == LABELS
    asked = loop / "questions.jsonl"
    asked.write_text("".join(json.dumps({"query_id": name, "query": f"{name}: {words[:45]}"}) + "\n" for name, words in phrases.items()))
    ran("search", "--file", str(asked), "--method", "bm25", "--limit", "10", "--save")
    for name, words in phrases.items():
        ran("label", name, "--phrase", words)
    assert f"{LABELS} questions, {LABELS} labelled" in ran("questions")[1]
    check_evidence(ran, phrases)

    # One page grows before its words, another one loses them, and both are read again.
    moved, gone = list(phrases)[:2]
    (folder / f"{moved}.md").write_text("What is new. " * 300 + "\n\n" + pages[moved], encoding="utf-8")
    (folder / f"{gone}.md").write_text(pages[gone].replace(phrases[gone], "It was taken out."), encoding="utf-8")
    _, err = ran("ingest", str(folder), "--data", "pages", "--chunk-tokens", "200")
    assert "1 label is lost" in err
    assert gone in err
    assert [json.loads(ran("questions", "--lost", "--format", "json")[0])[0]["query_id"]] == [gone]
    dataset = ctxasm.open_store(database).dataset("pages")
    (gold,) = dataset.query(moved).gold
    assert normalised(phrases[moved]) in normalised(
        next(c.text for c in dataset.document_chunks(gold.document_id) if c.chunk_index == gold.chunk_index)
    )
    whole = check_evidence(ran, phrases)
    assert not whole[gone]

    # What the tables say is what stands in the contexts, and nothing that is proposed is beaten by its own table.
    swept = json.loads(ran("sweep", *GRID, "--format", "json")[0])
    for row in swept["rows"]:
        settings = AssemblySettings.from_dict(row["settings"])
        assert row["whole"] == sum(held_under(dataset, settings, phrases).values()), row["axes"]
    for made, start in ((swept["decision"], {}), (json.loads(ran("recommend", "--format", "json")[0]), {})):
        check_decision(ran, made, swept if made is swept["decision"] else None)
        before, after = (held_under(dataset, AssemblySettings.from_dict(each), phrases) for each in (start, made["settings"]))
        assert (sum(before.values()), sum(after.values())) == (made["whole"]["start"], made["whole"]["recommended"])

    # What is shipped gives, inside the frameworks, the context that was tuned, with neighbours.
    settings = AssemblySettings.from_dict(json.loads(ran("recommend", "--format", "json")[0])["settings"])
    for name in (moved, next(reversed(phrases))):
        query = dataset.query(name)
        expected = ctxasm.assemble(query, dataset, settings)
        assert any(not fate.retrieved and fate.fate in ("kept", "merged") for fate in expected.trace.fates)
        check_langchain(ran("recommend", "--format", "langchain")[0], query, dataset, expected.text)
        check_llamaindex(ran("recommend", "--format", "llamaindex")[0], query, dataset, expected.text)


def held_under(dataset: Any, settings: AssemblySettings, phrases: Mapping[str, str]) -> dict[str, bool]:
    return held(phrases, {name: ctxasm.assemble(dataset.query(name), dataset, settings).text for name in phrases})


def check_evidence(ran: Ran, phrases: Mapping[str, str]) -> dict[str, bool]:
    """What `assemble --all` says of the evidence is so."""
    whole = held(phrases, contexts_of(ran))
    assert f"whole for {sum(whole.values())} of {len(whole)} questions" in ran("assemble", "--all")[1]
    return whole


def check_decision(ran: Ran, made: Mapping[str, Any], swept: Mapping[str, Any] | None) -> None:
    """It says of its pair what `compare` says, and its headline is not beaten by its table."""
    if made["verdict"] == "gain":
        compared = json.loads(ran("compare", "--b", *assignments(made["settings"]), "--format", "json")[0])
        assert compared["shown"]
        assert compared["sentence"].split(": ", 1)[1].split(";")[0] in " ".join(made["sentences"])
    result = made["result"]
    if result is not None:
        again = paired_difference(
            [1.0] * result["better"] + [-1.0] * result["worse"] + [0.0] * (result["n"] - result["better"] - result["worse"])
        )
        assert again.to_dict() == result
    if swept is not None:
        proposed = made["same"]["settings"] if made["same"] else made["settings"]
        (row,) = (row for row in swept["rows"] if row["settings"] == proposed)
        for other in swept["rows"]:
            assert not (
                other["whole"] >= row["whole"]
                and other["tokens"] <= row["tokens"]
                and (other["whole"], other["tokens"]) != (row["whole"], row["tokens"])
            )


def assignments(settings: Mapping[str, Any]) -> list[str]:
    """Changed settings as `--b` takes them."""
    return [part for name, value in settings.items() for part in (["--b"] if name != next(iter(settings)) else []) + [f"{name}={value}"]]


def check_langchain(snippet: str, query: Query, dataset: Any, expected: str) -> None:
    """The snippet as it is printed, over a retriever that returns the texts alone, as a vector store does."""
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Found(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return documents

    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in dataset.iter_chunks()}
    documents = [Document(texts[hit.document_id, hit.chunk_index], metadata={"score": hit.score}) for hit in query.retrieved]
    names: dict[str, Any] = {"my_retriever": Found()}
    exec(compile(snippet, "snippet", "exec"), names)
    blocks = names["retriever"].invoke(query.query)
    assert "\n\n".join(block.page_content for block in blocks).split() == expected.split()


def check_llamaindex(snippet: str, query: Query, dataset: Any, expected: str) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    class Index:
        def as_query_engine(self, **_: Any) -> None:
            return None

    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in dataset.iter_chunks()}
    nodes = [NodeWithScore(node=TextNode(text=texts[hit.document_id, hit.chunk_index]), score=hit.score) for hit in query.retrieved]
    names: dict[str, Any] = {"my_index": Index()}
    exec(compile(snippet, "snippet", "exec"), names)
    blocks = names["postprocessor"].postprocess_nodes(nodes, query_bundle=QueryBundle(query.query))
    assert "\n\n".join(block.node.get_content() for block in blocks).split() == expected.split()
