"""`ctxasm recommend`: which settings to ship for a dataset, and how sure that is.

It tries curated settings at your limit and below beside yours, and proposes another one only where your labelled questions show that it
holds more, or as much for fewer tokens; with few labels also where other corpora say so and your questions agree.
--format toml, environment, link, python, langchain or llamaindex writes the settings down.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.common import (
    Command,
    INTERRUPTED,
    add_run,
    add_settings,
    as_json,
    cancel_on_interrupt,
    require_data,
    run_options,
    say,
    settings_of,
    show,
    snippet_url,
    terminal_progress,
    workbench_of,
)
from ctxasm.app.integrations.settings_forms import FORMS, FRAMEWORKS, written_as



def add_recommend(parser: ArgumentParser) -> None:
    """--delta, --seed, the settings to start from, and what every run takes."""
    parser.add_argument(
        "--delta", type=float, metavar="SHARE", help="what something cheaper may lose, and the gain not to be missed (default: 0.05)"
    )
    add_settings(parser)
    add_run(parser, *FORMS)


def run_recommend(args: Namespace) -> int:
    """Print the sentences and the settings."""
    from ctxasm.app.tuning_runs import recommendation

    start, workbench = settings_of(args), workbench_of(args)
    require_data(workbench)
    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        found = recommendation(workbench, start, delta=args.delta, report=report, cancelled=cancelled, **run_options(args))
        if cancelled():
            say("ended before all questions were counted; the same command goes on")
            return INTERRUPTED
    if args.format == "json":
        print(as_json(found.to_dict()))
    elif args.format == "text":
        show("\n".join([*found.sentences(), f"Labels: {found.gold}."]))
        show(f"\n{written_as(found.settings, 'toml', origin=found.origin())}", end="")
    else:
        for sentence in (*found.sentences(), f"Labels: {found.gold}."):
            say(sentence)
        url = snippet_url(args) if args.format in FRAMEWORKS else None
        show(written_as(found.settings, args.format, found.found.dataset, found.origin(), url), end="")
    return 0


RECOMMEND = Command(
    "recommend settings for a dataset, with the gain, its interval, the cost and what is lost",
    """`ctxasm recommend`: which settings to ship for a dataset, and how sure that is.

It tries curated settings at your limit and below beside yours, and proposes another one only where your labelled questions show that it
holds more, or as much for fewer tokens; with few labels also where other corpora say so and your questions agree.
--format toml, environment, link, python, langchain or llamaindex writes the settings down.
""",
    add_recommend,
    run_recommend,
)
