"""Every system that the papers compare with, behind one registry."""

from __future__ import annotations

from arbora.baselines.registry import describe, fit, names
from arbora.baselines.system import System

__all__ = ["System", "describe", "fit", "names"]
