"""Reading a classifier: what it confuses, what it groups against a taxonomy, and whether to trust its probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from arbora._base.optional import require
from arbora._base.params import check_choice, check_whole
from arbora._base.types import Ints, PathLike
from arbora.logits import _class_findings as findings
from arbora.logits._class_facts import gather_facts
from arbora.logits._names import class_numbers
from arbora.logits._report_sections import sections_of
from arbora.logits._trust import assess
from arbora.logits.calibration import Calibration
from arbora.logits.hierarchical import NodeScores, hierarchical_f1, mistake_severity, node_scores
from arbora.logits.l2h import L2H
from arbora.logits.sections import Section
from arbora.logits.taxonomy import Placement, Taxonomy, name_nodes, taxonomy_tree
from arbora.tree import Tree

if TYPE_CHECKING:
    import pandas

TABLES = ("pairs", "conflicts", "spurious", "weak_nodes")


@dataclass(frozen=True)
class ClassReport:
    """What `class_report` found.

    It prints as text; `sections()` gives every part as data (what pages and the command line are made of),
    `to_dict`, `to_markdown` and `to_html` the same as JSON, Markdown and HTML, `to_frame` one table for pandas.

    Attributes
    ----------
    tree : Tree
        Over the classes; inner nodes carry the name of the taxon they match, where a taxonomy was given.
    n_points : int
    pairs : list of dict
        Confusable pairs: mean probability that points of one get for the other (`probability`, and each way: `a_to_b`,
        `b_to_a`); with labels also `errors`, with a taxonomy `distance` (0 siblings, 1 unrelated).
    conflicts : list of dict
        Groups that merge against the taxonomy: `group` (of `taxon`) joins `host` although the taxonomy has nearer
        classes; `levels` counts the levels of the taxonomy it skipped, `support` is the bootstrap's.
    spurious : list of dict
        Candidate spurious correlations: pairs that the model relates more than `a` to any class nearer to it in the
        taxonomy (`kin` is the nearest of these). The taxonomy may also be too coarse.
    weak_nodes : list of dict
        With labels: classes and groups with the lowest F1.
    nodes : NodeScores or None
        With labels: precision, recall and F1 of every node.
    hierarchical_f1, mistake_severity : float or None
        With labels, in the taxonomy if there is one, else in the tree; see the functions of the same name.
    confusion : int64[n_classes, n_classes] or None
        With labels: points by true class (row) and predicted class (column), in class order.
    calibration : Calibration or None
        With labels: expected calibration error and its parts, bins of a reliability diagram included.
    temperature : float or None
        With labels: what the model's temperature would have to be multiplied by to be calibrated.
    recommended_temperature : float or None
        For `L2H(temperature=...)`: only where calibration is poor and it was shown to help on held-out points.
    changed_groups : float or None
        Share of the tree's groups that are not in the tree of the calibrated model (on a sample).
    warnings, notes : list of str
    columns : dict
        Per class: points, confidence, and, with labels, accuracy; what it is most confused with.
    """

    tree: Tree
    n_points: int
    pairs: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]
    spurious: list[dict[str, Any]]
    weak_nodes: list[dict[str, Any]]
    nodes: NodeScores | None = field(repr=False)
    hierarchical_f1: float | None
    mistake_severity: float | None
    confusion: Ints | None = field(repr=False)
    calibration: Calibration | None
    temperature: float | None
    recommended_temperature: float | None
    changed_groups: float | None
    warnings: list[str]
    notes: list[str]
    columns: dict[str, list[Any]] = field(repr=False)

    def sections(self) -> list[Section]:
        """All parts that have something to say, in order; each with title, text, table, and meanings of its columns."""
        return sections_of(self)

    def to_frame(
        self, table: Literal["pairs", "conflicts", "spurious", "weak_nodes"] = "pairs"
    ) -> pandas.DataFrame:
        """One of the tables as a pandas data frame."""
        check_choice(table, "table", TABLES)
        frame = require("pandas", "to_frame").DataFrame
        return frame(getattr(self, table))

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain values that JSON takes."""
        return {
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "sections": [section.to_dict() for section in self.sections()],
        }

    def to_markdown(self) -> str:
        """The whole report as Markdown."""
        said = [f"**Warning:** {text}" for text in self.warnings] + self.notes
        return (
            "\n\n".join(["# Class report", *said, *(part.to_markdown() for part in self.sections())]) + "\n"
        )

    def __str__(self) -> str:
        said = [f"Warning: {text}" for text in self.warnings] + [f"Note: {text}" for text in self.notes]
        shown = [part for part in self.sections() if part.name != "confusion"]
        return "\n\n".join([*said, *(part.to_text() for part in shown)])

    def _repr_html_(self) -> str:
        import html

        said = [f"<p><b>Warning:</b> {html.escape(text)}</p>" for text in self.warnings]
        said += [f"<p>{html.escape(text)}</p>" for text in self.notes]
        return "".join([*said, *(part.to_html() for part in self.sections())])

    def explore(self, **options: Any) -> Any:
        """Open the explorer on the tree, with this report beside it and its figures as columns; see `Tree.explore`."""
        return self.tree.explore(**{"metadata": self.columns, "report": self._for_page(), **options})

    def to_html(self, path: PathLike, **options: Any) -> Any:
        """Write a page of this report and the tree, with its figures as columns; see `Tree.to_html`."""
        about = {"metadata": self.columns, "report": self._for_page(), "title": "Class report"}
        return self.tree.to_html(path, **{**about, **options})

    def _for_page(self) -> dict[str, Any]:
        """The report with the scores of every node, which their cards show."""
        found = self.to_dict()
        if self.nodes is not None:
            scores = {"precision": self.nodes.precision, "recall": self.nodes.recall, "f1": self.nodes.f1}
            found["node_scores"] = {
                name: [None if math.isnan(value) else float(value) for value in values]
                for name, values in scores.items()
            }
        return found


