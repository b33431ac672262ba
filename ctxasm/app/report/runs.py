"""The report of runs: the verdict first, then the question, the answer with its claims and their sources, and what made it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ctxasm.app.fates import SENT, fate_sentence
from ctxasm.app.funnel import Step
from ctxasm.app.report.page import LIMIT, STYLE, Writer, fitting, table, whole_page
from ctxasm.citations.checked import FINE, WORST, Part, sign, words
from ctxasm.citations.report import conflict_sentence
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly
from ctxasm.model.runs import ANSWER_ITEM, Judgement, Run, RunSource, item_of
from ctxasm.review.judging import ClaimRecord, claims_of
from ctxasm.review.reviewers import WORDS
from ctxasm.review.runs import difference_of

AROUND = 160
"""Characters of a source on either side of what carries a claim."""
LONGEST_MARK = 500
MOST_LEFT_OUT = 30
"""Chunks without a place in the context that are listed."""
METHOD = (
    "The answer is as it arrived, and was not made again. Each of its claims was compared with the sources of its context; marked is the "
    "passage that carries the claim. Reviewers judge each citation without seeing this verdict or each other's first."
)


class Funnel(NamedTuple):
    """The assembly of a run, made again from the data, with its steps; `why` says why it cannot be."""

    assembly: Assembly | None
    steps: tuple[Step, ...] = ()
    why: str = ""


def runs_html(
    runs: Sequence[Run],
    judgements: Sequence[Judgement],
    funnels: Mapping[str, Funnel],
    write: Writer,
    version: str,
    summary: Sequence[str] = (),
) -> str:
    """The report of one run or several. `summary`: how reviewers agree, and how right the checker is."""
    said = {run.run_id: [each for each in judgements if each.run_id == run.run_id] for run in runs}
    made = [_run(run, said[run.run_id], funnels[run.run_id], write, alone=len(runs) == 1) for run in runs]
    made = [part + _difference(before, run, write) for part, run, before in zip(made, runs, (None, *runs[:-1]), strict=True)]
    head = ""
    if len(runs) > 1:
        head = f'<p class="eyebrow">Report</p><h1>{counted(len(runs), "answer")}, {_judged(judgements)}</h1>'
        rows = [(str(at), write.text(run.question, 200), write.text(_checked(run), 300)) for at, run in enumerate(runs[:100], 1)]
        head += table(("", "Question", "Verdict of the checker"), rows)
    if any(each.is_given for each in judgements):
        head += "".join(f"<p>{write.text(sentence)}</p>" for sentence in summary) if len(runs) > 1 else ""
    title = write.line(f"Report: {runs[0].question}" if len(runs) == 1 else f"Report: {len(runs)} answers")
    room = LIMIT - len((STYLE + head).encode()) - 3_000
    return whole_page(title, head + fitting(made, room, "answer"), version)


def _judged(judgements: Sequence[Judgement]) -> str:
    names = {each.reviewer for each in judgements if each.is_given}
    return f"judged by {counted(len(names), 'reviewer')}" if names else "not judged by a person yet"


def _checked(run: Run) -> str:
    summary = run.check.get("summary")
    return str(summary.get("sentence", "")) if isinstance(summary, Mapping) else ""


def _run(run: Run, judgements: Sequence[Judgement], funnel: Funnel, write: Writer, alone: bool) -> str:
    claims = claims_of(run)
    verdict = write.text(_checked(run) or "The answer makes no claim that can be checked.", 600)
    whole = [each for each in judgements if each.item == ANSWER_ITEM and (each.is_given or each.note)]
    head = (
        f'<p class="eyebrow">Report of an answer: what the checker says of it; {_judged(judgements)}</p><h1>{verdict}</h1>'
        if alone
        else f'<section><h2>{write.text(run.question, 300)}</h2><p class="lead">{verdict}</p>'
    )
    reviewed = "".join(_about_answer(each, write) for each in whole)
    broken = f'<p class="warn">{write.text(run.note or "The answer is not complete.")}</p>' if run.note or not run.complete else ""
    items = [_claim(at, claim, run.sources, judgements, write) for at, claim in claims.items()]
    reference = f"<h3>Reference answer</h3>{write.block(run.reference, 3_000)}" if run.reference else ""
    title = "h2" if alone else "h3"
    question = f"<{title}>Question</{title}>{write.block(run.question, 3_000)}"
    return (
        f"{head}{reviewed}{question}<{title}>Answer</{title}>{broken}"
        f'<div class="box answer"><p class="text" dir="auto">{_answer(run, claims, write)}</p></div>{reference}'
        f"<{title}>Claims and their sources</{title}>{fitting(items, 55_000, 'claim')}"
        f"<{title}>What was found, kept and left out</{title}>{_funnel(funnel, write)}"
        f"<{title}>Settings</{title}>{write.settings(run.settings)}"
        f"<{title}>Method and versions</{title}>{_method(run, write)}{'' if alone else '</section>'}"
    )


def _about_answer(each: Judgement, write: Writer) -> str:
    told = {"yes": "answers the question", "partly": "answers the question in part", "no": "does not answer the question"}
    parts = [told[each.answers]] if each.answers else []
    parts += ["complete" if each.complete else "not complete"] if each.complete is not None else []
    cites = "".join(
        f"<li>{write.text(f'{one.document_id} #{one.chunk_index}', 200)} {write.text(one.text, 600)}</li>" for one in each.should_cite[:20]
    )
    missing = f"<p>Should have been cited:</p><ul>{cites}</ul>" if cites else ""
    note = write.block(each.note, 2_000) if each.note else ""
    return f'<div class="box"><p><b>{write.text(each.reviewer, 200)}</b>: {", ".join(parts) or "a note"}</p>{note}{missing}</div>'


def _worst(claim: ClaimRecord) -> Part | None:
    """The worst that a claim is counted under; None where it declines."""
    parts: tuple[Part | None, ...] = (claim.axes.support, claim.axes.citation, "disputed" if claim.disputed else None)
    return min((part for part in parts if part), key=WORST.index, default=None)


def _look(part: Part | None) -> str:
    return "" if part is None else "good" if part in FINE else "bad" if part in ("contradicted", "unknown", "not_found") else "warn"


def _answer(run: Run, claims: Mapping[int, ClaimRecord], write: Writer, most: int = 16_000) -> str:
    """The answer, each claim underlined with its number."""
    spans, last = [], 0
    for at, claim in sorted(claims.items(), key=lambda each: (each[1].start, each[1].end)):
        if last <= claim.start < claim.end <= min(len(run.answer), most // 2):
            spans.append((claim.start, claim.end, at, claim))
            last = claim.end
    parts, last = [], 0
    for start, end, at, claim in spans:
        parts.append(write.text(run.answer[last:start], most))
        parts.append(f'<span class="claim {_look(_worst(claim))}">{write.text(run.answer[start:end], most)}<sup>{at + 1}</sup></span>')
        last = end
    shown = "".join(parts)
    return shown + write.text(run.answer[last:], max(500, most - len(shown.encode())))


def _claim(at: int, claim: ClaimRecord, sources: Sequence[RunSource], judgements: Sequence[Judgement], write: Writer) -> str:
    worst = _worst(claim)
    said = [words(part) for part in (claim.axes.support, claim.axes.citation if claim.axes.citation != "right" else None) if part]
    said += ["disputed"] if claim.disputed else []
    why = [write.text(conflict_sentence(claim.conflict), 400)] if claim.conflict else []
    why += [write.text(_disputed(claim.disputed), 400)] if claim.disputed else []
    label = f'<span class="sign {_look(worst)}">{sign(worst or "declined")} {", ".join(said) or "declined"}</span>'
    held = {source.number: source for source in sources}
    carrying = [found.number for found in claim.support]
    numbers = list(dict.fromkeys((*(n for n in claim.numbers if n), *carrying)))
    quotes = "".join(_source(n, claim, held.get(n), write) for n in numbers[:6])
    people = "".join(_verdict(each, n, write) for n in claim.numbers for each in judgements if each.item == item_of(at, n))
    return (
        f'<div class="item"><p>{at + 1} {label}</p>{write.block(claim.text, 2_000)}'
        f"{''.join(f'<p>{each}</p>' for each in why)}{people}{quotes}</div>"
    )


def _verdict(each: Judgement, number: int, write: Writer) -> str:
    """What a reviewer says of a citation; nothing where it was taken back."""
    if each.verdict is None and not each.note:
        return ""
    note = f' – <span dir="auto">{write.text(each.note, 1_000)}</span>' if each.note else ""
    cited = f" on [{number}]" if number else ""
    return f"<p><b>{write.text(each.reviewer, 200)}</b>{cited}: {WORDS.get(each.verdict or '', 'no verdict')}{note}</p>"


def _disputed(disputed: Mapping[str, Any]) -> str:
    """Such as `Disputed by [2], newer (2026-01-05): “15” here, “14” there.`; of a file, so nothing of it is taken for granted."""
    conflict = disputed.get("conflict")
    pair = f": “{conflict.get('claim')}” here, “{conflict.get('source')}” there" if isinstance(conflict, Mapping) else ""
    age = f", {disputed['age']}" if disputed.get("age") else ""
    date = f" ({disputed['date']})" if disputed.get("date") else ""
    return f"Disputed by [{disputed.get('number')}]{age}{date}{pair}."


def _source(number: int, claim: ClaimRecord, source: RunSource | None, write: Writer) -> str:
    if source is None:
        return f'<p class="quote">[{number}] is no source of this context.</p>'
    about = [source.title or source.document_id or "", source.ref or "", f"page {source.page_number}" if source.page_number else ""]
    name = " · ".join(dict.fromkeys(write.text(part, 200) for part in (*about, source.date or "") if part))
    ranges = [(s.start, s.end) for s in claim.support if s.number == number and 0 <= s.start < s.end <= len(source.text)]
    return f'<div class="quote"><small>[{number}] {name}</small><p class="text" dir="auto">{_excerpt(source.text, ranges, write)}</p></div>'


def _excerpt(text: str, ranges: Sequence[tuple[int, int]], write: Writer) -> str:
    """The passage around what carries the claim, that marked; without any the beginning of the source."""
    if not ranges:
        return write.text(text, 300)
    start, end = ranges[0]
    low, high = max(0, start - AROUND), min(len(text), end + AROUND)
    low = text.find(" ", low, start) + 1 or low if low else 0
    high = text.rfind(" ", end, high) if high < len(text) and " " in text[end:high] else high
    before, after = ("…" if low else ""), ("…" if high < len(text) else "")
    parts = (text[low:start], text[start:end], text[end:high])
    left, marked, right = (re.sub(r"\n\s*\n", "\n", part) for part in parts)
    return f"{before}{write.text(left)}<mark>{write.text(marked, 2 * LONGEST_MARK)}</mark>{write.text(right)}{after}"


def _funnel(funnel: Funnel, write: Writer) -> str:
    assembly = funnel.assembly
    if assembly is None:
        return f'<p class="note">{write.text(funnel.why)}</p>'
    labelled = any(step.labelled for step in funnel.steps)
    heads = ("Step", "Chunks", "Tokens", *(("Evidence",) if labelled else ()), "What it did")
    rows = [
        (
            step.label,
            step.value,
            f"{step.chunks:,}",
            f"{step.tokens:,}",
            *((step.evidence,) if labelled else ()),
            write.text(step.does, 300),
        )
        for step in funnel.steps
    ]
    documents = assembly.trace.documents
    gone = [fate for fate in assembly.trace.fates if fate.fate not in SENT]
    lines = []
    for fate in sorted(gone, key=lambda fate: (not fate.retrieved, fate.rank))[:MOST_LEFT_OUT]:
        document = documents.get(fate.document_id)
        name = f"{(document.title if document else None) or fate.document_id} #{fate.chunk_index}"
        lines.append((write.text(name, 200), str(fate.rank) if fate.retrieved else "neighbour", write.text(fate_sentence(fate), 300)))
    left = f"<h3>{counted(len(gone), 'chunk')} without text of their own in the context</h3>" if gone else ""
    left += table(("Chunk", "Rank", "Why"), lines, (1,)) if gone else ""
    more = f'<p class="note">and {len(gone) - MOST_LEFT_OUT:,} more</p>' if len(gone) > MOST_LEFT_OUT else ""
    return table(heads, rows, (1, 2)) + left + more


def _method(run: Run, write: Writer) -> str:
    check, tokens = run.check, (("context", run.context_tokens), ("sent", run.sent_tokens), ("written", run.written_tokens))
    evidence = f"{run.evidence[0]} of {run.evidence[1]} pieces in the context" if run.evidence else ""
    facts = {
        "Model": run.model,
        "Asked with": ", ".join(f"{name} {value}" for name, value in run.parameters.items() if value not in ("", None, False)),
        "Tokens": ", ".join(f"{value:,} {name}" for name, value in tokens if value is not None),
        "Cost": run.cost,
        "Labelled evidence": evidence,
        "Checked by": f"{check.get('scorer', '–')}, a match scores {check.get('threshold', '–')} or more",
        "Data": f"{run.dataset} {run.digest[:12]}".strip(),
        "Question": run.query_id,
        "Kept": f"{run.kept_at[:19].replace('T', ' ')} UTC{f' by {run.author}' if run.author else ''}",
        "Run": f"{run.run_id}, ctxasm {run.version}",
    }
    return f"<p>{METHOD}</p>{write.facts(facts)}"


def _difference(before: Run | None, run: Run, write: Writer) -> str:
    """What a change of settings did, where the run before is of the same question."""
    if before is None or (before.dataset, before.query_id, before.question) != (run.dataset, run.query_id, run.question):
        return ""
    said = "".join(f"<p>{write.text(sentence, 2_000)}</p>" for sentence in difference_of(before, run).sentences())
    return f"<h3>What differs from run {write.text(before.run_id)}</h3>{said}"
