"""Settings read from, and written for, wherever they go: a file, the environment, a link, Python, LangChain, LlamaIndex."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.presets import PRESETS, preset
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import from_toml, read_settings, to_environment, to_python, to_toml, to_url


def settings_of(given: object) -> AssemblySettings:
    """The settings in any of these forms; None are the defaults. A text of one line is the name of a preset, else the path of a TOML file.

    Raises InvalidInput for what is none of them, and as `from_toml` and `read_settings`.
    """
    if given is None:
        return AssemblySettings()
    if isinstance(given, AssemblySettings):
        return given
    if isinstance(given, Mapping):
        table: Any = given.get("context_assembly", given)
        return AssemblySettings.from_dict(table)
    if isinstance(given, str) and given in PRESETS:
        return preset(given)
    if isinstance(given, str) and "[" in given:
        return from_toml(given)
    if isinstance(given, (str, os.PathLike)):
        return read_settings(given)
    raise InvalidInput(
        f"settings must be AssemblySettings, a mapping, TOML, the name of a preset or the path of a TOML file, got {shown(given)}"
    )


FORMS = ("toml", "environment", "link", "python", "langchain", "llamaindex")
FRAMEWORKS = FORMS[-2:]
"""Those that need a dataset, which holds the neighbours."""
LANGCHAIN = """from ctxasm import AssemblySettings, {names}
from ctxasm.app.integrations.langchain import AssembledRetriever, ContextAssembler

assembler = ContextAssembler(settings={settings}, source={source})
retriever = AssembledRetriever(base_retriever=my_retriever, assembler=assembler)
"""
LLAMAINDEX = """from ctxasm import AssemblySettings, {names}
from ctxasm.app.integrations.llamaindex import ContextAssemblyPostprocessor

postprocessor = ContextAssemblyPostprocessor(settings={settings}, source={source})
engine = my_index.as_query_engine(similarity_top_k=20, node_postprocessors=[postprocessor])
"""


def written_as(
    settings: AssemblySettings, form: str, dataset: str | None = None, origin: Iterable[str] = (), url: str | None = None
) -> str:
    """The settings in one of `FORMS`, what differs from the defaults, ending with a line break. A link is the query of an address.

    `origin` says where they come from, as comments of the TOML. Snippets for frameworks take neighbours from `dataset`, stored or linked
    (None: the newest), of the database at `url` (None: the one that the environment names).
    """
    named = [] if dataset is None else [repr(dataset)]
    opened = [] if url is None else [f"{'' if named else 'store='}open_store({url!r})"]
    source = {"names": "open_dataset, open_store" if opened else "open_dataset", "source": f"open_dataset({', '.join([*named, *opened])})"}
    match form:
        case "toml":
            return to_toml(settings, origin)
        case "environment":
            return "".join(f"{name}={shlex.quote(value)}\n" for name, value in to_environment(settings).items())
        case "link":
            return f"?{urlencode(to_url(settings))}\n"
        case "python":
            return f"{to_python(settings)}\n"
        case "langchain":
            return LANGCHAIN.format(settings=to_python(settings), **source)
        case "llamaindex":
            return LLAMAINDEX.format(settings=to_python(settings), **source)
    raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form}")
