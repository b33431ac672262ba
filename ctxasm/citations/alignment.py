"""Checking a whole answer: its markers, its claims, and a verdict on each against every source that the model could read."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import cast

from ctxasm.citations.answer_markers import AnswerMarkers, read_answer
from ctxasm.citations.answer_text import without_markers
from ctxasm.citations.checked import CheckedClaim, Claim, DroppedSource, Figures, Share, Verdict, Withheld
from ctxasm.citations.claims import split_claims
from ctxasm.citations.declined import is_declined
from ctxasm.citations.figures import Likeness, addressed, figures_of, only_quotes, used_passages, without_shares
from ctxasm.citations.grounds import Grounds, dropped_numbers
from ctxasm.citations.markers import ResolvedMarker, resolve
from ctxasm.citations.report import CheckedAnswer
from ctxasm.citations.verdicts import Bench, judge, with_dispute
from ctxasm.citations.weighing import is_match
from ctxasm.model.messages import Cancel
from ctxasm.model.ports import Clock
from ctxasm.model.results import Assembly
from ctxasm.model.support import Scorer, Source, Spent
from ctxasm.text.markers.grammar import Numbering, Reading


def check_answer(
    answer: str,
    grounds: Grounds,
    scorer: Scorer,
    *,
    query_id: str = "",
    question: str = "",
    voice: bool = False,
    marked: bool = True,
    cut: bool = False,
    reference: str = "",
    likeness: Likeness | None = None,
    reading: Reading = "usual",
    numbering: Numbering = "auto",
    cancel: Cancel | None = None,
    clock: Clock = time.perf_counter,
) -> CheckedAnswer:
    """Every claim of `answer` with its verdict, and whether it may answer `question`.

    Where it is not `marked`, because it is spoken (`voice`) or the blocks showed no number, no marker is read: each claim's
    source is looked for.
    `cut`: the answer broke off, so its last sentence, where it has no end, is no claim. `reference` is an answer that is known to be
    right (default: the one of the assembly's query), `likeness` an embedder's. `reading`: which forms are markers; "strict" for the
    answer to a context, whose text is kept free of those and of no others. `numbering`: how their numbers count.

    Raises ModelUnavailable where the scorer needs a model that fails.
    """
    start = clock()
    marked = marked and not voice
    found_markers = read_answer(answer, grounds.sources, reading, numbering) if marked else AnswerMarkers((), ())
    markers = resolve(found_markers.events, grounds.sources)
    claims = split_claims(answer, found_markers.events, found_markers.listed)
    claims = claims[:-1] if cut and claims and _is_torn(answer, claims[-1], markers) else claims
    judged = [claim for claim in claims if (claim.states or claim.cited) and not _declines(claim)]
    bench = _bench(judged, grounds, scorer, markers, question, cancel)
    found = [with_dispute(judge(claim, at, bench, marked=marked), at, bench) for at, claim in enumerate(judged)]
    counted = [at for at, checked in enumerate(found) if _says_enough(checked)]
    verdicts = {judged[at]: found[at] for at in counted}
    checked = tuple(
        verdicts.get(claim) or CheckedClaim(claim._replace(inherited=(), clauses=()), "declined", 0.0)
        for claim in claims
        if claim in verdicts or claim.states
    )
    told = CheckedAnswer(
        query_id=query_id,
        answer=answer,
        scorer=scorer.name,
        threshold=scorer.threshold,
        markers=markers,
        claims=checked,
        figures=_figures({at: found[at] for at in counted}, checked, bench, cut),
        verdicts=cast(dict[Verdict, int], dict(Counter(claim.verdict for claim in checked))),
        elapsed_ms=0.0,
        spent=bench.comparison.spent,
        voice=voice,
        marked=marked,
        addressed=addressed(question, answer, checked, grounds, likeness),
        reading=reading,
        first_number=found_markers.first,
    )
    told = _beside_labels(told, grounds.assembly, reference, scorer, cancel)
    return replace(told, elapsed_ms=(clock() - start) * 1000)


def _figures(judged: Mapping[int, CheckedClaim], claims: Sequence[CheckedClaim], bench: Bench, cut: bool) -> Figures:
    figures = figures_of(judged, bench)
    declines = bool(claims) and all(claim.verdict == "declined" for claim in claims)
    withheld: Withheld | None = "cut" if cut else "declined" if declines else "quotes" if only_quotes(judged.values(), bench) else None
    return without_shares(figures, withheld) if withheld else figures


def _beside_labels(found: CheckedAnswer, assembly: Assembly | None, reference: str, scorer: Scorer, cancel: Cancel | None) -> CheckedAnswer:
    """The answer beside what is known of its question: passages that it should stand on, facts that it should state."""
    if assembly is not None:
        found, reference = replace(found, passages=used_passages(assembly, found)), reference or assembly.query.answer or ""
    facts = [claim.text for claim in split_claims(reference, ()) if claim.states and not is_declined(claim.text)]
    if not facts or not found.claims:
        return found
    bare = without_markers(found.answer, [resolved.marker for resolved in found.markers])
    comparison = scorer.compare(facts, [Source(1, bare, ((0, len(bare)),))], "", cancel)
    stated = sum(is_match(comparison.together(at, (0,)), scorer) for at in range(len(facts)))
    spent = Spent(*map(sum, zip(found.spent, comparison.spent, strict=True)))
    return replace(found, facts=Share(stated, len(facts)), spent=spent)


def _declines(claim: Claim) -> bool:
    """Whether a claim says that there is no answer, and nothing else: "The sources do not mention parking [1] and the desk opens at 7 [2]"
    declines as a whole, but a clause that cites for itself and states something is judged."""
    return all(is_declined(part.text, cited=bool(part.cited)) for part in (claim, *claim.clauses))


def _says_enough(checked: CheckedClaim) -> bool:
    """Whether what states nothing, a heading or a lead-in, says what its source says or denies: else its markers are for others."""
    return checked.claim.states or checked.verdict not in ("partly", "unsupported", "elsewhere", "prefix_only")


def _is_torn(answer: str, claim: Claim, markers: Sequence[ResolvedMarker]) -> bool:
    """Whether a sentence at the end of an answer stops without an end: a full stop, or a marker behind all that it says."""
    ends = [markers[position].marker.end for position in claim.markers]
    rest = answer[max([claim.start, *ends]) : max([claim.end, *ends])].rstrip('*_)"”’| ')
    return not rest.endswith((".", "!", "?", "…")) and (not ends or any(map(str.isalnum, rest)))


def _bench(
    claims: Sequence[Claim],
    grounds: Grounds,
    scorer: Scorer,
    markers: Sequence[ResolvedMarker],
    question: str,
    cancel: Cancel | None,
) -> Bench:
    summaries = [ground.summary for ground in grounds.items if ground.summary is not None]
    sources = (*grounds.sources, *summaries)
    clauses = [clause for claim in claims for clause in claim.clauses]
    comparison = scorer.compare([claim.text for claim in (*claims, *clauses)], sources, question, cancel)
    first_clauses = accumulate((len(claim.clauses) for claim in claims), initial=len(claims))
    positions = {source.number: position for position, source in enumerate(grounds.sources)}
    offset = len(grounds.items)
    unknown = {number for marker in markers for number in marker.unknown}
    dropped: tuple[DroppedSource, ...] = dropped_numbers(grounds.assembly, sorted(unknown)) if grounds.assembly and unknown else ()
    return Bench(
        grounds,
        comparison,
        scorer,
        positions,
        {source.number: offset + position for position, source in enumerate(summaries)},
        {source.number: source for source in dropped},
        {at: first for at, (claim, first) in enumerate(zip(claims, first_clauses, strict=False)) if claim.clauses},
    )
