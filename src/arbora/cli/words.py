"""``arbora words``: word vectors and a tree of the words, from text files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arbora.cli._console import Console
from arbora.cli._exit import Unusable
from arbora.cli._options import Running
from arbora.cli._run import limit_threads
from arbora.cli.pages import tree_facts
from arbora.cli.writing import check_writable, tree_format, write_bytes, write_tree


@dataclass(frozen=True)
class WordsTask:
    """What to learn from, how much, and where it goes."""

    corpus: list[Path]
    n_words: int
    dimension: int
    n_internal: int
    max_epochs: int
    min_count: int
    show: int
    out: Path | None
    vectors: Path | None
    wordnet: Path | None


def run_words(task: WordsTask, running: Running, console: Console) -> None:
    """Learn, show the tree in words, write."""
    from arbora.tasks.corpus import read_documents
    from arbora.tasks.word_embeddings import TreeGloVe, outline

    console.give_way_to(task.out)
    limit_threads(running)
    check_writable(task.out)
    check_writable(task.vectors)
    if task.out is not None:
        tree_format(str(task.out))
    with console.stage("read"):
        documents = [document for path in task.corpus for document in read_documents(path)]
    model = TreeGloVe(
        task.n_words,
        dimension=task.dimension,
        n_internal=task.n_internal,
        max_epochs=task.max_epochs,
        min_count=task.min_count,
        random_state=running.seed,
        verbose=console.shows_bars,
    )
    with console.stage("learn"):
        try:
            model.fit(documents)
        except ValueError as error:
            raise Unusable(str(error)) from error
    console.say(outline(model, task.show))
    facts: dict[str, Any] = {"tree": tree_facts(model.tree_), "words": len(model.words_)}
    if task.wordnet is not None:
        facts["wordnet"] = _judged(model, task.wordnet, console)
    facts["written"] = _write(model, task)
    for path in facts["written"]:
        console.say(f"wrote {path}")
    console.result(facts)


def _judged(model: Any, path: Path, console: Console) -> dict[str, float]:
    from arbora.tasks.wordnet import WordNet, judge

    score = judge(model.words_, model.clusters_, WordNet.load(path))
    console.say(
        f"WordNet: common ancestors within clusters at depth {score.within:.3f}, within random clusters of the same "
        f"sizes at {score.random:.3f} ({score.n_pairs} pairs)"
    )
    return {"within": score.within, "random": score.random}


def _write(model: Any, task: WordsTask) -> list[str]:
    if task.out is not None:
        write_tree(model.tree_, str(task.out))
    if task.vectors is not None:
        lines = (
            f"{word} {' '.join(f'{value:.6g}' for value in vector)}\n"
            for word, vector in zip(model.words_, model.vectors_)
        )
        write_bytes(task.vectors, "".join(lines).encode("utf-8"))
    return [str(path) for path in (task.out, task.vectors) if path is not None and str(path) != "-"]
