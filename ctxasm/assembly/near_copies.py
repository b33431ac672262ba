"""Which texts say the same in nearly the same words, one inside the other, or in meaning.

*Alike*: the Jaccard similarity of their sets of words, as in the token-budget guide, is at least a threshold. *Inside*: all
words of one stand in the other in the same order and uninterrupted, and they are at least `LEAST_INSIDE`. Likeness is half of it:
texts that differ in figures, names or negation do not say the same ("within 30 days", "within 60 days"). That check errs on one side
only: both texts are kept, which costs tokens; dropping one that says something else costs an answer.

Found by an exact join instead of a loop over all pairs, after "Scaling up all pairs similarity search" (Bayardo, Ma,
Srikant 2007): texts that are alike share one of their few rarest words, so only these are looked up. A sketch of 512 bits
(two sketches differ in no more bits than the sets in words) discards most of what that brings, and what is left is compared
word by word. Measured on 2,000 real chunks beside MinHash: datasketch takes twice as long and misses 54 of 429 pairs; rensa
is fast and missed none, but may, and needs the same comparison for its 487 false ones.

Words are hashed over whole arrays: word by word in Python takes ten times as long. In a script without spaces a word is two
neighbouring characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ctxasm.model.errors import InvalidInput
from ctxasm.model.events import Likeness
from ctxasm.model.ports import ChunkVectors, FetchedChunk
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.dates import MONTHS, WEEKDAYS
from ctxasm.text.language import EXCEPTIONS, is_denial
from ctxasm.text.number_words import CURRENCIES, HALVES, SCALES, UNITS, number_of

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
_MIX = 0xD6E8FEB86659FD93
BLOCK_CHARS = 1 << 17
"""Texts are taken in portions whose arrays stay in the processor's cache."""


class HashedWords(NamedTuple):
    """The words of all texts one after the other: `hashes` (uint64) and, a text each, how many (`counts`, int64)."""

    hashes: Any
    counts: Any


def words_of(text: str) -> list[str]:
    """The words of a text in order."""
    return prepared(text).split()


def prepared(text: str) -> str:
    """`text` in lower case, with spaces where its script has none."""
    lowered = text.lower()
    if lowered.isascii() or not _UNSPACED.search(lowered):
        return lowered
    return " ".join(word for part in lowered.split() for word in _pairs_of(part))


def _pairs_of(part: str) -> Iterator[str]:
    """A run without spaces: its own word, or every two neighbouring characters of a script that has no spaces."""
    if not _UNSPACED.search(part) or len(part) < 3:
        yield part
        return
    yield from (part[at : at + 2] for at in range(len(part) - 1))


def hash_words(texts: Sequence[str]) -> HashedWords:
    """The words of `texts`, each already `prepared`, as 64-bit numbers: equal words have equal numbers.

    Different words have different ones but for chance (1 : 2^64 a pair) or malice, so whoever needs certainty compares words.
    """
    import numpy as np

    hashes, counts = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for block in _blocks(texts):
        found = _hash_block(block, np)
        hashes.append(found.hashes)
        counts.append(found.counts)
    return HashedWords(np.concatenate(hashes), np.concatenate(counts))


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    first = chars = 0
    for at, text in enumerate(texts):
        chars += len(text)
        if chars >= BLOCK_CHARS:
            yield texts[first : at + 1]
            first, chars = at + 1, 0
    if first < len(texts):
        yield texts[first:]


def _hash_block(texts: Sequence[str], np: Any) -> HashedWords:
    """A word's number is that of a polynomial over its characters, had for all words from one running sum."""
    points = np.frombuffer(("\n".join(texts) + "\n").encode("utf-32-le", "surrogatepass"), np.uint32)
    filled = ~_spaces()[np.minimum(points, 0x3001)]
    edges = np.flatnonzero(np.diff(filled, prepend=False))
    starts, ends = edges[0::2], edges[1::2]
    powers, back = _powers(max(len(points), 2 * BLOCK_CHARS))
    powers, back = powers[: len(points)], back[: len(points)]
    sums = np.zeros(len(points) + 1, np.uint64)
    np.cumsum((points.astype(np.uint64) + np.uint64(1)) * powers, out=sums[1:])
    hashes = (sums[ends] - sums[starts]) * back[starts]
    hashes = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(_MIX)
    hashes ^= hashes >> np.uint64(29)
    offsets = np.cumsum([0] + [len(text) + 1 for text in texts])
    return HashedWords(hashes, np.diff(np.searchsorted(starts, offsets)))


