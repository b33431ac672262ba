"""What a first page needs, made ready while the browser is still loading its own part.

Nothing here is done that the first page would not do itself: it only comes earlier.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import AsyncIterator

MODULES = (
    "ctxasm.store.database",
    "ctxasm.assembly.pipeline",
    "ctxasm.app.ui.frame.shell",
    "ctxasm.app.ui.frame.sidebar",
    "ctxasm.app.ui.inspect.page",
    "streamlit.emojis",
    "streamlit.material_icon_names",
)


@contextlib.asynccontextmanager
async def warming(_app: object) -> AsyncIterator[None]:
    """The life of the server: as soon as it listens, imports run in a thread that never keeps the process alive."""
    threading.Thread(target=_warm, name="ctxasm-warm", daemon=True).start()
    yield


def _warm() -> None:
    from importlib import import_module

    from ctxasm.model.errors import CtxasmError
    from ctxasm.text.tokens import open_counter

    # A vocabulary or store that cannot be had is said by the page that needs it, an import that fails by the one that makes it.
    with contextlib.suppress(CtxasmError, ImportError):
        open_counter("cl100k_base").count("warm")
    for name in MODULES:
        with contextlib.suppress(ImportError):
            import_module(name)
    with contextlib.suppress(CtxasmError, ImportError):
        _first_picture()
    # Streamlit collects all garbage after every run: what was imported stays, and need not be looked through every time.
    gc.collect()
    gc.freeze()


def _first_picture() -> None:
    """Open the store, load the sample where it is empty, and work out what Inspect shows first. Raises CtxasmError."""
    from ctxasm.app.ui.frame import server
    from ctxasm.model.settings import AssemblySettings

    bench = server.workbench()
    for info in server.datasets()[:1]:
        for entry in bench.query_list(info.name)[:1]:
            bench.assemble(bench.query(info.name, entry.query_id), AssemblySettings(), info.name)
