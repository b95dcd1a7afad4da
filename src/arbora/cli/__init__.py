"""The command line: ``arbora fit | refine | score | show | plot | convert | cut | demo | info``."""

from arbora.cli._app import app, main

__all__ = ["app", "main"]
