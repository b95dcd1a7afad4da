"""The tree: one data structure, and what can be done with it."""

from arbora.tree._tree import Tree

__all__ = ["Tree"]
