"""Ctrl-C where other libraries would lose it, or crash.

Python answers Ctrl-C with a KeyboardInterrupt wherever it happens to be. Libraries in C turn some of them into errors
of their own ("cannot release un-acquired lock"), so that a command has to remember that it was interrupted. And one
that is raised while LLVM calls back into Python is dropped, after which LLVM reads memory that nobody filled.
"""

from __future__ import annotations

import _thread
import signal
import threading
from types import FrameType
from typing import Any

# How long to wait before Ctrl-C is tried again where it would do damage.
_SECONDS_BETWEEN_TRIES = 0.02


class Remembering:
    """Handler of Ctrl-C that interrupts as Python's own does, and remembers it."""

    def __init__(self) -> None:
        self.was_pressed = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.was_pressed = True
        signal.default_int_handler(number, frame)

    def install(self) -> None:
        """Take the place of Python's own handler, forgetting what was; where a program has another one, it stays."""
        self.was_pressed = False
        if is_in_main_thread() and is_plain(signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGINT, self)


class HeldBack:
    """Handler of Ctrl-C that leaves it to another one, but not before no function of these modules is running."""

    def __init__(self, handler: Any, modules: str) -> None:
        self.handler = handler
        self._modules = modules
        self._will_try_again = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self._is_running(frame):
            self.handler(number, frame)
        elif not self._will_try_again:
            # however often it is pressed meanwhile, one interrupt is enough
            self._will_try_again = True
            timer = threading.Timer(_SECONDS_BETWEEN_TRIES, self._try_again)
            timer.daemon = True
            timer.start()

    def _try_again(self) -> None:
        self._will_try_again = False
        _interrupt_main_thread()

    def _is_running(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if str(frame.f_globals.get("__name__")).startswith(self._modules):
                return True
            frame = frame.f_back
        return False


def _interrupt_main_thread() -> None:
    """Send Ctrl-C to the main thread, even if it waits for something."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def is_plain(handler: Any) -> bool:
    """Whether a handler of Ctrl-C raises KeyboardInterrupt and does nothing else that a program could notice."""
    return handler is signal.default_int_handler or isinstance(handler, Remembering)


def is_in_main_thread() -> bool:
    """Whether this is the thread that signals interrupt, the only one that may say what they do."""
    return threading.current_thread() is threading.main_thread()
