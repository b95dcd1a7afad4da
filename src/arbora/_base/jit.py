"""How kernels are compiled: on first use, and cached on disk, in a folder that can be written to.

Short passes over arrays (`pass_kernel`) are interpreted until compiling them pays, so that a first call compiles only
what it needs. While a kernel compiles, a terminal says so; `watch` knows how many were compiled and how long that took.
"""

from __future__ import annotations

import functools
import gc
import os
import signal
import stat
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.options import DefaultOptions

from arbora._base.interrupts import HeldBack, is_in_main_thread

# numba's settings are attributes that it makes at run time, and its lock has no types
_config: Any = numba.config
_compiler_lock: Any = global_compiler_lock
_PACKAGE = Path(__file__).resolve().parent.parent
# every kernel of the modules imported so far
KERNELS: list[Any] = []
# entries of arrays that a pass may read interpreted, about a tenth of a second, before it is compiled
_INTERPRETED_ENTRIES = 150_000
# the folder and the name of a kernel's cache file are known before it is compiled
_CACHE_FILES = "*{name}-*.nbi"


# Each array passed or viewed, in a named tuple too, has its references counted, which locks memory: two thirds of the
# time of inserting points into a tree, a third of a search, and more where threads share arrays. What allocates nothing
# need not count: the caller holds all arrays meanwhile. A numba without this option counts.
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def kernel(*, allocates: bool = True, **options: Any) -> Any:
    """Decorator: compile a function of plain arrays; the compiled code is cached on disk for the next process.

    What makes no arrays says so with ``allocates=False``, and is spared to count references.
    """
    compiled: Any = numba.njit(cache=True, **({} if allocates else _UNCOUNTED), **options)

    def register(function: Callable[..., Any]) -> Any:
        dispatcher = compiled(function)
        KERNELS.append(dispatcher)
        return dispatcher

    return register


# For functions that only kernels call: without an entry point from Python and without their own place in the cache
# (they are part of their caller's), they compile in half the time.
inner: Any = cast(Any, numba.njit)(no_cpython_wrapper=True, no_cfunc_wrapper=True)

# For functions that make no arrays, compiled into the kernels that call them.
inlined: Any = cast(Any, numba.njit)(
    no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, **_UNCOUNTED
)


def is_ready(compiled: Any) -> bool:
    """Whether a kernel can be called without waiting for the compiler, judging by its file on disk."""
    if _compiles_all or compiled.overloads:
        return True
    folder = Path(compiled.stats.cache_path)
    return any(folder.glob(_CACHE_FILES.format(name=compiled.py_func.__name__)))


class PassKernel:
    """A kernel that is interpreted until it has been called with many entries, or is found compiled on disk.

    Both ways do the same operations in the same order, so that results are equal to the last bit. It must not call
    functions whose compiled form rounds differently (exp, log), nor rely on whole numbers that wrap around.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        steps: Callable[..., int] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._steps = _largest_size if steps is None else steps
        self.compiled = kernel(**options)(function)
        self.py_func = function
        self._interpreted: Callable[..., Any] | None = None
        self._n_entries = 0
        self._is_compiled = False

    def __call__(self, *arguments: Any) -> Any:
        """Call whichever form pays."""
        if self._pays(arguments):
            return self.compiled(*arguments)
        return self.interpreted(*arguments)

    def interpreted(self, *arguments: Any) -> Any:
        """Call the interpreted form."""
        if self._interpreted is None:
            self._interpreted = _in_python(self.py_func)
        with np.errstate(all="ignore"):
            return self._interpreted(*arguments)

    def _pays(self, arguments: tuple[Any, ...]) -> bool:
        if not self._is_compiled:
            is_first = self._n_entries == 0
            self._n_entries += 1 + self._steps(*arguments)
            self._is_compiled = self._n_entries > _INTERPRETED_ENTRIES or (
                is_first and is_ready(self.compiled)
            )
        return self._is_compiled or _compiles_all


def _largest_size(*arguments: Any) -> int:
    """Entries of the largest argument."""
    return max(int(np.size(argument)) for argument in arguments)


def pass_kernel(
    *, steps: Callable[..., int] | None = None, **options: Any
) -> Callable[[Callable[..., Any]], PassKernel]:
    """Decorator for a short pass over arrays that no other kernel calls: see `PassKernel`.

    Where a pass does more than read its largest argument once, `steps` says how much, given the arguments.
    """
    return lambda function: PassKernel(function, options, steps)


def _in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is without the compiler, as well as all kernels it calls."""
    names = function.__globals__
    called = {
        name: names[name] for name in function.__code__.co_names if isinstance(names.get(name), Dispatcher)
    }
    plain = {name: _in_python(dispatcher.py_func) for name, dispatcher in called.items()}
    return types.FunctionType(function.__code__, {**names, **plain}, function.__name__, function.__defaults__)


