"""The file of annotations that `check` and `why` write, beside what they print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxasm.app.commands.options import say
from ctxasm.citations.annotations import annotations_body, annotations_of, otel_span_id
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, shown

if TYPE_CHECKING:
    from ctxasm.citations.checked_answer import CheckedAnswer

HELP = (
    "write the verdicts as annotations of the spans that gave the answers, as Phoenix takes them (the body of POST /v1/span_annotations); "
    "span ids come with a loaded trace"
)


class Annotations:
    """Collects annotations, and writes them at the end. Raises InvalidInput where the file cannot be written."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._found: list[dict[str, Any]] = []
        self._without = 0
        try:
            self._path.open("ab").close()
        except (OSError, ValueError) as error:
            raise InvalidInput(f"--annotations cannot write to {shown(path, 300)}: {error}") from None

    def answer(self, checked: CheckedAnswer, span_id: str | None) -> str | None:
        """Those of a checked answer; the id of the span they are of, None where the answer came from none."""
        known = otel_span_id(span_id)
        if known is None:
            self._without += 1
        else:
            self._found += annotations_of(checked, known)
        return known

    def add(self, annotation: dict[str, Any]) -> None:
        """One more."""
        self._found.append(annotation)

    def write(self) -> None:
        """Write the file, and say for how many answers there is no span."""
        text = json.dumps(annotations_body(self._found), ensure_ascii=False, allow_nan=False, indent=1)
        self._path.write_text(text.encode("utf-8", "replace").decode() + "\n", encoding="utf-8")
        spans = len({one["span_id"] for one in self._found})
        say(f"{counted(len(self._found), 'annotation')} of {counted(spans, 'span')} in {self._path}")
        if self._without:
            say(f"{counted(self._without, 'answer')} came with no OpenTelemetry span id: load the trace with it")
