"""Which models the environment names, as whoever needs one asks for it."""

from __future__ import annotations

from typing import Literal, Protocol

from ctxasm.llm.endpoint import Endpoint

Purpose = Literal["answer", "judge", "compress", "embed", "enrich", "rerank"]


class ConfiguredModels(Protocol):
    """The models that are configured. Nothing is opened here."""

    @property
    def has_endpoint(self) -> bool:
        """Whether a language model is configured: its address and its name."""
        ...

    @property
    def answer_model(self) -> str | None:
        """The name of the language model, where one is named."""
        ...

    @property
    def embed_model(self) -> str | None:
        """The name of the embedding model of a server, where one is configured."""
        ...

    def endpoint(self, purpose: Purpose) -> Endpoint:
        """Where the model for this lives. Raises InvalidInput naming what to set where there is none."""
        ...

    def rerank_folder(self) -> str:
        """The folder of a cross-encoder of the user's own. Raises InvalidInput naming what to set where there is none."""
        ...
