"""The exceptions arbora raises; each also derives from the built-in a caller would expect.

::

    ArboraError
    ├── TreeError (ValueError)             arrays that do not describe a tree
    ├── FormatError (ValueError)           a file or text that is not what it claims to be
    ├── MissingFileError (FileNotFoundError) a path at which there is nothing
    ├── ConstraintError (ValueError)       must-link and cannot-link sets no tree can satisfy
    ├── TooLargeError (MemoryError)        a request that would exhaust memory, refused beforehand
    ├── DivergedError (RuntimeError)       training turned non-finite; carries the best tree so far
    ├── WorkersLostError (RuntimeError)    a Dask cluster went away; with a checkpoint the work can go on
    ├── Interrupted (KeyboardInterrupt)    Ctrl-C during a search; carries the best tree so far
    └── MissingExtraError (ImportError)    an optional dependency is not installed

Wrong arguments raise plain ``ValueError`` or ``TypeError`` with the argument's name, what came and what to do.
"""

from __future__ import annotations


class ArboraError(Exception):
    """Base of every exception that only arbora raises."""


class TreeError(ArboraError, ValueError):
    """The arrays given do not describe a rooted tree in arbora's order."""


class FormatError(ArboraError, ValueError):
    """A file or text is truncated, foreign or malformed."""


class MissingFileError(ArboraError, FileNotFoundError):
    """There is no file or directory at the path given."""


class ConstraintError(ArboraError, ValueError):
    """No tree satisfies the must-link and cannot-link constraints."""


class TooLargeError(ArboraError, MemoryError):
    """The request would need more memory than there is; the message names an alternative."""


class DivergedError(ArboraError, RuntimeError):
    """Training turned non-finite.

    Attributes
    ----------
    tree : Tree or None
        The best tree decoded before that happened.
    """

    def __init__(self, message: str, tree: object = None) -> None:
        super().__init__(message)
        self.tree = tree


class WorkersLostError(ArboraError, RuntimeError):
    """The Dask cluster went away, or all of its workers did; ``checkpoint=`` lets the same call go on."""


class Interrupted(ArboraError, KeyboardInterrupt):
    """Ctrl-C was pressed during a search. ``except Interrupted as stop: tree = stop.tree`` keeps what was found.

    Attributes
    ----------
    tree : Tree or None
        The best tree so far.
    """

    def __init__(self, message: str, tree: object = None) -> None:
        super().__init__(message)
        self.tree = tree


class MissingExtraError(ArboraError, ImportError):
    """An optional dependency is missing; the message says which extra installs it."""
