"""What the tests of the adapters share: the data that ships, as the workbench knows it, and settings as it copies them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ctxasm import AssemblySettings, Bundle, MemoryStore, Query, load_bundle
from ctxasm.app.workbench import Workbench
from ctxasm.config import Config, shipped
from ctxasm.model.settings_text import to_toml

SETTINGS = (
    AssemblySettings(),
    AssemblySettings(expand_window=2, max_tokens=900, citation_unit="passage"),
    AssemblySettings(max_tokens=600, format="xml", ordering="bookend", budget_policy="greedy"),
    AssemblySettings(format="source", citation_unit="chunk", summary_prefix=False, top_k=4),
    AssemblySettings(enabled=False),
)
TOML = [to_toml(settings) for settings in SETTINGS]


@cache
def sample() -> Bundle:
    return load_bundle(shipped("sample_data/hospital-nl"))


def asked(count: int) -> list[Query]:
    """Questions with their hits, and nothing that a retriever of a framework would not return (a supplement)."""
    return [replace(query, supplement=None) for query in sample().queries[:count]]


def workbench() -> Workbench:
    store = MemoryStore()
    store.add(sample())
    return Workbench(Config("sqlite://"), store)
