"""What a first page needs, imported while the browser is still loading its own part. Nothing here has an effect but time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator

MODULES = ("ctxasm.store.database", "ctxasm.pipeline", "ctxasm.ui.shell", "ctxasm.ui.scenes", "ctxasm.ui.views.stages", "ctxasm.ui.figures")


@contextlib.asynccontextmanager
async def warming(_app: object) -> AsyncIterator[None]:
    """The life of the server: as soon as it listens, imports run in a thread that never keeps the process alive."""
    threading.Thread(target=_warm, name="ctxasm-warm", daemon=True).start()
    yield


def _warm() -> None:
    from importlib import import_module

    from ctxasm.model.errors import CtxasmError
    from ctxasm.tokens import open_counter

    # A vocabulary that cannot be had is said by the page that counts with it, an import that fails by the one that needs it.
    with contextlib.suppress(CtxasmError, ImportError):
        open_counter("cl100k_base").count("warm")
    for name in MODULES:
        with contextlib.suppress(ImportError):
            import_module(name)
