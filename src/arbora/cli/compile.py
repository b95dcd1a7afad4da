"""``arbora compile``."""

from __future__ import annotations

from arbora.ahead import compile_kernels
from arbora.cli._console import Console


def run_compile(console: Console) -> None:
    """Compile all kernels, and say how many."""
    built = compile_kernels(progress=console.progress)
    console.say(
        f"compiled {built.n_compiled} kernels in {built.seconds:.0f} s; "
        f"{built.n_ready} of {built.n_kernels} are ready; the others serve rare kinds of input"
    )
    console.result(built._asdict())
