"""A conversation as a value: every question gets its evidence, a source keeps its number, and what leaves the window is said.

`Conversation.ask` gives a turn: the evidence of the question, the messages to send, what each part of the window takes, and what left.
`Turn.answered` gives the conversation with the answer, to be asked again. Nothing is changed in place, so a turn can be asked twice.

Two layouts. `rebuild`: earlier turns are sent as questions and answers, and one block of evidence stands before the new question; a
server's prefix cache keeps the history and nothing of the evidence. `append`: earlier messages stay as they were sent, with their
evidence, and only evidence that does not stand yet comes with the new question; the cache keeps all of it until something has to leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from ctxasm.answering.prompts import GROUNDED, PromptChoice, build_messages, user_parts
from ctxasm.assembly.expand import rank_hits
from ctxasm.assembly.numbering import EarlierEvidence, Numbering, numbering_for
from ctxasm.assembly.pipeline import assemble
from ctxasm.citations.markers import parse_markers
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.messages import Message
from ctxasm.model.ports import ChunkSource, TokenCounter
from ctxasm.model.records import Hit, Query
from ctxasm.model.records import Turn as Said
from ctxasm.model.results import Assembly, Key, Segment, SentHistory
from ctxasm.model.settings import AssemblySettings
from ctxasm.retrieval.fusion import fuse_rankings
from ctxasm.text.formats import marker_of
from ctxasm.text.language import Language, language_of
from ctxasm.text.tokens.common_prefix import cache_prefix

Layout = Literal["rebuild", "append"]
LAYOUTS: tuple[Layout, ...] = ("rebuild", "append")
LeftFor = Literal["uncited", "no_room"]
"""Why evidence left: no answer cited it, or it did not fit any more."""
MOST_HITS = 10**9
"""No hit has such a rank."""
LEAST_NEW = 4
"""New evidence always gets this part of its limit: a quarter."""
MOST_TRIES = 8
"""Assemblies of one turn at most, where what stands around the evidence takes more tokens than it takes alone."""


class SentBlock(NamedTuple):
    """A block of evidence inside a message of the window: characters `start` to `end` of it, `tokens` by which it grew the message.

    `chunk_tokens` are those of its chunks, in their order.
    """

    number: int
    document_id: str
    title: str | None
    chunk_indexes: tuple[int, ...]
    start: int
    end: int
    tokens: int
    chunk_tokens: tuple[int, ...]

    @property
    def keys(self) -> tuple[Key, ...]:
        """The chunks that it shows."""
        return tuple((self.document_id, index) for index in self.chunk_indexes)


class LeftEvidence(NamedTuple):
    """Evidence that left the window at turn `turn` (1 = first): chunks of source `number`, their `tokens`, and why."""

    number: int
    document_id: str
    chunk_indexes: tuple[int, ...]
    tokens: int
    turn: int
    reason: LeftFor

    @property
    def sentence(self) -> str:
        """`left at turn 4: uncited, 2,100 tokens`."""
        why = "uncited" if self.reason == "uncited" else "no room for it"
        return f"left at turn {self.turn}: {why}, {self.tokens:,} tokens"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A past turn: the question with its hits, the user message as it stands in the window, its evidence and the answer.

    `blocks` are those that still stand in `message` (`rebuild`: that stood in it when it was sent). `cited` are the numbers in the answer.
    `tokens` are those of the message, `bare_tokens` those of it without evidence, `answer_tokens` are counted when they are needed.
    """

    question: str
    hits: tuple[Hit, ...]
    message: str
    blocks: tuple[SentBlock, ...]
    tokens: int
    bare_tokens: int
    answer: str = ""
    cited: frozenset[int] = frozenset()
    query_id: str = ""
    answer_tokens: int | None = None


class WindowTokens(NamedTuple):
    """Tokens of the messages of a prompt and of the room for the answer. Their sum is at most the window."""

    system: int
    history: int
    evidence: int
    question: int
    answer: int

    @property
    def prompt(self) -> int:
        """What is sent."""
        return self.system + self.history + self.evidence + self.question


class Price(NamedTuple):
    """Money for a million tokens: of a prompt, of a prompt that the server had in its cache, of an answer."""

    prompt: float
    cached: float
    answer: float


