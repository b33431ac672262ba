"""Which texts have nearly the same words, and which stand word for word inside another.

*Alike*: the Jaccard similarity of their sets of words, as in the token-budget guide, is at least a threshold. *Inside*: all
words of one stand in the other in the same order and uninterrupted (so that whatever it says is said there), and they are
at least `LEAST_INSIDE`.

Found by an exact join instead of a loop over all pairs, after "Scaling up all pairs similarity search" (Bayardo, Ma,
Srikant 2007): texts that are alike share one of their few rarest words, so only these are looked up. A sketch of 512 bits
(two sketches differ in no more bits than the sets in words) discards most of what that brings, and what is left is compared
word by word. Measured on 2,000 real chunks beside MinHash: datasketch takes twice as long and misses 54 of 429 pairs; rensa
is fast and missed none, but may, and needs the same comparison for its 487 false ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ctxasm.assembly.deduplicate.hashed_words import HashedWords, hash_words, prepared

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
