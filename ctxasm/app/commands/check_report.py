"""What `ctxasm check` prints: text for people, JSON for programs. Text of others is made harmless where it reaches a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from ctxasm.app.commands.options import say, show
from ctxasm.citations.checked import (
    CheckedAnswer,
    CheckedClaim,
    Support,
    checked_dict,
    has_unknown,
    problem_claims,
    summary_sentence,
    verdict_words,
)
from ctxasm.citations.grounds import Grounds
from ctxasm.citations.summary import Totals

LONGEST_QUOTE = 240
AROUND_CONFLICT = 60
_CONTROL = re.compile("[\x7f-\x9f]")
Agreement = Mapping[str, Any]


class Report(Protocol):
    """Takes each checked answer as it is made, then the totals."""

    def answer(self, checked: CheckedAnswer, grounds: Grounds) -> None: ...
    def end(self, totals: Totals, agreement: Agreement | None) -> None: ...


def open_report(form: str) -> Report:
    """The report of a `--format`: text, json or jsonl."""
    forms: dict[str, Callable[[], Report]] = {"text": TextReport, "json": JsonReport, "jsonl": JsonLines}
    return forms[form]()


class TextReport:
    """A line per answer, below it what needs a look; the totals at the end."""

    def answer(self, checked: CheckedAnswer, grounds: Grounds) -> None:
        show(f"{one_line(checked.query_id)}: {summary_sentence(checked)}")
        texts = {source.number: source.text for source in grounds.sources}
        for claim in problem_claims(checked):
            for line in claim_lines(claim, texts):
                show(f"  {line}")
        if has_unknown(checked):
            held = {position for claim in checked.claims for position in claim.claim.markers if claim.unknown}
            for position, marker in enumerate(checked.markers):
                if not marker.is_sound and position not in held:
                    show(f"  no source has the number of {quoted(marker.marker.text)}")

    def end(self, totals: Totals, agreement: Agreement | None) -> None:
        show("")
        for sentence in totals.sentences():
            show(sentence)
        if agreement is not None:
            show(agreement_sentence(agreement))


class JsonLines:
    """One checked answer a line; the totals go to standard error."""

    def answer(self, checked: CheckedAnswer, grounds: Grounds) -> None:
        print(strict_json(checked_dict(checked)), flush=True)

    def end(self, totals: Totals, agreement: Agreement | None) -> None:
        for sentence in totals.sentences():
            say(sentence)
        if agreement is not None:
            say(agreement_sentence(agreement))


class JsonReport:
    """One object: `answers`, and `summary` with the totals and, where there are labels, the `agreement` with them."""

    def __init__(self) -> None:
        self._before = '{"answers": ['

    def answer(self, checked: CheckedAnswer, grounds: Grounds) -> None:
        print(f"{self._before}\n{strict_json(checked_dict(checked))}", end="", flush=True)
        self._before = ","

    def end(self, totals: Totals, agreement: Agreement | None) -> None:
        opened = "" if self._before == "," else self._before
        print(f'{opened}\n],\n"summary": {strict_json({**totals.to_dict(), "agreement": agreement})}}}')


def strict_json(value: Any) -> str:
    """One line of JSON without NaN. Control characters that JSON lets through are escaped, for terminals."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def claim_lines(checked: CheckedClaim, texts: Mapping[int, str]) -> Iterator[str]:
    """One claim that needs a look: verdict and words first, then, indented, what is missing and where to look. `texts` by number."""
    cited = f", cites {brackets(checked.claim.cited)}" if checked.claim.cited else ""
    yield f"{verdict_words(checked.verdict)} ({checked.score:.2f}){cited}: {quoted(checked.claim.text)}"
    for detail in _details(checked, texts):
        yield f"    {detail}"


def _details(checked: CheckedClaim, texts: Mapping[int, str]) -> Iterator[str]:
    if checked.missing:
        yield f"missing: {', '.join(quoted(word, 60) for word in checked.missing)}"
    if (conflict := checked.conflict) is not None:
        low, high = max(0, conflict.start - AROUND_CONFLICT), conflict.end + AROUND_CONFLICT
        around = quoted(texts.get(conflict.number, "")[low:high])
        yield f"{conflict.kind}: {quoted(conflict.claim, 60)} here, {quoted(conflict.source, 60)} in [{conflict.number}]: {around}"
    for support in () if checked.verdict in ("supported", "contradicted") else checked.support:
        yield f"has a part of it: {_place(support, texts)}"
    if checked.idle and checked.verdict == "partly":  # elsewhere the verdict says it
        yield f"{brackets(checked.idle)} {'carries' if len(checked.idle) == 1 else 'carry'} nothing of it"
    if checked.better_support is not None:
        yield f"better: {_place(checked.better_support, texts)}"
    elif checked.better is not None:
        yield f"better: [{checked.better}]"
    if checked.summary_support is not None:
        yield f"page summary: {_place(checked.summary_support, texts)}"
    explained = {source.number for source in checked.dropped}
    for source in checked.dropped:
        reason = f" ({source.reason})" if source.reason else ""
        yield f"[{source.number}] would be {quoted(source.document_id, 100)}, dropped at {source.stage}{reason}"
    if unknown := [number for number in checked.unknown if number not in explained]:
        yield f"no source has the number {brackets(unknown)}"


def _place(support: Support, texts: Mapping[int, str]) -> str:
    neighbour = " (an added neighbour, not a hit)" if support.retrieved is False else ""
    return f"[{support.number}] {quoted(texts.get(support.number, '')[support.start : support.end])}{neighbour}"


def agreement_sentence(agreement: Agreement) -> str:
    """How the scores agree with the labels, in one line."""
    said = f"labels: {agreement['compared']} of {agreement['labels']} compared"
    if agreement["auc"] is not None:
        interval = "" if agreement["auc_low"] is None else f" (95 %: {agreement['auc_low']:.3f} to {agreement['auc_high']:.3f})"
        said += f", AUC {agreement['auc']:.3f}{interval}"
    shares = (f"{name} {'–' if agreement[name] is None else format(agreement[name], '.3f')}" for name in ("precision", "recall"))
    return f"{said}; supported from {agreement['threshold']:.2f} on: {', '.join(shares)}"


def brackets(numbers: Iterable[int]) -> str:
    """`[1][3]`."""
    return "".join(f"[{number}]" for number in numbers)


def one_line(text: str, limit: int = LONGEST_QUOTE) -> str:
    """`text` on one line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def quoted(text: str, limit: int = LONGEST_QUOTE) -> str:
    """`text` between quotes, on one line."""
    return f"“{one_line(text, limit)}”"
