"""Letters between parts: which parts have edges in common, and what each sends to the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arbora._base.distributed import Workers
from arbora.scale.pieces import PieceEdges, Summary, mail_labels, read_labels, sum_edges, summarize


def item(letters: Mapping[int, Any], part: int) -> Any:
    """The letter to one part; None if there is none."""
    return letters.get(part)


def mutual(others: Sequence[Sequence[int]]) -> list[list[int]]:
    """The parts that each part has edges in common with, whichever of the two they start from."""
    partners: list[set[int]] = [set() for _ in others]
    for part, found in enumerate(others):
        for other in found:
            partners[part].add(int(other))
            partners[int(other)].add(part)
    return [sorted(found) for found in partners]


def letters_to(
    delayed: Callable[..., Any], letters: Sequence[Any], part: int, senders: Sequence[int]
) -> dict[int, Any]:
    """The letters that a part gets, by sender."""
    return {sender: delayed(item)(letters[sender], part) for sender in senders}


class Labeled:
    """Parts whose trees are cut into pieces, and for their outgoing edges the pieces at the other end."""

    def __init__(
        self,
        workers: Workers,
        delayed: Callable[..., Any],
        graphs: Sequence[Any],
        trees: Sequence[Any],
        partners: Sequence[Sequence[int]],
    ) -> None:
        self.graphs, self.trees = list(graphs), list(trees)
        self._workers, self._delayed = workers, delayed
        letters = workers.persist([delayed(mail_labels)(*pair) for pair in zip(graphs, trees)])
        self.out_labels = workers.persist(
            [
                delayed(read_labels)(graph, letters_to(delayed, letters, part, partners[part]))
                for part, graph in enumerate(graphs)
            ]
        )

    def sums(self) -> tuple[list[PieceEdges], list[Summary]]:
        """Edges between pieces, and what else the coordinator has to know about each part."""
        delayed = self._delayed
        tasks = [
            delayed(sum_edges)(graph, part, tree, label)
            for part, (graph, tree, label) in enumerate(zip(self.graphs, self.trees, self.out_labels))
        ]
        found = self._workers.gather([*tasks, *(delayed(summarize)(tree) for tree in self.trees)])
        return found[: len(tasks)], found[len(tasks) :]
