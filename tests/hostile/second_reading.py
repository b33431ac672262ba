"""The five stages read from their description once more, slowly and plainly: what an assembly must equal.

Nothing here uses a stage of ctxasm. Collisions are left alone (`marker_collisions=off`), and a chunk that must be cut is
not predicted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import tiktoken

from ctxasm.model.records import Chunk, Document, Hit
from ctxasm.model.settings import AssemblySettings

ENCODING = tiktoken.get_encoding("cl100k_base")


def tokens(text: str) -> int:
    return len(ENCODING.encode_ordinary(text))


@dataclass
class Candidate:
    chunk: Chunk
    retrieved: bool
    score: float
    rank: int
    parents: list[int] = field(default_factory=list)


@dataclass
class Placed:
    chunk: Chunk
    start: int
    glued: bool

    @property
    def text(self) -> str:
        return self.chunk.text[self.start :]


def one_line(text: str) -> str:
    return " ".join(text.split())


def ranked(hits: tuple[Hit, ...], top_k: int | None) -> dict[tuple[str, int], tuple[float, int]]:
    best: dict[tuple[str, int], tuple[float, int | None]] = {}
    for hit in hits:
        key = (hit.document_id, hit.chunk_index)
        score, rank = best.get(key, (hit.score, hit.rank))
        ranks = [each for each in (rank, hit.rank) if each is not None]
        best[key] = (max(score, hit.score), min(ranks, default=None))
    order = sorted(best, key=lambda key: (-best[key][0], key))
    if all(best[key][1] is not None for key in order):
        order.sort(key=lambda key: best[key][1])
        return {key: best[key] for key in order[:top_k]}
    return {key: (best[key][0], place) for place, key in enumerate(order, 1) if top_k is None or place <= top_k}


def candidates(stored: dict[tuple[str, int], Chunk], hits: tuple[Hit, ...], chosen: AssemblySettings) -> dict[str, dict[int, Candidate]]:
    found = {key: value for key, value in ranked(hits, chosen.top_k).items() if key in stored and stored[key].text.strip()}
    all_of: dict[str, dict[int, Candidate]] = {}
    for (document_id, index), (score, rank) in found.items():
        all_of.setdefault(document_id, {})[index] = Candidate(stored[document_id, index], True, score, rank)
    for (document_id, index), (score, rank) in found.items():
        for other in range(index - chosen.expand_window, index + chosen.expand_window + 1):
            key = (document_id, other)
            if key in found or key not in stored or not stored[key].text.strip():
                continue
            factor = chosen.decay ** (abs(index - other) if chosen.decay_mode == "per_step" else 1)
            value = score * factor if score >= 0 else score / factor
            there = all_of[document_id].setdefault(other, Candidate(stored[key], False, value, rank))
            there.score, there.rank = max(there.score, value), min(there.rank, rank)
            there.parents.append(index)
    return all_of


def resolve(own: dict[str, dict[int, Candidate]], dedup: bool) -> list[tuple[str, list[Chunk]]]:
    """Documents in order, with the chunks that are shown."""
    left = {document_id: dict(chunks) for document_id, chunks in own.items()}
    gone: set[tuple[str, int]] = set()

    def place(document_id: str) -> tuple[bool, float, int, str]:
        chunks = left[document_id].values()
        return (
            not chunks,
            -max((c.score for c in chunks), default=0),
            min((c.rank for c in chunks), default=0),
            document_id,
        )

    waiting, order = set(left), []
    while waiting:
        document_id = min(waiting, key=place)
        waiting.discard(document_id)
        order.append(document_id)
        if not dedup:
            continue
        mine = left[document_id]
        for index in sorted(mine, key=lambda index: (-mine[index].score, index)):
            same = [other for other in mine if index in mine and other != index and _same(mine[other], mine[index])]
            for other in same:
                del mine[other]
                gone.add((document_id, other))
        for other in waiting:
            _remove_copies(other, left[other], mine, gone)
    return [(document_id, [left[document_id][index].chunk for index in sorted(left[document_id])]) for document_id in order]


def _same(one: Candidate, other: Candidate) -> bool:
    return one_line(one.chunk.text) == one_line(other.chunk.text)


def _remove_copies(document_id: str, theirs: dict[int, Candidate], mine: dict[int, Candidate], gone: set[tuple[str, int]]) -> None:
    copies = [index for index, candidate in theirs.items() if any(_same(candidate, kept) for kept in mine.values())]
    for index in copies:
        del theirs[index]
        gone.add((document_id, index))
    if copies:
        for index, candidate in list(theirs.items()):
            if not candidate.retrieved and all((document_id, parent) in gone for parent in candidate.parents):
                del theirs[index]


def _trusted(chunk: Chunk) -> bool:
    return chunk.start is not None and chunk.end is not None and chunk.end - chunk.start == len(chunk.text)


def shared(first: Chunk, second: Chunk, least: int) -> int:
    """How much of the second is not written again; `least` is for texts alone."""
    if _trusted(first) and _trusted(second):
        if not first.start <= second.start < first.end:
            return 0
        chars = min(first.end, second.end) - second.start
        at = second.start - first.start
        if first.text[at : at + chars] == second.text[:chars]:
            return chars
    for chars in range(min(len(first.text), len(second.text)), 0, -1):
        if first.text.endswith(second.text[:chars]):
            return chars if least < chars <= len(first.text) / 2 else 0
    return 0


def passages(chunks: list[Chunk], least: int) -> list[list[Placed]]:
    runs: list[list[Placed]] = []
    for chunk in chunks:
        before = runs[-1][-1].chunk if runs else None
        if before is None or chunk.chunk_index != before.chunk_index + 1:
            runs.append([Placed(chunk, 0, False)])
            continue
        start = shared(before, chunk, least)
        touching = _trusted(before) and _trusted(chunk) and before.end == chunk.start
        runs[-1].append(Placed(chunk, start, start > 0 or touching))
    return runs


def written(run: list[Placed]) -> str:
    text = ""
    for placed in run:
        if placed.text:
            seam = text and not placed.glued and not text[-1].isspace() and not placed.text[0].isspace()
            text += ("\n" if seam else "") + placed.text
    return text


def render(plans: list[tuple[Document, list[Chunk]]], chosen: AssemblySettings) -> str:
    blocks: list[str] = []
    for document, chunks in plans:
        has_summary = chosen.summary_prefix and document.summary
        prefix = chosen.summary_template.replace("{summary}", one_line(document.summary)) + "\n" if has_summary else ""
        for group in _groups(passages(chunks, chosen.min_overlap_chars), chosen.citation_unit):
            pages = sorted({p.chunk.page_number for run in group for p in run if p.chunk.page_number is not None})
            page = "" if not pages else f", page {pages[0]}" if len(pages) == 1 else f", pages {pages[0]}–{pages[-1]}"
            name = one_line(document.title or document.source or document.document_id)
            text = f"[{len(blocks) + 1}] Source: {name}{page}\n{prefix}"
            for number, run in enumerate(group):
                if number:
                    text += ("" if text.endswith("\n") else "\n") + (f"{chosen.gap_mark}\n" if chosen.gap_mark else "")
                text += written(run)
            blocks.append(text)
            prefix = ""
    return f"\n\n{chosen.block_separator}\n\n".join(blocks) if chosen.block_separator else "\n\n".join(blocks)


def _groups(runs: list[list[Placed]], unit: str) -> list[list[list[Placed]]]:
    if unit == "document":
        return [runs]
    if unit == "passage":
        return [[run] for run in runs]
    groups: list[list[list[Placed]]] = []
    for placed in (placed for run in runs for placed in run):
        if placed.text or not groups:
            groups.append([[placed]])
        else:
            groups[-1][0].append(placed)
    return groups


def size(plans: list[tuple[Document, list[Chunk]]], chosen: AssemblySettings) -> int:
    if chosen.budget_scope == "rendered":
        return tokens(render(plans, chosen))
    return sum(tokens(p.text) for _, chunks in plans for run in passages(chunks, chosen.min_overlap_chars) for p in run)


def expected(documents: list[Document], chunks: list[Chunk], hits: tuple[Hit, ...], chosen: AssemblySettings, limit: int) -> str | None:
    """The text that must come out; None where the best chunk has to be cut."""
    known = {document.document_id: document for document in documents}
    own = candidates({(c.document_id, c.chunk_index): c for c in chunks}, hits, chosen)
    while own:
        plans = [(known[document_id], shown) for document_id, shown in resolve(own, chosen.dedup_exact) if shown]
        for count in range(len(plans), 0, -1):
            if size(plans[:count], chosen) <= limit:
                return render(plans[:count], chosen)
        best = plans[0][0].document_id
        if chosen.oversized == "trim":
            return _trimmed(known[best], own[best], chosen, limit)
        del own[best]
    return ""


def _trimmed(document: Document, own: dict[int, Candidate], chosen: AssemblySettings, limit: int) -> str | None:
    hits = [index for index, candidate in own.items() if candidate.retrieved]
    order = sorted(own, key=lambda i: (not own[i].retrieved, -own[i].score, min(abs(i - hit) for hit in hits), i))
    for count in range(len(order), 0, -1):
        kept = {document.document_id: {index: own[index] for index in order[:count]}}
        plans = [(document, shown) for _, shown in resolve(kept, chosen.dedup_exact)]
        if size(plans, chosen) <= limit:
            return render(plans, chosen)
    return None