@dataclass(frozen=True)
class Turn:
    """One question of a conversation.

    `assembly` is the evidence that comes with it, `messages` are to be sent, `before` are those of the turn before.
    `standing` is all evidence in the window, `left` what left it at this turn, `forgotten` how many earlier turns are not sent any more.
    """

    conversation: Conversation
    number: int
    assembly: Assembly
    messages: tuple[Message, ...]
    window: WindowTokens
    standing: tuple[SentBlock, ...]
    came: frozenset[Key]
    left: tuple[LeftEvidence, ...]
    forgotten: int
    before: tuple[Message, ...]
    counter: TokenCounter

    @cached_property
    def cached_tokens(self) -> int:
        """Tokens with which this prompt and the one before begin alike: whole messages, then the beginning of the first that differs."""
        shared = 0
        for old, new in zip(self.before, self.messages, strict=False):
            if old != new:
                return shared + (cache_prefix(old.content, new.content, self.counter).tokens if old.role == new.role else 0)
            shared += self.counter.count(new.content)
        return shared

    @property
    def new_tokens(self) -> int:
        """What the server has to read anew."""
        return self.window.prompt - self.cached_tokens

    @property
    def came_numbers(self) -> list[int]:
        """The numbers of sources of which something came with this turn."""
        return sorted({block.number for block in self.standing if not self.came.isdisjoint(block.keys)})

    @property
    def stayed_numbers(self) -> list[int]:
        """The numbers of sources of which something stood before."""
        return sorted({block.number for block in self.standing if not self.came.issuperset(block.keys)})

    def cost(self, price: Price, answer_tokens: int = 0) -> float:
        """Money for this turn, with an answer of so many tokens."""
        spent = self.new_tokens * price.prompt + self.cached_tokens * price.cached + answer_tokens * price.answer
        return spent / 1_000_000

    def sources(self) -> tuple[dict[str, Any], ...]:
        """Every source in the window as `{"n", "text", "title"}`: what an answer to this turn may cite, in the order of the numbers."""
        first = self.forgotten if self.conversation.layout == "append" else -1
        texts: dict[int, list[str]] = {}
        for exchange in self.conversation.exchanges[first:]:
            for block in exchange.blocks:
                texts.setdefault(block.number, []).append(exchange.message[block.start : block.end])
        titles = {block.number: block.title for block in self.standing}
        return tuple({"n": number, "text": "\n\n".join(texts[number]), "title": titles[number]} for number in sorted(texts))

    def answered(self, answer: str, cited: Iterable[int] | None = None) -> Conversation:
        """The conversation with this answer. `cited`: the numbers that it cites, where they are not to be read from its markers."""
        there = {block.number for block in self.standing}
        numbers = {number for marker in parse_markers(answer) for number in marker.numbers} if cited is None else set(cited)
        last = replace(self.conversation.exchanges[-1], answer=answer, cited=frozenset(numbers & there), answer_tokens=None)
        return replace(self.conversation, exchanges=(*self.conversation.exchanges[:-1], last))


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a next question needs to know of those before it. `window` is the most that prompt and answer may take together, in tokens.

    `settings` are those of every turn: `max_tokens` limits the evidence that comes with one. `receipts`: a line in the place of evidence
    that left says so (layout `append`). `exchanges`, `numbering`, `left`, `sent` and `language` are made by `ask`.
    Raises InvalidInput for a layout or a window that cannot be.
    """

    settings: AssemblySettings = field(default_factory=AssemblySettings)
    layout: Layout = "rebuild"
    window: int = 8_000
    answer_tokens: int = 512
    receipts: bool = False
    prompt: PromptChoice = GROUNDED
    exchanges: tuple[Exchange, ...] = ()
    numbering: Numbering | None = None
    left: tuple[LeftEvidence, ...] = ()
    sent: tuple[Message, ...] = ()
    language: Language | None = None

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS:
            raise InvalidInput(f"layout must be one of {', '.join(LAYOUTS)}, got {shown(self.layout)}")
        for name, least in (("window", 1), ("answer_tokens", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InvalidInput(f"{name} must be a whole number of at least {least}, got {shown(value)}")

    def ask(self, query: Query, source: ChunkSource, counter: TokenCounter, more: Sequence[Query] = ()) -> Turn:
        """The turn for this question; its own history is not looked at. `more` are further searches for it, as of a tool: their hits join.

        Raises InvalidInput for a query that cannot be assembled, or where system prompt, question and answer leave no room.
        """
        return _Asking(self, together([query, *more]), source, counter).turn()

    def replayed(self, source: ChunkSource, counter: TokenCounter) -> Conversation:
        """The same questions, hits and answers asked again from the first on."""
        again = replace(self, exchanges=(), numbering=None, left=(), sent=(), language=None)
        for past in self.exchanges:
            turn = again.ask(Query(past.question, past.hits, past.query_id), source, counter)
            again = turn.answered(past.answer, past.cited)
        return again

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; `conversation_from_dict` reads it."""
        return {
            "settings": self.settings.to_dict(),
            "layout": self.layout,
            "window": self.window,
            "answer_tokens": self.answer_tokens,
            "receipts": self.receipts,
            "prompt": asdict(self.prompt),
            "language": self.language,
            "highest": self.numbering.highest if self.numbering else 0,
            "given": [[*key, number] for key, number in (self.numbering.given if self.numbering else {}).items()],
            "left": [entry._asdict() for entry in self.left],
            "sent": [message._asdict() for message in self.sent],
            "exchanges": [
                {
                    "query_id": exchange.query_id,
                    "question": exchange.question,
                    "hits": [asdict(hit) | {"scores": dict(hit.scores)} for hit in exchange.hits],
                    "message": exchange.message,
                    "blocks": [block._asdict() for block in exchange.blocks],
                    "tokens": exchange.tokens,
                    "bare_tokens": exchange.bare_tokens,
                    "answer": exchange.answer,
                    "cited": sorted(exchange.cited),
                }
                for exchange in self.exchanges
            ],
        }


