"""Ctrl-C is remembered, and held back where it would do damage."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from arbora._base import interrupts
from arbora._base.interrupts import HeldBack, Remembering, is_plain
from arbora._base.jit import InterruptsHeldBack


@pytest.fixture(autouse=True)
def _handler_as_before():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_remembering_handler_interrupts_and_knows_it_until_installed_again():
    handler = Remembering()
    handler.install()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert handler.was_pressed
    handler.install()
    assert not handler.was_pressed and signal.getsignal(signal.SIGINT) is handler


def test_a_handler_of_the_program_stays():
    pressed = []
    signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    Remembering().install()
    signal.raise_signal(signal.SIGINT)
    assert pressed == [1]


def test_in_another_thread_no_handler_is_installed():
    handler = Remembering()
    thread = threading.Thread(target=handler.install)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_waits_until_no_function_of_the_modules_runs():
    guarded = {"__name__": "guarded.module", "press": _press_and_wait, "log": []}
    exec("def work():\n    press()\n    log.append('done')", guarded)
    signal.signal(signal.SIGINT, HeldBack(signal.default_int_handler, "guarded."))
    with pytest.raises(KeyboardInterrupt):
        guarded["work"]()
        time.sleep(60)
    assert guarded["log"] == ["done"]
    # pressed three times, interrupted once
    time.sleep(3 * interrupts._SECONDS_BETWEEN_TRIES)


def _press_and_wait():
    for _ in range(3):
        signal.raise_signal(signal.SIGINT)
    # it is tried again and again meanwhile
    time.sleep(3 * interrupts._SECONDS_BETWEEN_TRIES)


def test_handlers_are_held_back_while_kernels_compile_and_restored_afterwards():
    listener = InterruptsHeldBack()
    listener.on_start(None)
    listener.on_start(None)
    held = signal.getsignal(signal.SIGINT)
    assert isinstance(held, HeldBack) and held.handler is signal.default_int_handler and not is_plain(held)
    listener.on_end(None)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    listener.on_end(None)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_signal_stays_ignored_while_kernels_compile():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = InterruptsHeldBack()
    listener.on_start(None)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    listener.on_end(None)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


LOADING = """
import signal, sys, threading, _thread
signal.signal(signal.SIGINT, signal.default_int_handler)
import llvmlite.binding as llvm
from arbora._base import jit

@jit.numba.njit
def twice(x):
    return 2 * x

seen = []

class Pressing(jit.event.Listener):
    "Press Ctrl-C when LLVM is entered for the first time."
    def on_start(self, event):
        if not seen:
            seen.append(type(signal.getsignal(signal.SIGINT)).__name__)
            signal.raise_signal(signal.SIGINT)
    def on_end(self, event):
        pass

try:
    twice(1)
    pressing = Pressing()
    jit.event.register("numba:llvm_lock", pressing)
    twice(1.5)
    import time
    time.sleep(5)
except KeyboardInterrupt:
    print("interrupted", seen)
"""


def test_ctrl_c_inside_of_llvm_interrupts_once_llvm_is_left():
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["interrupted", "['HeldBack']"], done.stdout + done.stderr
