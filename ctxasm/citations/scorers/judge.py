"""A language model as judge: one call for several claims with all sources; no word of it counts without a quote that is really there.

What sources may do to the judge: text in them can talk it into a wrong verdict, as it can any model, but not into evidence
that does not exist. A verdict whose quote is not in the evidence of its source, verbatim but for white space, case and
the shapes of quotes, scores 0. A `gate` then still looks at numbers and names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event

from ctxasm.citations.scorers.base import Gate, canonical, stop_if
from ctxasm.citations.scorers.judgement import Data, JudgeComparison, Judgement, judgements_of
from ctxasm.citations.scorers.judging import PROMPT_VERSION, SCHEMA, SCHEMA_NAME, evidence_of, judge_messages
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.kept import Kept, key_of
from ctxasm.model.messages import AskForJson, Cancel, JsonReply
from ctxasm.model.support import Source, Spent

CLAIM_TOKENS = 400
"""Room in a reply for each further claim."""
CHARACTERS_PER_TOKEN = 4
PER_CALL = 6
"""Claims in a call, unless told otherwise."""


class JudgeScorer:
    """Compares by asking `complete`. `model` names it, for the cache and the reader.

    Scores are 1 (carried in full), 0.5 (in part) and 0; `threshold` and `partly` lie between them. A call asks about at most
    `per_call` claims, at most `at_once` calls run at a time and `keep` judgements are kept. Equal claims are asked once; a blank claim
    or no evidence never. `max_tokens` are for a reply on one claim; each further claim adds CLAIM_TOKENS.
    """

    name, threshold, partly = "llm", 0.75, 0.25

    def __init__(
        self,
        complete: AskForJson,
        model: str,
        *,
        gate: Gate | None = None,
        max_tokens: int = 2000,
        at_once: int = 4,
        per_call: int = PER_CALL,
        keep: int = 2000,
    ) -> None:
        if not 1 <= at_once <= 32:
            raise InvalidInput(f"at_once must be between 1 and 32 calls, got {shown(at_once)}")
        if not 1 <= per_call <= 32:
            raise InvalidInput(f"per_call must be between 1 and 32 claims, got {shown(per_call)}")
        self.model = model
        self._complete, self._gate, self._max_tokens, self._at_once = complete, gate, max_tokens, at_once
        self._per_call = per_call
        self._kept: Kept[Data] = Kept(keep)

    def compare(
        self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None
    ) -> JudgeComparison:
        """Ask about every claim now. Raises ModelUnavailable; what was judged before that is kept for the next try."""
        order, keys = self._keys(claims, sources, question)
        judged = {claim: data for claim, key in keys.items() if (data := self._kept.get(key)) is not None}
        spent = Spent(kept=len(judged))
        shown_sources = [sources[at] for at in order]
        for size in (self._per_call, 1):  # a claim that a reply leaves out is asked about by itself
            for batch, reply, told in self._ask([claim for claim in keys if claim not in judged], size, shown_sources, question, cancel):
                for at, data in told.items():
                    judged[batch[at]] = data
                    self._kept.put(keys[batch[at]], data)
                calls = getattr(reply, "calls", 1)
                spent = Spent(spent.calls + calls, spent.kept, spent.tokens_in + reply.tokens_in, spent.tokens_out + reply.tokens_out)
        if left := [claim for claim in keys if claim not in judged]:
            raise ModelUnavailable(f"{self.model} left {len(left)} of {len(keys)} claims out of its judgement: choose another model")
        judgements = {claim: Judgement(data, order) for claim, data in judged.items()}
        return JudgeComparison(claims, sources, judgements, self.partly, self._gate, spent)

    def _keys(self, claims: Sequence[str], sources: Sequence[Source], question: str) -> tuple[list[int], dict[str, str]]:
        """The positions of the sources with evidence, in the order in which they are shown, and the key of each claim."""
        order = sorted((at for at, source in enumerate(sources) if evidence_of(source).strip()), key=lambda at: canonical(sources[at]))
        told = [text for at in order for text in (sources[at].title, evidence_of(sources[at]))]
        return order, {claim: key_of(self.model, PROMPT_VERSION, claim, question, *told) for claim in claims if claim.strip() and order}

    def _ask(
        self, claims: Sequence[str], size: int, sources: Sequence[Source], question: str, cancel: Cancel | None
    ) -> Iterator[tuple[Sequence[str], JsonReply, Mapping[int, Data]]]:
        """Claims, the reply on them and what it says of each, once all are there. The first failure stops the others and is raised after
        those that had arrived."""
        failed = Event()

        def unwanted() -> bool:
            return failed.is_set() or (cancel is not None and cancel())

        def ask(batch: Sequence[str]) -> tuple[Sequence[str], JsonReply, Mapping[int, Data]]:
            stop_if(unwanted)
            messages, room = judge_messages(batch, question, sources), self._max_tokens + CLAIM_TOKENS * (len(batch) - 1)
            reply = self._complete(messages, schema=SCHEMA, schema_name=SCHEMA_NAME, max_tokens=room, cancel=unwanted)
            told = judgements_of(reply.data, len(batch))
            if told is None:
                raise ModelUnavailable(f"{self.model} did not judge in the form that was asked for: choose another model")
            return batch, reply, told

        if not claims:
            return
        batches = _batches(claims, size)
        with ThreadPoolExecutor(min(self._at_once, len(batches)), "judge") as pool:
            futures = [pool.submit(ask, batch) for batch in batches]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                failed.set()
        yield from (future.result() for future in futures if future.exception() is None)
        if errors := [error for future in futures if future in done and (error := future.exception()) is not None]:
            raise errors[0]


def prompt_cost(claims: Sequence[str], sources: Sequence[Source], question: str = "") -> Spent:
    """What a judge that keeps nothing yet would take: calls, and the tokens of its prompts, about (a token for four characters)."""
    asked = [*dict.fromkeys(claim for claim in claims if claim.strip())]
    shown_sources = [source for source in sources if evidence_of(source).strip()]
    prompts = [judge_messages(batch, question, shown_sources) for batch in _batches(asked, PER_CALL) if shown_sources]
    characters = sum(len(message.content) for messages in prompts for message in messages)
    return Spent(len(prompts), 0, -(-characters // CHARACTERS_PER_TOKEN))


def _batches(claims: Sequence[str], size: int) -> list[Sequence[str]]:
    return [claims[start : start + size] for start in range(0, len(claims), size)]
