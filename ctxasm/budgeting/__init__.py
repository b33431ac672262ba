"""The budget, decided: which documents and chunks are sent, what everything else lacks, and what a better packing would keep.

Brings the choosing stages (`budget`, `trim`, `pack`, `segments`) together with the orders and the renderer, which alone
knows what a set costs. One module a family of policies: `whole_documents`, `chunkwise`, `units`.
"""
