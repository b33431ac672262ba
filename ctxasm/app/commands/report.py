"""`ctxasm report RUN… -o FILE`: kept answers as one HTML file that can be printed, sent and opened without a server.

  ctxasm history                                      the runs that there are
  ctxasm report RUN -o answer.html                    one answer, with its sources and what reviewers say of it
  ctxasm report --batch log -o review.html            all that were kept under a name

Of a sweep or a comparison: `ctxasm sweep --out FILE.html`, `ctxasm compare --out FILE.html`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.common import Command, add_dataset, check_writable, say, workbench_of, write_result
from ctxasm.app.report.making import report_runs
from ctxasm.app.reviews import run_ids_of
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput
from ctxasm.model.runs import RunFilter



def add_report(parser: ArgumentParser) -> None:
    """RUN…, --batch, --out, --data, --db."""
    parser.add_argument("run_id", nargs="*", metavar="RUN", help="the runs, as `ctxasm history` lists them")
    parser.add_argument("--batch", metavar="NAME", help="the runs that were kept under this name")
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="the HTML file to write")
    add_dataset(parser)


def run_report(args: Namespace) -> int:
    """Write the file."""
    if bool(args.run_id) == (args.batch is not None):
        raise InvalidInput("report takes the ids of runs, or --batch NAME: `ctxasm history` lists both")
    workbench = workbench_of(args)
    run_ids = args.run_id or run_ids_of(workbench, RunFilter(args.data, args.batch))
    check_writable("--out", args.out)
    text = report_runs(workbench, run_ids)
    write_result("--out", args.out, text)
    say(f"{counted(len(run_ids), 'run')} in {args.out}, {len(text.encode()):,} bytes")
    return 0


REPORT = Command(
    "write kept answers, with their sources and reviews, as one HTML file",
    """`ctxasm report RUN… -o FILE`: kept answers as one HTML file that can be printed, sent and opened without a server.

  ctxasm history                                      the runs that there are
  ctxasm report RUN -o answer.html                    one answer, with its sources and what reviewers say of it
  ctxasm report --batch log -o review.html            all that were kept under a name

Of a sweep or a comparison: `ctxasm sweep --out FILE.html`, `ctxasm compare --out FILE.html`.
""",
    add_report,
    run_report,
)
