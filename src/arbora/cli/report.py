"""``arbora report``: what a classifier's logits say about its classes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from arbora.cli._console import Console
from arbora.cli._exit import Unusable
from arbora.cli._options import Reading, Running
from arbora.cli._run import limit_threads, read_dataset
from arbora.cli.methods import check_settings, read_settings
from arbora.cli.writing import check_writable, writing
from arbora.errors import FormatError


def run_report(
    source: str,
    html: Path | None,
    taxonomy: Path | None,
    settings: list[str],
    reading: Reading,
    running: Running,
    console: Console,
) -> None:
    """Fit the tree of the classes, print the report, write its page."""
    from arbora import L2H
    from arbora.logits import class_report

    limit_threads(running)
    check_writable(html)
    chosen = read_settings(settings)
    check_settings(chosen, "l2h")
    superclass = None if taxonomy is None else read_taxonomy(taxonomy)
    data = read_dataset(source, reading, console)
    if data.kind != "vectors":
        raise Unusable(f"{source} must hold logits, one column per class. It holds a {data.kind}.")
    logits, n_classes = np.asarray(data), data.values.shape[1]
    names = data.feature_names or [str(k) for k in range(n_classes)]
    with console.stage("tree of the classes"):
        model = L2H(class_names=names, random_state=running.seed, n_jobs=running.threads, **chosen).fit(
            logits
        )
    y = None if data.y is None else class_numbers(data.y, names, source)
    with console.stage("report"):
        report = class_report(model, logits, y, taxonomy=superclass)
    console.say(str(report))
    if html is not None:
        with writing(html):
            report.to_html(html)
        console.say(f"wrote {html}")
    facts = {"classes": n_classes, "points": data.n_points, "report": str(report)}
    console.result({**facts, "written": [] if html is None else [str(html)]})


def class_numbers(y: Any, names: list[str], source: str) -> Any:
    """Column of each point's true class, by name or, if these are not names, by number."""
    place = {name: k for k, name in enumerate(names)}
    values = y.tolist()
    if any(value is None for value in values):
        raise Unusable(f"{source} has points without a true class. Remove them first.")
    unknown = sorted({str(value) for value in values if str(value) not in place})
    if unknown:
        if all(isinstance(value, int) and 0 <= value < len(names) for value in values):
            return np.asarray(values)
        shown = ", ".join(map(repr, unknown[:5]))
        raise Unusable(f"{source} has classes that no column is named after: {shown}.")
    return np.array([place[str(value)] for value in values])


def read_taxonomy(path: Path) -> dict[str, str]:
    """Superclass of each class: a JSON object, or lines of class and superclass."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix.lower() == ".json":
            found = json.loads(text)
        else:
            found = {row[0].strip(): row[1].strip() for row in csv.reader(text.splitlines()) if row}
        return {str(name): str(above) for name, above in found.items()}
    except (OSError, ValueError, IndexError, AttributeError) as error:
        raise FormatError(
            f"{path} must hold the superclass of each class, as JSON or csv: {error}."
        ) from error
