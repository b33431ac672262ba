"""Settings written down for wherever they go: a file, the environment, a link, Python, LangChain, LlamaIndex."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from urllib.parse import urlencode

from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import to_environment, to_python, to_toml, to_url

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