_compiles_all = False


@contextmanager
def compiling_all() -> Iterator[None]:
    """Inside, short passes are compiled at once."""
    global _compiles_all
    _compiles_all = True
    try:
        yield
    finally:
        _compiles_all = False


class CompilerWatch(event.Listener):
    """Counts arbora's kernels and the seconds they take to compile, and shows this on a terminal meanwhile.

    Python's search for unreachable objects rests while a kernel compiles: the compiler makes millions of objects,
    hardly any of them unreachable, and looking through them again and again took a tenth of the time.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.n_kernels = 0
        self._n_open = 0
        self._began = 0.0
        self._collected_before = False

    def on_start(self, event: Any) -> None:
        """Note that a kernel starts to compile; those that it calls compile inside."""
        if not _is_ours(event):
            return
        if self._n_open == 0:
            self._began = time.perf_counter()
            self._collected_before = gc.isenabled()
            gc.disable()
        self._n_open += 1
        self._show()

    def on_end(self, event: Any) -> None:
        """Note that a kernel is compiled."""
        if not _is_ours(event):
            return
        self._n_open -= 1
        self._show()
        if self._n_open == 0:
            if self._collected_before:
                gc.enable()
            self.seconds += time.perf_counter() - self._began
            self.n_kernels += 1
            self._write("\r\x1b[K")

    def _show(self) -> None:
        seconds = self.seconds + time.perf_counter() - self._began
        self._write(f"\r\x1b[Karbora: compiling, once: {seconds:.0f} s")

    def _write(self, text: str) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(text)
            sys.stderr.flush()


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("arbora")


class InterruptsHeldBack(event.Listener):
    """While kernels are compiled or read from disk, Ctrl-C waits until LLVM is not at work: it would crash."""

    def on_start(self, event: Any) -> None:
        """Hold Ctrl-C back, where this thread is the one that it interrupts."""
        if is_in_main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler) and not isinstance(handler, HeldBack):
                signal.signal(signal.SIGINT, HeldBack(handler, "llvmlite."))

    def on_end(self, event: Any) -> None:
        """Let Ctrl-C through again once all is compiled: kernels that others call are compiled inside them."""
        if is_in_main_thread() and not _compiler_lock.is_locked():
            held = signal.getsignal(signal.SIGINT)
            if isinstance(held, HeldBack):
                signal.signal(signal.SIGINT, held.handler)


watch = CompilerWatch()
cast(Any, event.register)("numba:compile", watch)
cast(Any, event.register)("numba:compiler_lock", InterruptsHeldBack())


def _cache_folder() -> str | None:
    """Where to keep compiled code if not beside the source: None where that can be written to, or a folder was set."""
    if _config.CACHE_DIR or _is_writable(_PACKAGE):
        return None
    for folder in (
        _user_cache(),
        Path(tempfile.gettempdir()) / f"arbora-{os.getuid() if os.name == 'posix' else 0}",
    ):
        if folder is not None and _is_private_folder(folder):
            return str(folder)
    return None


def _user_cache() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "arbora" if os.path.isabs(base) else None


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_private_folder(folder: Path) -> bool:
    """Create the folder if needed; whether it is ours alone. Compiled code is run, so nobody else may write there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode) or not _is_writable(folder):
        return False
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


_folder = _cache_folder()
if _folder is not None:
    _config.CACHE_DIR = _folder
    print(
        f"arbora: compiled code is kept in {_folder}, because {_PACKAGE} cannot be written to.",
        file=sys.stderr,
    )