@lru_cache(maxsize=2)
def _powers(length: int) -> tuple[Any, Any]:
    """The powers of the base and of its inverse modulo 2^64, from the first."""
    import numpy as np

    return np.cumprod(np.full(length, _BASE, np.uint64)), np.cumprod(np.full(length, _INVERSE, np.uint64))


@cache
def _spaces() -> Any:
    """Whether each character up to U+3000 is white space to `str.split`; none beyond it is."""
    import numpy as np

    return np.array([chr(point).isspace() for point in range(0x3002)])


LEAST_INSIDE = 8
"""Words. Fewer say too little for being found elsewhere to mean anything: "see page 3" stands inside many texts."""
RUN = 4
"""Words in a row that a text must share with the one it stands inside, to be looked at."""
SKETCH_BITS = 512


class Pair(NamedTuple):
    """Two positions in the list of texts. For `alike` first < second; of `inside` the first stands inside the second."""

    first: int
    second: int
    similarity: float


class Words:
    """Texts taken apart once for both questions. Raises nothing; an empty text is like no other."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [prepared(text) for text in texts]
        self._hashed: HashedWords = hash_words(self._texts)
        self._sets: dict[int, frozenset[str]] = {}

    def alike(self, threshold: float) -> list[Pair]:
        """All pairs whose Jaccard similarity is at least `threshold` (> 0), ascending."""
        found = []
        for first, second in _candidates(self._hashed, threshold):
            similarity = _jaccard(self._set(first), self._set(second))
            if similarity >= threshold:
                found.append(Pair(first, second, similarity))
        return sorted(found)

    def inside(self) -> list[Pair]:
        """All pairs of which the first stands inside the second, which has more words, ascending."""
        counts = self._hashed.counts.tolist()
        found = []
        for first, second in _sharers(self._hashed):
            if counts[first] < counts[second] and _stands_in(self._words(first), self._words(second)):
                found.append(Pair(first, second, 1.0))
        return sorted(found)

    def _words(self, position: int) -> str:
        return " ".join(self._texts[position].split())

    def _set(self, position: int) -> frozenset[str]:
        own = self._sets.get(position)
        if own is None:
            own = self._sets[position] = frozenset(self._texts[position].split())
        return own


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _stands_in(words: str, other: str) -> bool:
    """Whether `words` are a run of whole words of `other`; punctuation at the ends of the run is no matter."""
    wanted = words.strip(_EDGE)
    at = other.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (at and other[at - 1].isalnum()) and not (end < len(other) and other[end].isalnum()):
            return bool(wanted)
        at = other.find(wanted, at + 1)
    return False


_EDGE = " .,;:!?…\"'()[]{}«»“”‘’-–—*_#|>"


def _candidates(hashed: HashedWords, threshold: float) -> Iterator[tuple[int, int]]:
    """Pairs that may be alike: no pair that is alike is missing."""
    import numpy as np

    texts = len(hashed.counts)
    bits = texts.bit_length()
    owner = np.repeat(np.arange(texts), hashed.counts)
    common = np.minimum(_frequency(hashed.hashes)[_bucket(hashed.hashes)], 0x3FFF)
    # One number a word: its text, how frequent it is (rare first), its hash. Sorted, each text's rarest words come first.
    token = (common.astype(np.int64) << (49 - bits)) | (hashed.hashes >> np.uint64(15 + bits)).astype(np.int64)
    keys = np.sort((owner << (63 - bits)) | token)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    owner, token = keys >> (63 - bits), keys & ((1 << (63 - bits)) - 1)
    sizes = np.bincount(owner, minlength=texts)
    place = np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner]
    # Of the texts with a similarity of t to one of n words, each shares t x n of them: one of its rarest n - t x n + 1.
    # One more makes up for two words that chance gave one hash.
    rarest = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 2
    looked_up = (place < rarest[owner]) & (token >> (49 - bits) > 1)
    sketches = _Sketches(owner, token, sizes, threshold)
    return sketches.possible(owner[looked_up], token[looked_up])


class _Sketches:
    """A text each, a bit for every word (two words on one bit cancel out), to tell most unlike pairs apart."""

    def __init__(self, owner: Any, token: Any, sizes: Any, threshold: float) -> None:
        import numpy as np

        spread = (token.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(55)
        odd = np.bincount(owner * SKETCH_BITS + spread.astype(np.int64), minlength=len(sizes) * SKETCH_BITS) & 1
        self._bits = np.packbits(odd.astype(np.uint8).reshape(-1, SKETCH_BITS), axis=1).view(np.uint64)
        self._sizes, self._threshold = sizes, threshold

    def possible(self, owner: Any, token: Any) -> Iterator[tuple[int, int]]:
        """The pairs of texts with a word in common (`token[i]` is a word of text `owner[i]`) that may be alike."""
        import numpy as np

        order = np.argsort(token, kind="stable")
        owner, token = owner[order], token[order]
        found = [np.empty(0, np.int64)]
        left = np.arange(len(token))
        step = 1
        while len(left := left[left < len(token) - step]) and len(left := left[token[left] == token[left + step]]):
            first, second = owner[left], owner[left + step]
            alike = self._may_be_alike(first, second)
            found.append(first[alike] * len(self._sizes) + second[alike])
            step += 1
        for pair in np.unique(np.concatenate(found)).tolist():
            yield divmod(pair, len(self._sizes))

    def _may_be_alike(self, first: Any, second: Any) -> Any:
        """Sets of Jaccard similarity t differ in (1 - t) / (1 + t) of the sum of their sizes; a sketch in no more bits."""
        import numpy as np

        one, other = self._sizes[first], self._sizes[second]
        differing = np.bitwise_count(self._bits[first] ^ self._bits[second]).sum(axis=1)
        share = (1 - self._threshold) / (1 + self._threshold)
        return (np.minimum(one, other) + 1 >= self._threshold * np.maximum(one, other)) & (differing <= share * (one + other) + 2)


def _sharers(hashed: HashedWords) -> Iterator[tuple[int, int]]:
    """Pairs of which the first may stand inside the second: all its runs of words occur elsewhere, the rarest of them there.

    The first and the last word are left out: punctuation may make them others than in the text around them.
    """
    import numpy as np

    count = len(hashed.hashes) - RUN + 1
    if count < 1:
        return
    runs = np.zeros(count, np.uint64)
    for at in range(RUN):
        runs = (runs ^ (runs >> np.uint64(31))) * np.uint64(0xC2B2AE3D27D4EB4F) + hashed.hashes[at : at + count]
    runs *= np.uint64(0x9E3779B97F4A7C15)
    texts = len(hashed.counts)
    owner = np.repeat(np.arange(texts), hashed.counts)
    ends = np.cumsum(hashed.counts)
    place = np.arange(len(owner))
    whole = (place + RUN <= ends[owner])[:count]
    inner = whole & (place + RUN < ends[owner])[:count] & (place > (ends - hashed.counts)[owner])[:count]
    buckets = _bucket(runs)
    frequency = np.bincount(buckets[whole], minlength=_size(len(hashed.hashes)))[buckets]
    rarest = np.full(texts, len(runs))
    np.minimum.at(rarest, owner[:count][inner], frequency[inner])
    wanted = (hashed.counts >= LEAST_INSIDE) & (rarest > 1)
    probes: dict[int, list[int]] = {}
    asking = np.flatnonzero(inner & wanted[owner[:count]])
    asking = asking[frequency[asking] == rarest[owner[asking]]]
    for text, at in zip(*np.unique(owner[asking], return_index=True), strict=True):
        probes.setdefault(int(buckets[asking[at]]), []).append(int(text))
    chosen = np.zeros(_size(len(hashed.hashes)), bool)
    chosen[list(probes)] = True
    holding = np.flatnonzero(whole & chosen[buckets])
    pairs = {(text, other) for at in holding for other in (int(owner[at]),) for text in probes[int(buckets[at])] if text != other}
    yield from sorted(pairs)


def _size(count: int) -> int:
    """Buckets of a table for so many things: a power of two, at least two and a half for each."""
    return 1 << max(10, int(count * 2.5).bit_length())


def _bucket(hashes: Any) -> Any:
    import numpy as np

    return (hashes >> np.uint64(65 - _size(len(hashes)).bit_length())).astype(np.int64)


def _frequency(hashes: Any) -> Any:
    """How often the bucket of a hash occurs: 1 says that its word occurs once."""
    import numpy as np

    return np.bincount(_bucket(hashes), minlength=_size(len(hashes)))


_OPPOSITES = (
    "voor before|na after",
    "toegestaan toegelaten allowed permitted mag may|verboden forbidden prohibited",
    "verplicht mandatory required obligatory|vrijwillig optional optioneel facultatief",
    "minstens minimaal minimum least|hoogstens maximaal maximum most",
    "open geopend|dicht gesloten closed",
    "links linker left|rechts rechter right",
    "stijgt stijging toename increase increases increased rises rose more meer|daalt daling afname decrease decreases "
    "decreased falls fell less minder",
    "gratis free kosteloos|betalend betalen paid",
    "met with inclusief including|zonder without exclusief excluding",
    "altijd always|nooit never soms sometimes",
    "ochtend voormiddag morning|namiddag afternoon avond evening",
    "enabled ingeschakeld aan on|disabled uitgeschakeld uit off",
    "start begin begint starts begins|einde eindigt end ends",
    "boven above over|onder below under",
    "true waar|false onwaar",
)


_SHORT_UNITS = {"u": "hour", "s": "second", "pond": "pounds", "pound": "pounds"}
_ANSWERS_NO = frozenset(("nee", "nein", "non"))
_DOUBLE = frozenset(("dubbel", "dubbele", "double", "twice", "tweemaal"))
_NO_MONTHS = frozenset(("may", "mar", "jan", "sep", "dec"))
"""Short names of months that are words or names too."""
_SIDES = tuple((frozenset(one.split()), frozenset(other.split())) for one, _, other in (row.partition("|") for row in _OPPOSITES))
_TOKEN = re.compile(r"\d+(?:[.,:uh]\d+)*|[^\W\d_]+(?:['’]t\b)?|[€$£%]")
_WORD = re.compile(r"\w+")
_CAPITALISED = re.compile(r"\b[A-Z]\w*")
_MID_SENTENCE = r"(?<=[^\W_][ ,;])%s\b"


class Facts(NamedTuple):
    """What of a text must be the same: its figures in order and its number of negations.

    `leaning` has a bit for every pair of opposites of which the text has only the one side, and for the other side likewise.
    `capitalised` are the words, in lower case as `words`, that somewhere begin with a capital.
    """

    figures: tuple[str, ...]
    negations: int
    leaning: tuple[int, int]
    words: frozenset[str]
    capitalised: frozenset[str]


def say_the_same(one: str, other: str) -> bool:
    """Whether nothing speaks against two texts that are much alike saying the same. Symmetric."""
    first, second = facts_of(one), facts_of(other)
    if first.figures != second.figures or first.negations != second.negations:
        return False
    if first.leaning[0] & second.leaning[1] or first.leaning[1] & second.leaning[0]:
        return False
    return not (_names_more(one, first, second) or _names_more(other, second, first))


def _names_more(text: str, own: Facts, other: Facts) -> bool:
    """Whether `text` has a name, a word in capitals or capitalised in mid-sentence, that the other text does not have."""
    return any(_is_name(text, word) for word in own.capitalised - other.words)


@lru_cache(maxsize=8192)
def _is_name(text: str, word: str) -> bool:
    written = {found for found in _CAPITALISED.findall(text) if found.lower() == word}
    return any((len(form) > 1 and form.isupper()) or re.search(_MID_SENTENCE % re.escape(form), text) for form in written)


@lru_cache(maxsize=8192)
def facts_of(text: str) -> Facts:
    """The facts of a text, kept for the next comparison."""
    tokens = _TOKEN.findall(text.lower())
    different = frozenset(tokens)
    telling = {word for word in different if word[0].isdecimal() or _denies(word) or _worth(word)}
    figures: list[str] = []
    negations = 0
    for at, token in enumerate(tokens):
        if token not in telling:
            continue
        if figure := _spelled(token) if token[0].isdecimal() else _worth(token):
            figures += [figure, *_unit(tokens, at)]
        else:
            negations += 1
    words = frozenset([word.lower() for word in set(_WORD.findall(text))])
    capitalised = frozenset([word.lower() for word in _CAPITALISED.findall(text)])
    return Facts(tuple(figures), negations, _leaning(different), words, capitalised)


def _leaning(words: frozenset[str]) -> tuple[int, int]:
    ones = others = 0
    for bit, (one, other) in enumerate(_SIDES):
        has_one, has_other = not one.isdisjoint(words), not other.isdisjoint(words)
        ones |= (has_one and not has_other) << bit
        others |= (has_other and not has_one) << bit
    return ones, others


def _denies(word: str) -> bool:
    return is_denial(word) or word in EXCEPTIONS or word in _ANSWERS_NO


@lru_cache(maxsize=8192)
def _worth(word: str) -> str | None:
    """What a word for a number, a month or a day stands for. Words for one are none of these: they are articles too."""
    if word in _DOUBLE:
        return "x2"
    if word in MONTHS and word not in _NO_MONTHS:
        return f"month {MONTHS[word]}"
    value = SCALES.get(word) or HALVES.get(word) or number_of(word)
    return WEEKDAYS.get(word) if value in (None, 1) else f"{value:.15g}"


def _spelled(number: str) -> str:
    """A number in one spelling: 1.000 is 1000, 12,50 is 12.5, 9u30 and 9:30 are 9.3."""
    parts = re.split("[.,:uh]", number)
    if len(parts[-1]) == 3 and parts[0] != "0":
        parts = ["".join(parts)]
    spelled = ".".join([parts[0].lstrip("0") or "0", *parts[1:]])
    return spelled.rstrip("0").rstrip(".") if len(parts) > 1 else spelled


def _unit(tokens: list[str], at: int) -> list[str]:
    """The currency before a number or the unit after it, if there is one."""
    before, after = tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""
    if currency := CURRENCIES.get(before) or CURRENCIES.get(after):
        return [f"{currency} 1"]
    unit = UNITS.get(_SHORT_UNITS.get(after, after))
    return [f"{unit[0]} {unit[1]:g}"] if unit else []


ROWS = 512
"""Texts whose cosines with all others are worked out at a time."""


class Link(NamedTuple):
    """Text `second` repeats text `first` (positions among the different texts). `mutual`: also the other way round.

    `agreed` is False where the two differ in figures, names or negation: then only a newer edition stands for an older.
    """

    first: int
    second: int
    likeness: Likeness
    similarity: float
    mutual: bool = True
    agreed: bool = True


def links_of(texts: Sequence[FetchedChunk], settings: AssemblySettings, vectors: ChunkVectors | None) -> list[Link]:
    """The strongest link of each pair of different texts that has one.

    Raises InvalidInput where semantic copies are asked for and `vectors` is None or cannot be had.
    """
    found: dict[tuple[int, int], Link] = {}
    bodies = [chunk.text for chunk in texts]
    keep_loose = settings.dedup_keep == "newest"
    if settings.dedup_near:
        words = Words(bodies)
        for small, large, similarity in words.inside():
            found[min(small, large), max(small, large)] = Link(large, small, "near", similarity, mutual=False)
        _add(found, words.alike(settings.near_threshold), "near", bodies, keep_loose)
    if settings.dedup_semantic:
        if vectors is None:
            raise InvalidInput("dedup_semantic needs an embedder, got none: pip install wordllama, or switch dedup_semantic off")
        _add(found, _alike_in_meaning(texts, settings.semantic_threshold, vectors), "semantic", bodies, keep_loose)
    return list(found.values())


def _add(
    found: dict[tuple[int, int], Link], pairs: Iterable[tuple[int, int, float]], likeness: Likeness, bodies: Sequence[str], keep_loose: bool
) -> None:
    for first, second, similarity in pairs:
        if (first, second) in found:
            continue
        agreed = say_the_same(bodies[first], bodies[second])
        if agreed or keep_loose:
            found[first, second] = Link(first, second, likeness, similarity, agreed=agreed)


def _alike_in_meaning(texts: Sequence[FetchedChunk], threshold: float | None, vectors: ChunkVectors) -> list[tuple[int, int, float]]:
    """Pairs of a cosine of at least the threshold, in portions of rows, so that memory grows with the texts and not their square."""
    import numpy as np

    if len(texts) < 2:
        return []
    least = vectors.threshold if threshold is None else threshold
    rows = np.asarray(vectors.vectors(texts), dtype=np.float32)
    found: list[tuple[int, int, float]] = []
    for start in range(0, len(rows), ROWS):
        # Rounded, because the last digits depend on how the rows were portioned.
        cosines = np.round(_product(rows[start : start + ROWS], rows[start:], np), 5)
        for one, other in np.argwhere(np.triu(cosines >= least - 1e-9, 1)).tolist():
            found.append((start + one, start + other, min(1.0, float(cosines[one, other]))))
    return found


def _product(one: Any, other: Any, np: Any) -> Any:
    """All dot products. A small one in this thread: the threads of a large one wait for cores, 30 ms on a busy machine."""
    return np.einsum("ij,kj->ik", one, other) if len(other) <= 256 else one @ other.T
