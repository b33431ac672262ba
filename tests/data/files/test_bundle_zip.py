"""A .zip is hostile until checked: each attack gives one sentence."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from ctxasm.data.archives import ZipLimits
from ctxasm.data.files import load_bundle, load_bundle_bytes
from ctxasm.model.errors import InvalidBundle, InvalidInput

CHUNK = json.dumps({"document_id": "a", "chunk_index": 0, "text": "hello"})


def packed(*entries: tuple[str | zipfile.ZipInfo, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("top", ["", "my bundle/"])
def test_a_zip_with_or_without_one_top_folder(tmp_path: Path, top: str) -> None:
    data = packed((top + "chunks.jsonl", CHUNK), (top + "README.md", "x"), ("__MACOSX/._x", ""))
    (tmp_path / "faq.zip").write_bytes(data)
    assert load_bundle(tmp_path / "faq.zip").name == "faq"
    assert load_bundle_bytes(data, "faq.zip") == load_bundle(tmp_path / "faq.zip")


def _link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("chunks.jsonl")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([("../chunks.jsonl", CHUNK)], "points outside the archive"),
        ([("a/..\\..\\chunks.jsonl", CHUNK)], "points outside the archive"),
        ([("/etc/chunks.jsonl", CHUNK)], "points outside the archive"),
        ([("C:/chunks.jsonl", CHUNK)], "points outside the archive"),
        ([(_link(), "/etc/passwd")], "symbolic link"),
        ([("chunks.jsonl", b"\n" * 3_000_000)], "more than 200 times its size"),
        ([("readme.txt", "x")], "needs at least one of documents.jsonl"),
        ([("a/chunks.jsonl", CHUNK), ("b/chunks.jsonl", CHUNK)], "needs at least one of"),
        ([], "it is empty"),
    ],
)
def test_hostile_or_useless_archives(entries: list[tuple[str | zipfile.ZipInfo, str | bytes]], words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        load_bundle_bytes(packed(*entries), "x.zip")
    assert "\n" not in str(caught.value)


def test_limits() -> None:
    data = packed(("chunks.jsonl", CHUNK), ("other.txt", "y"))
    with pytest.raises(InvalidInput, match=r"has 2 entries, allowed are 1"):
        load_bundle_bytes(data, "x.zip", limits=ZipLimits(entries=1))
    with pytest.raises(InvalidInput, match=r"unpacks to .* MB, allowed are 0 MB; split it, or give the unpacked folder"):
        load_bundle_bytes(data, "x.zip", limits=ZipLimits(total_bytes=10))
    assert load_bundle_bytes(data, "x.zip").chunks


def test_an_encrypted_entry() -> None:
    data = bytearray(packed(("chunks.jsonl", CHUNK)))
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + flags] |= 1
    with pytest.raises(InvalidInput, match="encrypted"):
        load_bundle_bytes(bytes(data), "x.zip")


def test_the_same_name_twice() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = packed(("chunks.jsonl", CHUNK), ("chunks.jsonl", CHUNK))
    with pytest.raises(InvalidInput, match="two entries of the same name"):
        load_bundle_bytes(data, "x.zip")


def test_the_same_name_in_two_spellings() -> None:
    data = packed(("map/chunks.jsonl", CHUNK), ("map\\chunks.jsonl", CHUNK))
    with pytest.raises(InvalidInput, match="two entries of the same name"):
        load_bundle_bytes(data, "x.zip")


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04" + b"\0" * 50])
def test_no_zip_at_all(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"x\.zip is not a \.zip that can be read"):
        load_bundle_bytes(data, "x.zip")


def test_every_damaged_byte_gives_a_bundle_or_a_sentence() -> None:
    good = packed(("chunks.jsonl", CHUNK))
    for position in range(len(good)):
        data = bytearray(good)
        data[position] ^= 0xFF
        with suppress(InvalidInput, InvalidBundle):  # anything else fails the test
            load_bundle_bytes(bytes(data), "x.zip")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["deflate", "bzip2", "lzma"])
def test_an_entry_that_does_not_unpack_is_a_problem(method: int) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("chunks.jsonl", CHUNK * 50)
    data = bytearray(stream.getvalue())
    low = data.index(b"chunks.jsonl") + len("chunks.jsonl")
    data[low + 4 : low + 40] = b"\xff" * 36
    with pytest.raises(InvalidBundle, match=r"chunks\.jsonl: cannot be read"):
        load_bundle_bytes(bytes(data), "x.zip")
