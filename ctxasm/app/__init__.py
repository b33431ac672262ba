"""The workbench itself: everything that plugs real parts together, and the ways in: pages, commands, frameworks."""
