"""How many tokens a model's server counts for one of ours: learned from every answer whose server says it, kept for the next plan.

A vocabulary that is not known here cannot be counted, only compared with. The margin that a window needs for it is the upper end of what
was seen, and widens where two prompts differ much.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from threading import RLock
from typing import NamedTuple

from ctxasm.answering.sent_tokens import SentTokens
from ctxasm.answering.zones.windows import name_forms
from ctxasm.model.kept import key_of
from ctxasm.model.ports import Shelf

LEAST_TOKENS = 100
"""A shorter prompt says more of the server's template than of its vocabulary."""
MOST_READINGS = 50
"""Prompts of a model that are kept, the newest."""
MOST_MODELS = 100
"""Models that are kept, those asked last."""
SHELF = "token ratios"


class TokenRatio(NamedTuple):
    """Tokens by a server's count for one in `encoding`: the least and the most seen, over `prompts`; `upper` is what to reckon with."""

    encoding: str
    low: float
    high: float
    prompts: int
    upper: float


class _Model(NamedTuple):
    """What was seen of a model under its name; `ratios` has one of each prompt, the newest last."""

    name: str
    encoding: str
    ratios: tuple[float, ...]


def upper_end(ratios: Sequence[float]) -> float:
    """Where the next ratio may end, rounded up to a hundredth.

    The unbiased estimate of the upper end of a uniform spread: the highest of n, and beyond it the spread over n - 1.
    """
    high = max(ratios)
    beyond = (high - min(ratios)) / (len(ratios) - 1) if len(ratios) > 1 else 0.0
    return math.ceil(round((high + beyond) * 100, 6)) / 100


class TokenRatios:
    """What was learned of the models. `shelf` is where it outlasts the process; without one it does not. May be shared by threads.

    A model stands under the name that it answers with ("m at host:port"): neither a key nor a whole address is kept.
    """

    def __init__(self, shelf: Callable[[], Shelf] | None = None) -> None:
        self._shelf = shelf
        self._known: dict[str, _Model] | None = None
        self._lock = RLock()

    def learn(self, model: str, sent: SentTokens | None) -> None:
        """Take over what the server of `model` counted for this prompt, where it says and seems to have read all of it.

        Raises StoreUnavailable where it cannot be kept; this process knows it all the same.
        """
        if sent is None or sent.server is None or not sent.exact or sent.was_cut or sent.tokens < LEAST_TOKENS or not sent.server.prompt:
            return
        key = key_of(model, sent.encoding)
        with self._lock:
            known = self._models()
            before = known.pop(key, _Model(model, sent.encoding, ()))
            ratio = round(sent.server.prompt / sent.tokens, 4)
            known[key] = found = before._replace(ratios=(*before.ratios, ratio)[-MOST_READINGS:])
            gone = list(known)[:-MOST_MODELS]
            for each in gone:
                del known[each]
            if self._shelf is not None:
                self._shelf().keep(SHELF, {key: json.dumps(found._asdict())})
                if gone:
                    self._shelf().forget(SHELF, gone)

    def find(self, model: str, encoding: str) -> TokenRatio | None:
        """What is known of the models of this name, wherever they run; None where nothing is. Raises StoreUnavailable."""
        wanted = set(name_forms(model))
        with self._lock:
            found = [one for one in self._models().values() if one.encoding == encoding and wanted & _forms(one.name)]
        if not found:
            return None
        every = [ratio for one in found for ratio in one.ratios]
        return TokenRatio(encoding, min(every), max(every), len(every), max(upper_end(one.ratios) for one in found))

    def _models(self) -> dict[str, _Model]:
        if self._known is None:
            kept = self._shelf().read_kept(SHELF) if self._shelf is not None else {}
            read = {key: json.loads(text) for key, text in kept.items()}
            self._known = {key: _Model(each["name"], each["encoding"], tuple(each["ratios"])) for key, each in read.items()}
        return self._known


def _forms(served: str) -> set[str]:
    """The names of a model that answers as "m at host", or simply as "m"."""
    return {*name_forms(served), *name_forms(served.rpartition(" at ")[0])}