def conversation_from_dict(record: Mapping[str, Any]) -> Conversation:
    """The conversation that `to_dict` wrote. Raises InvalidInput for a record that it did not write."""
    try:
        settings = AssemblySettings.from_dict(record["settings"])
        given = {(document_id, index): number for document_id, index, number in record["given"]}
        return Conversation(
            settings,
            record["layout"],
            record["window"],
            record["answer_tokens"],
            record["receipts"],
            PromptChoice(**record["prompt"]),
            tuple(
                Exchange(
                    each["question"],
                    tuple(Hit(**hit) for hit in each["hits"]),
                    each["message"],
                    tuple(_block(block) for block in each["blocks"]),
                    each["tokens"],
                    each["bare_tokens"],
                    each["answer"],
                    frozenset(each["cited"]),
                    each["query_id"],
                )
                for each in record["exchanges"]
            ),
            replace(numbering_for(settings), given=given, highest=record["highest"]),
            tuple(LeftEvidence(**entry | {"chunk_indexes": tuple(entry["chunk_indexes"])}) for entry in record["left"]),
            tuple(Message(**message) for message in record["sent"]),
            record["language"],
        )
    except (KeyError, TypeError, ValueError, AttributeError) as failure:
        raise InvalidInput(f"a conversation must be what Conversation.to_dict writes, got {shown(record)}: {failure}") from failure


def _block(record: Mapping[str, Any]) -> SentBlock:
    return SentBlock(**dict(record) | {"chunk_indexes": tuple(record["chunk_indexes"]), "chunk_tokens": tuple(record["chunk_tokens"])})


def together(queries: Sequence[Query]) -> Query:
    """The first query with the hits of all of them: by reciprocal-rank fusion where there are several (Cormack et al. 2009, k = 60)."""
    first = queries[0]
    if len(queries) == 1:
        return first
    best = fuse_rankings([[(hit.document_id, hit.chunk_index) for hit in rank_hits(query, None).hits] for query in queries])
    return replace(first, retrieved=tuple(Hit(*key, score, rank) for rank, (key, score) in enumerate(best, 1)))


class _Draft(NamedTuple):
    """A prompt: its evidence, the past exchanges as they stand beside it, what left them, the messages, and where the context begins."""

    assembly: Assembly
    past: tuple[Exchange, ...]
    removed: tuple[tuple[SentBlock, LeftFor], ...]
    messages: tuple[Message, ...]
    turns: tuple[Said, ...]
    shift: int


