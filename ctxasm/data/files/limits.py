"""How large a file may be that somebody hands in, and the sentences that refuse a larger one."""

from __future__ import annotations

from dataclasses import dataclass

from ctxasm.data.archives import ZipLimits
from ctxasm.model.errors import InvalidInput

MB = 2**20


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Of one load: bytes of a file as it comes, rows and columns of a table, how many times its size it may unpack to.

    A cell is at most `cell_chars` characters, and a load at most `cells` values in all: a few bytes of a file can stand for
    a hundred bytes of memory. What is packed may unpack to `unpacked_bytes`.
    """

    upload_bytes: int = 200 * MB
    rows: int = 1_000_000
    columns: int = 1_000
    ratio: int = 200
    cell_chars: int = 10_000_000
    cells: int = 25_000_000
    unpacked_bytes: int = 512 * MB

    def of_zip(self) -> ZipLimits:
        """The limits by which an archive is opened."""
        return ZipLimits(total_bytes=max(self.unpacked_bytes, self.upload_bytes), ratio=self.ratio)

    def check_bytes(self, file: str, count: int) -> None:
        """Raise InvalidInput where a file is too large."""
        if count > self.upload_bytes:
            allowed = f"{self.upload_bytes / MB:,.0f} MB"
            raise refused(file, f"it is {count / MB:,.1f} MB, allowed are {allowed}", "CTXASM_MAX_UPLOAD_MB")

    def check_rows(self, file: str, count: int) -> None:
        """Raise InvalidInput where a table has too many rows."""
        if count > self.rows:
            raise refused(file, f"it has more than {self.rows:,} rows", "CTXASM_MAX_ROWS")

    def check_columns(self, file: str, count: int, of: str = "it has") -> None:
        """Raise InvalidInput where a table has too many columns."""
        if count > self.columns:
            raise refused(file, f"{of} {count:,} columns, allowed are {self.columns:,}", "CTXASM_MAX_COLUMNS")

    def check_cells(self, file: str, count: int) -> None:
        """Raise InvalidInput where a table holds too many values."""
        if count > self.cells:
            raise InvalidInput(f"{file} is refused: it holds more than {self.cells:,} values, which would fill the memory; split it")

    def check_ratio(self, file: str, packed: int, unpacked: int) -> None:
        """Raise InvalidInput where something unpacks to far more than it is."""
        if unpacked > self.unpacked_bytes:
            most = f"{self.unpacked_bytes / MB:,.0f} MB"
            raise InvalidInput(f"{file} is refused: it unpacks to more than {most}; split it")
        if unpacked > MB and unpacked > self.ratio * max(1, packed):
            raise refused(file, f"it unpacks to more than {self.ratio} times its size", "CTXASM_MAX_RATIO")


def refused(file: str, why: str, variable: str) -> InvalidInput:
    """The error that names the limit and the variable that sets it."""
    return InvalidInput(f"{file} is refused: {why}; split it, or set {variable} to allow more")
