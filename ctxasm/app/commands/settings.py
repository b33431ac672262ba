"""`ctxasm settings`: the table of settings, or the values that a command line means."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.common import Command, add_dataset, add_settings, as_json, settings_of, snippet_url, workbench_of
from ctxasm.app.integrations.settings_forms import FORMS, FRAMEWORKS, written_as
from ctxasm.model.errors import NotFound
from ctxasm.model.settings import AssemblySettings, specs
from ctxasm.model.settings_text import ENVIRONMENT_PREFIX, write



def add_settings_table(parser: ArgumentParser) -> None:
    """--format, the settings themselves, and the dataset that a snippet names."""
    parser.add_argument("--format", choices=("text", "json", *FORMS), default="text")
    add_settings(parser)
    add_dataset(parser)


def run_settings(args: Namespace) -> int:
    """Print the table (text, json) or what differs from the defaults, written down."""
    settings = settings_of(args)
    if args.format in FORMS:
        is_snippet = args.format in FRAMEWORKS
        dataset, url = (_dataset(args), snippet_url(args)) if is_snippet else (None, None)
        print(written_as(settings, args.format, dataset, url=url), end="")
    elif args.format == "json":
        print(as_json(rows(settings)))
    else:
        print(table(settings))
    return 0


def _dataset(args: Namespace) -> str | None:
    """The dataset that neighbours come from: the one that is named, else the newest; None where there is none yet."""
    if args.data is not None:
        return str(args.data)
    try:
        return workbench_of(args).dataset().info.name
    except NotFound:
        return None


def rows(settings: AssemblySettings) -> list[dict[str, object]]:
    """One row a setting, in the order of the table."""
    return [
        {
            "name": spec.name,
            "value": getattr(settings, spec.name),
            "default": spec.default,
            "allowed": spec.allowed,
            "url": spec.url,
            "environment": ENVIRONMENT_PREFIX + spec.name.upper(),
            "stage": spec.stage,
            "help": spec.help,
        }
        for spec in specs()
    ]


def table(settings: AssemblySettings) -> str:
    """The same as aligned text; a value that differs from its default is marked with a star."""
    cells = [("NAME", "VALUE", "DEFAULT", "URL", "ALLOWED", "HELP")]
    for spec in specs():
        value = getattr(settings, spec.name)
        mark = "" if value == spec.default else " *"
        cells.append((spec.name, write(spec, value) + mark, write(spec, spec.default), spec.url, spec.allowed, spec.help))
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    return "\n".join("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[5]]).rstrip() for row in cells)


SETTINGS = Command(
    "show every setting: value, default, allowed values, URL key, what it does",
    """`ctxasm settings`: the table of settings, or the values that a command line means.""",
    add_settings_table,
    run_settings,
)