class _Asking:
    """One question, from what stands to what is sent."""

    def __init__(self, conversation: Conversation, query: Query, source: ChunkSource, counter: TokenCounter) -> None:
        self.conversation, self.source, self.counter = conversation, source, counter
        self.query = replace(query, history=())
        self.number = len(conversation.exchanges) + 1
        self.language = conversation.language or conversation.prompt.language or language_of(query.query)
        self.numbering = conversation.numbering or numbering_for(conversation.settings)
        self.room = conversation.window - conversation.answer_tokens
        self.appends = conversation.layout == "append"
        self.exchanges = tuple(
            each if each.answer_tokens is not None else replace(each, answer_tokens=counter.count(each.answer))
            for each in conversation.exchanges
        )
        self._counts = {each.message: each.tokens for each in self.exchanges}
        self._counts |= {each.answer: each.answer_tokens or 0 for each in self.exchanges}
        self.latest = {number: turn for turn, each in enumerate(self.exchanges, 1) for number in each.cited}
        """The turn (1 = first) that cited each source last."""

    def turn(self) -> Turn:
        nothing = assemble(replace(self.query, retrieved=()), self.source, self._settings, self.counter)
        system, question = build_messages(nothing, self.conversation.prompt, language=self.language)
        bare = self._tokens(system.content) + self._tokens(question.content)
        if bare >= self.room:
            raise InvalidInput(
                f"window must leave room for evidence beside system prompt, question ({bare:,} tokens) and answer "
                f"({self.conversation.answer_tokens:,}), got {self.conversation.window:,}: raise window"
            )
        past, forgotten = self._past(bare)
        plain = sum(each.bare_tokens + (each.answer_tokens or 0) for each in past)
        most = min(self._settings.max_tokens, self.room - bare - plain)
        # What stands and is found again stays, and new evidence takes the rest: measured in tests/bench/test_conversation.py.
        again = self.room - bare - plain - self._tokens_found_again(past)
        limit = max(1, min(most, max(again, most // LEAST_NEW)))
        for _ in range(MOST_TRIES):
            assembly = assemble(self.query, self.source, self._settings, self.counter, limit=limit, earlier=self._earlier(past))
            draft = self._draft(system, assembly, past, bare)
            over = self._count(draft.messages) - self.room
            if over <= 0 or limit == 1:
                break
            limit = max(1, limit - over)
        if over > 0:
            # Not one character of evidence fits: the question is asked without any.
            draft = self._draft(system, nothing, past, bare)
        return self._made(draft, forgotten)

    def _draft(self, system: Message, assembly: Assembly, past: tuple[Exchange, ...], bare: int) -> _Draft:
        """The prompt with this evidence, and with as much of the earlier evidence as fits beside it."""
        kept, removed = self._fitted(past, assembly, bare)
        # What was said earlier is passed over by the fence; evidence of other messages has fences of its own.
        said = self._turns(kept, lambda each: each.question)
        parts = user_parts(replace(assembly, conversation=SentHistory(said, 0, len(said))), self.language)
        tally = self.counter.tally()
        for part in parts:
            tally.add(part.text, assembly.token_count if part.zone == "context" else None)
        text = "".join(part.text for part in parts)
        self._counts[text] = tally.total
        sent = self._turns(kept, lambda each: each.message if self.appends else each.question)
        earlier = tuple(Message("assistant" if turn.role == "assistant" else "user", turn.content) for turn in sent)
        return _Draft(assembly, kept, removed, (system, *earlier, Message("user", text)), sent, len(parts[0].text))

    @property
    def _settings(self) -> AssemblySettings:
        settings = self.conversation.settings
        return settings.replace(budget_mode="fixed") if settings.budget_mode == "window" else settings

    def _tokens(self, text: str) -> int:
        """Tokens of a message; those that stand from before are not counted again."""
        if text not in self._counts:
            self._counts[text] = self.counter.count(text)
        return self._counts[text]

    def _count(self, messages: Iterable[Message]) -> int:
        return sum(self._tokens(message.content) for message in messages)

    def _past(self, bare: int) -> tuple[tuple[Exchange, ...], int]:
        """The exchanges that are still sent, and how many are not: the oldest go where questions and answers alone fill half the room."""
        spent = accumulate(each.bare_tokens + (each.answer_tokens or 0) for each in reversed(self.exchanges))
        forgotten = len(self.exchanges) - sum(tokens <= (self.room - bare) // 2 for tokens in spent)
        return self.exchanges[forgotten:], forgotten

    def _earlier(self, past: Sequence[Exchange]) -> EarlierEvidence:
        """What stands: in `append` all evidence of the messages that are sent, in `rebuild` what was cited and stood at the last turn."""
        if self.appends:
            return EarlierEvidence(self.numbering, (), frozenset(key for each in past for block in each.blocks for key in block.keys))
        standing = [block for each in self.exchanges[-1:] for block in each.blocks if block.number in self.latest]
        standing.sort(key=lambda block: (-self.latest[block.number], block.number))
        return EarlierEvidence(self.numbering, tuple(dict.fromkeys(key for block in standing for key in block.keys)))

    def _fitted(
        self, past: tuple[Exchange, ...], assembly: Assembly, bare: int
    ) -> tuple[tuple[Exchange, ...], tuple[tuple[SentBlock, LeftFor], ...]]:
        """The past exchanges with as much of their evidence as fits beside the new.

        First leaves what nobody cited, then what was cited, the oldest first; last what this question found too, the worst first.
        """
        if not self.appends:
            return past, ()
        blocks = [(at, block) for at, each in enumerate(past) for block in each.blocks]
        ranks = self._ranks_found

        def place(entry: tuple[int, SentBlock]) -> tuple[int, int, int, int]:
            at, block = entry
            rank = min((ranks[key] for key in block.keys if key in ranks), default=None)
            return (-rank if rank is not None else -MOST_HITS, self.latest.get(block.number, 0), at, block.start)

        order = sorted(blocks, key=place)
        over = bare + assembly.token_count + sum(each.tokens + (each.answer_tokens or 0) for each in past) - self.room
        kept, removed = list(past), list[tuple[SentBlock, LeftFor]]()
        touched: set[int] = set()
        for at, block in order:
            if over <= 0:
                break
            # Where it stands now: others before it may have gone.
            mine = next(own for own in kept[at].blocks if (own.number, own.keys) == (block.number, block.keys))
            left = _left(block, block.keys, self.number, "no_room" if block.number in self.latest else "uncited")
            line = f"{self._marker(block.number)} {left.sentence}" if self.conversation.receipts else ""
            kept[at] = _without(kept[at], mine, line)
            over -= block.tokens - (self.counter.count(line) if line else 0)
            touched.add(at)
            removed.append((block, left.reason))
        for at in touched:
            kept[at] = replace(kept[at], tokens=self._tokens(kept[at].message))
        return tuple(kept), tuple(removed)

    def _tokens_found_again(self, past: Sequence[Exchange]) -> int:
        """Tokens of the blocks in earlier messages that show something which this question found too."""
        if not self.appends:
            return 0
        ranks = self._ranks_found
        return sum(block.tokens for each in past for block in each.blocks if not ranks.keys().isdisjoint(block.keys))

    @cached_property
    def _ranks_found(self) -> dict[Key, int]:
        """The chunks that this question found, and their neighbours, by the best rank of a hit that reaches them."""
        settings = self.conversation.settings
        ranks: dict[Key, int] = {}
        for rank, hit in enumerate(rank_hits(self.query, settings.top_k, settings.relevance_floor).hits):
            for index in range(hit.chunk_index - settings.window, hit.chunk_index + settings.window + 1):
                ranks.setdefault((hit.document_id, index), rank)
        return ranks

    def _marker(self, number: int) -> str:
        return marker_of(self.conversation.settings.format, number) or f"({number})"

    def _turns(self, past: Iterable[Exchange], asked: Callable[[Exchange], str]) -> tuple[Said, ...]:
        """The past exchanges as turns: what was `asked`, and the answer."""
        return tuple(said for each in past for said in (Said("user", asked(each)), Said("assistant", each.answer)))

    def _made(self, draft: _Draft, forgotten: int) -> Turn:
        conversation, past, messages = self.conversation, draft.past, draft.messages
        tokens = sum(self._tokens(turn.content) for turn in draft.turns)
        history = SentHistory(draft.turns, tokens, len(draft.turns) + 2 * forgotten, trimmed=2 * forgotten)
        assembly = replace(draft.assembly, conversation=history)
        blocks = _sent_blocks(assembly, draft.shift)
        own_evidence, text = sum(block.tokens for block in blocks), messages[-1].content
        question = self._tokens(text) - own_evidence
        # A message without its evidence is smaller by it, but for what merges at its edges: the window is counted whole anyway.
        bare = question if self.appends else self.counter.count(self.query.query)
        own = Exchange(self.query.query, self.query.retrieved, text, blocks, self._tokens(text), bare, query_id=self.query.query_id)
        if self.appends:
            left = [_left(block, block.keys, self.number, reason) for block, reason in draft.removed]
            gone = self.exchanges[:forgotten]
            left += [_left(block, block.keys, self.number, "no_room") for each in gone for block in each.blocks]
            before = frozenset(key for each in past for block in each.blocks for key in block.keys)
            standing = (*(block for each in past for block in each.blocks), *blocks)
            exchanges = (*(replace(each, blocks=()) for each in gone), *past, own)
        else:
            last = self.exchanges[-1].blocks if self.exchanges else ()
            before = frozenset(key for block in last for key in block.keys)
            shown_now = {key for block in blocks for key in block.keys}
            left = [
                _left(block, keys, self.number, "no_room" if block.number in self.latest else "uncited")
                for block in last
                if (keys := tuple(key for key in block.keys if key not in shown_now))
            ]
            standing, exchanges = blocks, (*self.exchanges, own)
        evidence = sum(block.tokens for block in standing)
        past_tokens = self._count(messages[1:-1]) - (evidence - own_evidence)
        window = WindowTokens(self._tokens(messages[0].content), past_tokens, evidence, question, conversation.answer_tokens)
        after = replace(
            conversation,
            exchanges=exchanges,
            numbering=self.numbering.after(assembly.citations),
            left=(*conversation.left, *left),
            sent=messages,
            language=self.language,
        )
        came = frozenset(key for block in blocks for key in block.keys) - before
        return Turn(after, self.number, assembly, messages, window, standing, came, tuple(left), forgotten, conversation.sent, self.counter)


def _sent_blocks(assembly: Assembly, shift: int) -> tuple[SentBlock, ...]:
    """The blocks of the evidence where they stand in a message in which the context begins at character `shift`."""
    segments: dict[int, list[Segment]] = {}
    for segment in assembly.segments:
        if segment.block is not None:
            segments.setdefault(segment.block, []).append(segment)
    blocks: list[SentBlock] = []
    for entry in assembly.citations:
        own = segments[entry.number]
        tokens: dict[int, int] = dict.fromkeys(entry.chunk_indexes, 0)
        for segment in own:
            if segment.chunk_index in tokens:
                tokens[segment.chunk_index] += segment.tokens
        counts = tuple(tokens[index] for index in entry.chunk_indexes)
        place = (own[0].start + shift, own[-1].end + shift, sum(segment.tokens for segment in own))
        blocks.append(SentBlock(entry.number, entry.document_id, entry.title, entry.chunk_indexes, *place, counts))
    return tuple(blocks)


def _left(block: SentBlock, keys: Sequence[Key], turn: int, reason: LeftFor) -> LeftEvidence:
    """What left of a block: its whole tokens, or those of the chunks that went."""
    if len(keys) == len(block.keys):
        return LeftEvidence(block.number, block.document_id, block.chunk_indexes, block.tokens, turn, reason)
    counts = dict(zip(block.keys, block.chunk_tokens, strict=True))
    return LeftEvidence(block.number, block.document_id, tuple(key[1] for key in keys), sum(counts[key] for key in keys), turn, reason)


def _without(exchange: Exchange, block: SentBlock, line: str = "") -> Exchange:
    """The exchange with a block cut out of its message, `line` in its place."""
    blocks = exchange.blocks
    at, low, high = blocks.index(block), block.start, block.end
    if not line:
        # What separates a block from its neighbour goes with it.
        if at + 1 < len(blocks):
            high = blocks[at + 1].start
        elif at:
            low = blocks[at - 1].end
    shift = len(line) - (high - low)
    behind = tuple(other._replace(start=other.start + shift, end=other.end + shift) for other in blocks[at + 1 :])
    return replace(exchange, message=exchange.message[:low] + line + exchange.message[high:], blocks=(*blocks[:at], *behind))
