"""Reading and writing the files that a user can load. All validation of files lives in this room.

Start at `load_paths` for whatever a user gives, `load_bundle` for a bundle alone: a folder or .zip of JSON Lines (`documents`, `chunks`,
`queries`, `retrievals`, `answers`). Reading is all or nothing, and every problem of every file is collected before one error is raised.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
