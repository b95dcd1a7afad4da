"""The command line: ``arbora fit | refine | score | show | plot | convert | cut | demo | info``."""

from arbora.cli._app import main
from arbora.cli._register import app

__all__ = ["app", "main"]
