"""A language model as judge: one call a claim with all sources, and no word of the judge counts without a quote that is really there.

What sources may do to the judge: text in them can talk it into a wrong verdict, as it can any model, but not into evidence
that does not exist. A verdict whose quote is not in the evidence of its source, verbatim but for white space, case and
the shapes of quotes, scores 0. A `gate` then still looks at numbers and names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Any, Protocol

from ctxasm.citations.scorers.comparing import Gate, canonical
from ctxasm.citations.scorers.judgement import Data, JudgeComparison, Judgement, is_judgement
from ctxasm.citations.scorers.judging import PROMPT_VERSION, SCHEMA, SCHEMA_NAME, evidence_of, judge_messages
from ctxasm.citations.scorers.windows import stop_if
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.kept import Kept, key_of
from ctxasm.model.messages import Cancel, Message
from ctxasm.model.support import Source, Spent


class Completion(Protocol):
    """A reply: an object of the schema, and what it took. A judge that counts `calls` may need more than one for a reply."""

    @property
    def data(self) -> Data: ...
    @property
    def tokens_in(self) -> int: ...
    @property
    def tokens_out(self) -> int: ...


class Complete(Protocol):
    """Asks a model for one JSON object of a schema. Raises ModelUnavailable. May be called by several threads."""

    def __call__(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any], schema_name: str, max_tokens: int, cancel: Cancel | None
    ) -> Completion: ...


class JudgeScorer:
    """Compares by asking `complete`. `model` names it, for the cache and the reader.

    Scores are 1 (carried in full), 0.5 (in part) and 0; `threshold` and `partly` lie between them. At most `at_once` calls
    run at a time and `keep` judgements are kept. Equal claims are asked once; a blank claim or no evidence never.
    """

    name, threshold, partly = "llm", 0.75, 0.25

    def __init__(
        self, complete: Complete, model: str, *, gate: Gate | None = None, max_tokens: int = 2000, at_once: int = 4, keep: int = 2000
    ) -> None:
        if not 1 <= at_once <= 32:
            raise InvalidInput(f"at_once must be between 1 and 32 calls, got {shown(at_once)}")
        self.model = model
        self._complete, self._gate, self._max_tokens, self._at_once = complete, gate, max_tokens, at_once
        self._kept: Kept[Data] = Kept(keep)

    def compare(
        self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None
    ) -> JudgeComparison:
        """Ask about every claim now. Raises ModelUnavailable; what was judged before that is kept for the next try."""
        order = sorted((at for at, source in enumerate(sources) if evidence_of(source).strip()), key=lambda at: canonical(sources[at]))
        shown_sources = [sources[at] for at in order]
        told = [text for source in shown_sources for text in (source.title, evidence_of(source))]
        keys = {claim: key_of(self.model, PROMPT_VERSION, claim, question, *told) for claim in claims if claim.strip() and order}
        judged = {claim: data for claim, key in keys.items() if (data := self._kept.get(key)) is not None}
        spent = Spent(kept=len(judged))
        for claim, reply in self._ask([claim for claim in keys if claim not in judged], shown_sources, question, cancel):
            judged[claim] = reply.data
            self._kept.put(keys[claim], reply.data)
            calls = getattr(reply, "calls", 1)
            spent = Spent(spent.calls + calls, spent.kept, spent.tokens_in + reply.tokens_in, spent.tokens_out + reply.tokens_out)
        judgements = {claim: Judgement(data, order) for claim, data in judged.items()}
        return JudgeComparison(claims, sources, judgements, self.partly, self._gate, spent)

    def _ask(
        self, claims: Sequence[str], sources: Sequence[Source], question: str, cancel: Cancel | None
    ) -> Iterator[tuple[str, Completion]]:
        """The replies once all are there. The first failure stops the others and is raised after those that had arrived."""
        failed = Event()

        def unwanted() -> bool:
            return failed.is_set() or (cancel is not None and cancel())

        def ask(claim: str) -> Completion:
            stop_if(unwanted)
            messages = judge_messages(claim, question, sources)
            reply = self._complete(messages, schema=SCHEMA, schema_name=SCHEMA_NAME, max_tokens=self._max_tokens, cancel=unwanted)
            if not is_judgement(reply.data):
                raise ModelUnavailable(f"{self.model} did not judge in the form that was asked for: choose another model")
            return reply

        if not claims:
            return
        with ThreadPoolExecutor(min(self._at_once, len(claims)), "judge") as pool:
            futures: dict[Future[Completion], str] = {pool.submit(ask, claim): claim for claim in claims}
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                failed.set()
        yield from ((claim, future.result()) for future, claim in futures.items() if future.exception() is None)
        if errors := [error for future in futures if future in done and (error := future.exception()) is not None]:
            raise errors[0]
