"""The exceptions arbora raises; each also derives from the built-in a caller would expect.

::

    ArboraError
    ├── TreeError (ValueError)             arrays that do not describe a tree
    ├── FormatError (ValueError)           a file or text that is not what it claims to be
    ├── MissingFileError (FileNotFoundError) a path where nothing exists
    ├── ConstraintError (ValueError)       must-link and cannot-link sets no tree can satisfy
    ├── TooLargeError (MemoryError)        a request that would exhaust memory, refused in advance
    ├── DivergedError (RuntimeError)       training turned non-finite; carries the best tree so far
    ├── WorkersLostError (RuntimeError)    a Dask cluster was lost; with a checkpoint the work can resume
    ├── Interrupted (KeyboardInterrupt)    Ctrl-C during a search; carries the best tree so far
    └── MissingExtraError (ImportError)    an optional dependency is not installed

Wrong arguments raise plain ``ValueError`` or ``TypeError`` that name the argument, what was passed and what to do.
"""

from __future__ import annotations


class ArboraError(Exception):
    """Base of every exception that only arbora raises.

    Examples
    --------
    >>> import arbora as ab
    >>> try:
    ...     ab.Tree.from_newick("(a,b")
    ... except ab.errors.ArboraError as error:
    ...     print(type(error).__name__)
    FormatError
    """


class TreeError(ArboraError, ValueError):
    """The arrays given do not describe a rooted tree in arbora's order.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.Tree([2, 2, 2], 2)
    Traceback (most recent call last):
    arbora.errors.TreeError: ...
    """


class FormatError(ArboraError, ValueError):
    """A file or text is truncated, foreign or malformed.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.Tree.from_newick("(a,b")
    Traceback (most recent call last):
    arbora.errors.FormatError: ...
    """


class MissingFileError(ArboraError, FileNotFoundError):
    """There is no file or directory at the path given.

    Examples
    --------
    >>> import arbora as ab
    >>> ab.similarity.graph("no/such/edges")
    Traceback (most recent call last):
    arbora.errors.MissingFileError: ...
    """


class ConstraintError(ArboraError, ValueError):
    """No tree satisfies the must-link and cannot-link constraints.

    Examples
    --------
    >>> import arbora as ab
    >>> similarity = ab.similarity.cosine([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> tree = ab.linkage(similarity)
    >>> ab.refine(tree, similarity, must_link=[(0, 1)], cannot_link=[(0, 1)])
    Traceback (most recent call last):
    arbora.errors.ConstraintError: ...
    """


class TooLargeError(ArboraError, MemoryError):
    """The request would need more memory than there is; the message names an alternative.

    Examples
    --------
    It is a `MemoryError` raised before memory runs out, so that both of these catch it.

    >>> import arbora as ab
    >>> issubclass(ab.errors.TooLargeError, MemoryError), issubclass(ab.errors.TooLargeError, ab.errors.ArboraError)
    (True, True)
    """


class DivergedError(ArboraError, RuntimeError):
    """Training turned non-finite.

    Attributes
    ----------
    tree : Tree or None
        The best tree decoded before that happened.

    Examples
    --------
    >>> import arbora as ab
    >>> def training():
    ...     raise ab.errors.DivergedError("The loss is not finite.", tree=ab.Tree.from_newick("(a,b);"))
    >>> try:
    ...     training()
    ... except ab.errors.DivergedError as stop:
    ...     print(stop.tree)
    Tree(n_leaves=2, n_internal=1, binary)
    """

    def __init__(self, message: str, tree: object = None) -> None:
        super().__init__(message)
        self.tree = tree


class WorkersLostError(ArboraError, RuntimeError):
    """The Dask cluster, or all of its workers, went away; with ``checkpoint=`` the same call resumes the work.

    Examples
    --------
    >>> import arbora as ab
    >>> def with_patience(fit):
    ...     for attempt in range(3):
    ...         try:
    ...             return fit()
    ...         except ab.errors.WorkersLostError:
    ...             pass  # a new cluster would be started here
    >>> tries = iter([ab.errors.WorkersLostError("All workers are gone."), "a tree"])
    >>> def fit():
    ...     found = next(tries)
    ...     if isinstance(found, Exception):
    ...         raise found
    ...     return found
    >>> with_patience(fit)
    'a tree'
    """


class Interrupted(ArboraError, KeyboardInterrupt):
    """Ctrl-C was pressed during a search. ``except Interrupted as stop: tree = stop.tree`` keeps what was found.

    Attributes
    ----------
    tree : Tree or None
        The best tree so far.

    Examples
    --------
    >>> import arbora as ab
    >>> def search():
    ...     raise ab.errors.Interrupted("Stopped.", tree=ab.Tree.from_newick("(a,b);"))
    >>> try:
    ...     search()
    ... except ab.errors.Interrupted as stop:
    ...     print(stop.tree)
    Tree(n_leaves=2, n_internal=1, binary)
    """

    def __init__(self, message: str, tree: object = None) -> None:
        super().__init__(message)
        self.tree = tree


class MissingExtraError(ArboraError, ImportError):
    """An optional dependency is missing; the message says which extra installs it.

    Examples
    --------
    >>> import arbora as ab
    >>> issubclass(ab.errors.MissingExtraError, ImportError)
    True
    """
