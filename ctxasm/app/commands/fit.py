"""`ctxasm fit`: the weights of budget_policy=learned, fitted on the labelled questions of your own datasets.

One half of the questions fits, by a digest of their ids; of the other half it is said how many more have all their evidence
in the context than with the weights before, with a 95 % interval. Nothing is used before you say so: CTXASM_VALUE_WEIGHTS=FILE.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.common import Command, add_database, require_data, say, workbench_of, write_result
from ctxasm.config import VALUE_WEIGHTS
from ctxasm.model.amounts import counted, interval, signed



def add_fit(parser: ArgumentParser) -> None:
    """--data (repeatable), --out, --db."""
    parser.add_argument("--data", metavar="NAME", action="append", help="dataset with labelled questions; repeatable (default: the newest)")
    parser.add_argument("--out", metavar="FILE", help="where to write the weights (default: standard output)")
    add_database(parser)


def run_fit(args: Namespace) -> int:
    """Print or write the weights; what they gain goes to standard error."""
    from ctxasm.tuning.fit import LIMITS, Labelled, fit, weights_toml

    workbench = workbench_of(args)
    require_data(workbench)
    datasets = [workbench.dataset(name) for name in args.data or [None]]
    labelled = [
        Labelled(query, dataset, dataset.document_chunks)
        for dataset in datasets
        for query in dataset.queries()
        if query.retrieved and query.is_labelled
    ]
    fitted = fit(labelled, workbench.counter("cl100k_base"), workbench.weights())
    names, gain = ", ".join(dataset.info.name for dataset in datasets), fitted.gain
    limits = ", ".join(f"{limit:,}" for limit in LIMITS)
    told = (
        f"Fitted by `ctxasm fit` on {counted(fitted.questions, 'question')} of {names}: the half of even SHA-256 of their ids.",
        f"On the other {gain.questions}, at {limits} tokens, all evidence is in {gain.after:.3f} of the contexts, {signed(gain.gain, 3)} "
        f"{interval(gain.low, gain.high, 3)} against the weights before.",
    )
    text = weights_toml(fitted.weights, told)
    for line in told:
        say(line)
    if args.out is None:
        print(text, end="")
        return 0
    write_result("--out", args.out, text)
    if gain.low > 0:
        say(f"{args.out} written. To use it: {VALUE_WEIGHTS}={args.out}")
    else:
        say(f"{args.out} written. The interval does not exclude that nothing is gained: the weights before are the safer choice.")
    return 0


FIT = Command(
    "fit the weights of budget_policy=learned on labelled questions, and say what that gains",
    """`ctxasm fit`: the weights of budget_policy=learned, fitted on the labelled questions of your own datasets.

One half of the questions fits, by a digest of their ids; of the other half it is said how many more have all their evidence
in the context than with the weights before, with a 95 % interval. Nothing is used before you say so: CTXASM_VALUE_WEIGHTS=FILE.
""",
    add_fit,
    run_fit,
)
