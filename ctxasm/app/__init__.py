"""The workbench itself: everything that plugs real parts together, and the ways in: pages, commands, frameworks.

Start at `api`, the functions of `ctxasm.__all__`; commands and pages call the same use cases. `parts` is the only factory.
"""
