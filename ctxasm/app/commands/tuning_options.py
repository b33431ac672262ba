"""What compare, sweep and recommend take alike."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import Any

from ctxasm.app.commands.options import add_dataset
from ctxasm.model.presets import PRESETS, preset
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import from_assignments, from_environment, read_settings


def add_run(parser: ArgumentParser, *formats: str) -> None:
    """--query-id, --engine, --no-keep, --format, --data, --db."""
    parser.add_argument("--query-id", metavar="ID", action="append", help="only this question; repeatable (default: all of the dataset)")
    parser.add_argument(
        "--engine",
        metavar="NAME",
        default="local",
        help="who counts: local (this process), cores or cores:N, dask or dask:ADDRESS (default: local)",
    )
    parser.add_argument("--no-keep", action="store_true", help="keep no outcomes in the database, and use none that are kept")
    parser.add_argument("--format", choices=("text", "json", *formats), default="text")
    add_dataset(parser)


def run_options(args: Namespace) -> dict[str, Any]:
    """What `add_run` took, as the use cases name it."""
    return {"dataset": args.data, "query_ids": args.query_id, "engine": args.engine, "keep": not args.no_keep}


def settings_named(parts: Iterable[str]) -> AssemblySettings:
    """Settings put together of presets, TOML files and `name=value`, each on top of those before it; none: those of the environment.

    Raises InvalidInput, InvalidSetting.
    """
    settings = from_environment(os.environ)
    for part in parts:
        if part in PRESETS:
            settings = preset(part)
        elif "=" in part:
            settings = from_assignments([part], settings)
        else:
            settings = read_settings(part, settings)
    return settings


def as_json(value: Any) -> str:
    """A result as JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