def class_report(
    model: L2H,
    logits: Any,
    y: ArrayLike | None = None,
    *,
    taxonomy: Taxonomy | None = None,
    max_rows: int = 20,
) -> ClassReport:
    """Read a classifier through the tree of its classes.

    Parameters
    ----------
    model : L2H
        Fitted on this classifier's logits.
    logits : array-like, path, store or batches, shape (n_points, n_classes)
        Of the same or other points; anything that `L2H.fit` takes, read once.
    y : array-like, shape (n_points,), optional
        True classes as column numbers or names: adds errors, accuracy, scores of every node, calibration, and the
        temperature that corrects it.
    taxonomy : Tree, sequence or dict, optional
        What classes ought to be near: superclasses, WordNet's hypernym paths, or a tree; in the order of the classes,
        or a dict by class name. Adds conflicts with it and candidate spurious correlations, and names inner nodes.
    max_rows : int
        Rows of each table.

    Returns
    -------
    report : ClassReport
        Prints as tables; `sections`, `to_frame`, `to_markdown`, `explore` and `to_html` show it elsewhere.

    Examples
    --------
    >>> import numpy as np, arbora as ab
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 4, 400)
    >>> near = np.array([[4, 2, 0, 0], [2, 4, 0, 1], [0, 0, 4, 2], [0, 1, 2, 4]])
    >>> logits = near[y] + rng.normal(size=(400, 4))
    >>> l2h = ab.L2H(class_names=["cat", "dog", "car", "bus"], random_state=0).fit(logits)
    >>> kinds = {"cat": "pet", "dog": "pet", "car": "vehicle", "bus": "vehicle"}
    >>> report = ab.logits.class_report(l2h, logits, y, taxonomy=kinds)
    >>> sorted([report.pairs[0]["a"], report.pairs[0]["b"]])
    ['bus', 'car']
    >>> report.tree.to_newick(lengths=False)
    '((cat,dog)pet,(car,bus)vehicle);'
    >>> [section.name for section in report.sections()]
    ['summary', 'calibration', 'pairs', 'nodes', 'confusion']
    """
    if not isinstance(model, L2H) or not hasattr(model, "tree_"):
        raise TypeError(f"model must be a fitted L2H. Got {type(model).__name__}.")
    check_whole(max_rows, "max_rows")
    tree = model.tree_
    names = [tree.label(c) for c in range(tree.n_leaves)]
    placement = None
    if taxonomy is not None:
        placement = Placement(taxonomy_tree(taxonomy, tree.n_leaves, names))
        tree = name_nodes(tree, placement.tree)
    true = None if y is None else class_numbers(y, model.tree_, len(np.asarray(y)))
    facts = gather_facts(model.blocks(logits), tree.n_leaves)
    if true is not None and len(true) != facts.n_points:
        raise ValueError(f"y must hold one class per point, {facts.n_points}. Got {len(true)}.")
    confusion = None if true is None else facts.confusion(true)
    trust = assess(model, facts, true)
    nodes = None if true is None else node_scores(tree, true, facts.predicted)
    reference = tree if placement is None else placement.tree
    return ClassReport(
        tree=tree,
        n_points=facts.n_points,
        pairs=findings.confusable_pairs(facts, confusion, names, placement, max_rows),
        conflicts=[] if placement is None else findings.conflicts(tree, placement, names, max_rows),
        spurious=[] if placement is None else findings.unexpected_pairs(facts, names, placement, max_rows),
        weak_nodes=[] if nodes is None else findings.weak_nodes(tree, nodes, names, max_rows),
        nodes=nodes,
        hierarchical_f1=None if true is None else hierarchical_f1(reference, true, facts.predicted),
        mistake_severity=None if true is None else mistake_severity(reference, true, facts.predicted),
        confusion=confusion,
        calibration=trust.calibration,
        temperature=trust.temperature,
        recommended_temperature=trust.recommended,
        changed_groups=trust.changed_groups,
        warnings=trust.warnings,
        notes=trust.notes,
        columns=findings.class_columns(facts, confusion, names, placement),
    )
