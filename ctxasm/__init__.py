"""ctxasm: context assembly for retrieval-augmented generation, the step between retrieval and the language model.

    from ctxasm import AssemblySettings, ask, assemble, check, load, open_store, search

    store = open_store("sqlite:///ctxasm.db")
    load("my_bundle", store)
    query = search("When does the desk open?", store)
    assembly = assemble(query, store, AssemblySettings(expand_window=1))
    answer = ask(assembly).result()
    checked = check(assembly, answer.text)

Names are loaded when they are first used: importing ctxasm loads no database, validation, UI or model library.
"""

from lazy_loader import attach_stub

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
