"""The tuned assembly inside other frameworks, each an optional extra:

- `ctxasm.app.integrations.langchain` (`pip install 'ctxasm[langchain]'`): ContextAssembler, AssembledRetriever
- `ctxasm.app.integrations.llamaindex` (`pip install 'ctxasm[llamaindex]'`): ContextAssemblyPostprocessor
"""
