"""How to read: what the caller chose, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from arbora._base.params import check_choice
from arbora._base.types import PathLike

Format: TypeAlias = Literal[
    "auto", "npy", "npz", "csv", "tsv", "json", "jsonl", "parquet", "arrow", "xlsx", "h5ad", "edges", "adjacency",
    "graphml", "gml", "gexf", "pajek", "mtx", "phylip", "linkage", "newick", "nexus", "phyloxml",
]  # fmt: skip
Kind: TypeAlias = Literal["vectors", "graph", "distances", "similarities"]
Scale: TypeAlias = Literal["auto", "standard", "robust", "rank", "none"]
Directed: TypeAlias = Literal["sum", "max", "mean"]
Columns: TypeAlias = str | Iterable[str]

FORMATS: tuple[str, ...] = get_args(Format)
KINDS: tuple[str, ...] = get_args(Kind)
SCALES: tuple[str, ...] = get_args(Scale)


@dataclass(frozen=True)
class ReadOptions:
    """The options of `arbora.read`; that function describes each.

    Examples
    --------
    >>> from arbora.reading import ReadOptions
    >>> ReadOptions.checked(features="width,height", scale="standard").features
    ('width', 'height')
    >>> ReadOptions.checked(scale="percent")
    Traceback (most recent call last):
    ValueError: scale must be ...
    """

    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    label_column: str | None = None
    name_column: str | None = None
    text_column: str | None = None
    embedding_column: str | None = None
    metadata: PathLike | Mapping[str, Any] | None = None
    scale: str = "none"
    decimal: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    kind: str | None = None
    directed: str | None = None
    use: str | None = None
    genes: tuple[str, ...] | None = None
    format: str = "auto"

    @classmethod
    def checked(
        cls,
        *,
        features: Columns | None = None,
        drop: Columns | None = None,
        genes: Columns | None = None,
        **options: Any,
    ) -> ReadOptions:
        """Options as the caller gave them, or a `ValueError` that names the wrong one."""
        made = cls(
            features=None if features is None else patterns(features, "features"),
            drop=() if drop is None else patterns(drop, "drop"),
            genes=None if genes is None else patterns(genes, "genes"),
            **options,
        )
        check_choice(made.format, "format", FORMATS)
        check_choice(made.scale, "scale", SCALES)
        check_choice(made.kind, "kind", (None, *KINDS))
        check_choice(made.directed, "directed", (None, *get_args(Directed)))
        check_choice(made.decimal, "decimal", (None, ".", ","))
        if made.delimiter is not None and len(one_character(made.delimiter)) != 1:
            raise ValueError(f"delimiter must be one character, or 'tab'. Got {made.delimiter!r}.")
        return made


def patterns(columns: Columns, argument: str) -> tuple[str, ...]:
    """Patterns of column names: one string with commas between them, or several strings."""
    listed = columns.split(",") if isinstance(columns, str) else list(columns)
    if not listed or not all(isinstance(one, str) and one.strip() for one in listed):
        raise ValueError(f"{argument} must name columns, as in 'e*' or ['width', 'height']. Got {columns!r}.")
    return tuple(one.strip() for one in listed)


def one_character(delimiter: str) -> str:
    """A delimiter, also by its name: 'tab' or 'space'."""
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(delimiter, delimiter)
