"""The tuned assembly inside other frameworks, each an optional extra:

- `ctxasm.integrations.langchain` (`pip install 'ctxasm[langchain]'`): ContextAssembler, AssembledRetriever
- `ctxasm.integrations.llamaindex` (`pip install 'ctxasm[llamaindex]'`): ContextAssemblyPostprocessor
"""
