"""Other systems on the same hits: each with the components that its documentation offers for a context within a token limit.

None of them gets a header, a title or a summary to render: their contexts are bare text, which costs them nothing. No
component is given a model. What a system would send in a second call (LlamaIndex refines, LangChain collapses) is not in the
context of the first, and does not count.
"""
