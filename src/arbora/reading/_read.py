"""Read a file or a frame, report how each part was interpreted, and refuse what is not understood."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from arbora._base.arrays import is_cells, package_of
from arbora._base.types import PathLike
from arbora.errors import ArboraError, FormatError
from arbora.reading import arrays, frames, graphs, phylip, single_cell, trees
from arbora.reading.checks import warnings_of
from arbora.reading.columns import Column, without_names
from arbora.reading.contents import Contents, contents_of, format_of
from arbora.reading.dataset import Dataset
from arbora.reading.metadata import with_metadata
from arbora.reading.options import Columns, Directed, Format, Kind, ReadOptions, Scale
from arbora.reading.roles import dataset_of
from arbora.reading.square import square_dataset
from arbora.reading.tables import column_names, read_columns
from arbora.reading.text import decoded, layout_of
from arbora.tree import Tree

_NETWORKS = ("graphml", "gml", "gexf", "pajek", "adjacency")


def read(
    path: PathLike | Any,
    *,
    features: Columns | None = None,
    drop: Columns | None = None,
    label_column: str | None = None,
    name_column: str | None = None,
    text_column: str | None = None,
    embedding_column: str | None = None,
    metadata: PathLike | Mapping[str, Any] | None = None,
    scale: Scale = "none",
    kind: Kind | None = None,
    directed: Directed | None = None,
    use: str | None = None,
    genes: Columns | None = None,
    format: Format = "auto",
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Dataset:
    r"""Read vectors, a graph or a matrix of distances from a file, and report how each part was interpreted.

    Print the result to see which columns became features, labels, names, texts and metadata. Nothing is guessed
    if two readings are plausible: the error then names the option that decides.

    Parameters
    ----------
    path : str, path, or frame
        npy, npz, csv and other text tables, json, jsonl, parquet, arrow, feather, xlsx, h5ad, edge and adjacency
        lists, GraphML, GML, GEXF, Pajek, MatrixMarket, PHYLIP distances; also packed (gz, bz2, xz, zip). A frame of
        pandas, polars or Arrow, an AnnData object or a mapping of columns is read by the same rules.
    features, drop : str or list of str, optional
        Columns to use, or to leave out; ``*`` stands for anything, as in ``"e*"``. By default a column of vectors is
        used or, if there is none, every column of numbers that does not merely number or identify the rows.
    label_column, name_column, text_column, embedding_column : str, optional
        Columns of known classes, of names, of texts, of vectors.
    metadata : path, frame or mapping, optional
        More columns for the same points, matched by name where both have names, otherwise by row.
    scale : {"none", "auto", "standard", "robust", "rank"}
        Bring every feature to mean 0 and deviation 1, to median 0 and interquartile range 1, or to ranks. "auto"
        leaves that to what clusters the data: `arbora.cluster` scales columns of unlike units.
    kind : {"vectors", "graph", "distances", "similarities"}, optional
        What a square matrix holds; without it a symmetric one is refused.
    directed : {"sum", "max", "mean"}, optional
        How to combine the two directions of a matrix that is not symmetric.
    use : str, optional
        Which array of an npz, which sheet of an xlsx, or of an h5ad ``"X"``, ``"layers:NAME"``, ``"obsm:NAME"`` or
        ``"obsp:NAME"``.
    genes : str or list of str, optional
        Genes of an h5ad or AnnData to add to `metadata`, as in ``"CD3D,HLA-*"``: from raw, or X where there is none.
        `arbora.insight.telling_features` finds the genes that tell most about a tree.
    format : str
        The format, if it cannot be detected.
    decimal, delimiter : str, optional
        Of a text table, if they cannot be detected.
    header : bool, optional
        Whether a text table has a header, if it cannot be detected.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import arbora as ab, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "flowers.csv")
    >>> _ = path.write_text('"","width","species"\n"1",0.2,"a"\n"2",0.3,"a"\n"3",1.9,"b"\n')
    >>> data = ab.read(path, label_column="species")
    >>> data.names, data.y.tolist(), data.values.tolist()
    (['1', '2', '3'], ['a', 'a', 'b'], [[0.2], [0.3], [1.9]])
    """
    options = ReadOptions.checked(
        features=features, drop=drop, label_column=label_column, name_column=name_column, text_column=text_column,
        embedding_column=embedding_column, metadata=metadata, scale=scale, kind=kind, directed=directed, use=use,
        genes=genes, format=format, decimal=decimal, delimiter=delimiter, header=header,
    )  # fmt: skip
    data = read_data(path, options)
    for warning in data.warnings:
        warnings.warn(f"{data.source}: {warning}", UserWarning, stacklevel=2)
    return data


def read_data(source: Any, options: ReadOptions) -> Dataset:
    """`read` with its options in one record; warnings are in the result, and not raised.

    Examples
    --------
    >>> from arbora.reading import ReadOptions, read_data
    >>> columns = {"width": [0.2, 0.3, 1.9], "species": ["a", "a", "b"]}
    >>> data = read_data(columns, ReadOptions(label_column="species"))
    >>> data.feature_names, data.y.tolist()
    (['width'], ['a', 'a', 'b'])
    """
    if not isinstance(source, (str, os.PathLike)):
        return _finished(_of_memory(source, options), options)
    data = read_file(os.fspath(source), options)
    if isinstance(data, Tree):
        raise FormatError(
            f"{os.fspath(source)} is a tree, not data. In Python, Tree.load and Tree.from_newick read trees."
        )
    return data


def _finished(data: Dataset, options: ReadOptions) -> Dataset:
    """The data with metadata, warnings and scale; empty data is refused."""
    if data.n_points == 0:
        raise ValueError(f"{data.source} holds no points.")
    if data.kind == "vectors" and data.values.shape[1] == 0:
        raise ValueError(f"{data.source} has no features.")
    if options.genes is not None and data.genes is None:
        raise ValueError(
            f"{data.source} has no genes (genes=): it must be an h5ad file or AnnData with X or raw."
        )
    if options.label_column is not None and data.y is None:
        raise ValueError(
            f"{data.source} ({data.format}) has no column {options.label_column!r} (label_column=)."
        )
    if options.metadata is not None:
        data = with_metadata(data, options.metadata)
    data = replace(data, warnings=(*data.warnings, *warnings_of(data, options.scale)))
    return data.with_scale(options.scale)


def read_tree(source: str, options: ReadOptions | None = None) -> Tree:
    """A tree from arbora's npz, Newick, GraphML, or a linkage matrix in any array or table format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from arbora.reading import read_tree
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.nwk")
    >>> _ = path.write_text("((a,b),c);")
    >>> read_tree(str(path))
    Tree(n_leaves=3, n_internal=2, binary)
    """
    options = options or ReadOptions()
    contents = contents_of(source)
    kind = options.format if options.format != "auto" else format_of(contents)
    if kind in ("npy", "csv", "tsv", "parquet", "arrow"):
        # an array where a tree is expected
        kind = "linkage"
    tree = _read_as(kind, contents, options)
    if not isinstance(tree, Tree):
        raise FormatError(
            f"{contents.name} holds data, not a tree. Make one with: arbora fit {contents.name} --out tree.npz"
        )
    return tree


def read_file(source: str, options: ReadOptions) -> Dataset | Tree:
    r"""Whatever a file holds.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from arbora.reading import ReadOptions, read_file
    >>> path = pathlib.Path(tempfile.mkdtemp(), "table.csv")
    >>> _ = path.write_text("width,height\n1,2.5\n3,4\n")
    >>> read_file(str(path), ReadOptions()).values.tolist()
    [[1.0, 2.5], [3.0, 4.0]]
    """
    contents = contents_of(source)
    kind = options.format if options.format != "auto" else format_of(contents)
    found = _read_as(kind, contents, options)
    return found if isinstance(found, Tree) else _finished(found, options)


def _read_as(kind: str, contents: Contents, options: ReadOptions) -> Dataset | Tree:
    try:
        return _dispatched(kind, contents, options)
    except FormatError as error:
        # readers of text do not know the file's name
        if contents.name in str(error):
            raise
        raise FormatError(f"{contents.name}: {error}") from error
    except (ArboraError, ValueError, TypeError, MemoryError, ImportError):
        raise
    # whatever a library raises on a damaged file
    except Exception as error:
        raise FormatError(f"{contents.name} is not a readable {kind} file: {error}") from error


def _dispatched(kind: str, contents: Contents, options: ReadOptions) -> Dataset | Tree:
    name = contents.name
    if kind in ("csv", "tsv"):
        return _read_text(contents, options)
    if kind == "npz":
        is_tree = trees.is_saved_tree(contents)
        return trees.load_saved_tree(contents) if is_tree else arrays.read_npz(contents, options)
    if kind in _NETWORKS:
        return graphs.read_network(contents, options, kind)
    if kind in ("json", "jsonl") and trees.is_tree_json(contents):
        return trees.read_tree_text(contents, "json")
    if kind in ("parquet", "arrow", "xlsx", "json", "jsonl"):
        return _of_table(frames.READERS[kind](contents, options), name, kind, options)
    if kind in ("nexus", "phyloxml"):
        return trees.read_tree_text(contents, kind)
    if kind == "linkage":
        return trees.read_linkage(contents, options)
    if kind == "newick":
        return trees.read_newick(contents)
    readers = {
        "npy": arrays.read_npy,
        "h5ad": single_cell.read_h5ad,
        "edges": graphs.read_edges,
        "mtx": graphs.read_matrix_market,
        "phylip": phylip.read_phylip,
    }
    if kind not in readers:
        raise FormatError(f"{name} is a {kind} file, which arbora does not read.")
    return readers[kind](contents, options)


def _read_text(contents: Contents, options: ReadOptions) -> Dataset:
    """A text table, which may be an edge list or a square matrix."""
    name, text = contents.name, decoded(contents.raw, contents.name)
    layout = layout_of(text, name, options)
    is_list = layout.n_columns in (2, 3, 4) and graphs.mentions_edges(layout.comments)
    if options.kind == "graph" or (is_list and options.kind is None and options.format == "auto"):
        edges = graphs.read_edges(contents, options)
        note = "taken as an edge list, as its comments say; format='csv' reads it as a table"
        return edges if options.kind == "graph" else replace(edges, notes=(*edges.notes, note))
    if layout.header is not None and not layout.sample:
        raise ValueError(f"{name} has a header but no rows.")
    given = (options.label_column, options.name_column, options.text_column)
    as_text = frozenset(one for one in given if one is not None)
    as_names = {options.name_column, *(graphs.edge_columns(column_names(layout)) or ())[:2]}
    found = read_columns(
        text, layout, name, as_text=as_text, as_numbers=options.features or (), as_names=as_names
    )
    columns, row_names = without_names(found, layout.n_row_names)
    if layout.n_columns == 1 and options.delimiter is None and columns[next(iter(columns))].kind == "text":
        raise FormatError(f"{name} has one column of text. If it should have more, set delimiter=.")
    return _of_table((columns, row_names), name, "tsv" if layout.delimiter == "\t" else "csv", options)


def _of_table(table: Any, name: str, format: str, options: ReadOptions) -> Dataset:
    if isinstance(table, Mapping):
        return _of_links(table, name, options)
    columns, row_names = table
    header = graphs.edge_columns(list(columns)) or (
        graphs.edges_by_nodes(columns) if row_names is None else None
    )
    if header is not None and options.kind in (None, "graph") and options.features is None:
        return graphs.graph_of_columns(columns, header, name, format)
    square = _square_of_table(columns, row_names, name, format, options)
    if square is not None:
        return square
    found = dataset_of(columns, name, format, options, row_names)
    doubt = graphs.numbered_edges(columns) if row_names is None and _is_unsaid(options) else None
    return found if doubt is None else replace(found, warnings=(*found.warnings, doubt))


def _is_unsaid(options: ReadOptions) -> bool:
    """Whether nobody has said what the columns of a table are."""
    given = (options.kind, options.features, options.label_column, options.name_column)
    return all(one is None for one in given)


def _square_of_table(
    columns: dict[str, Column], row_names: list[str] | None, name: str, format: str, options: ReadOptions
) -> Dataset | None:
    """Distances or similarities of a table whose rows and columns are the same points."""
    numbers = dict(columns)
    first = next(iter(columns), None)
    if row_names is None and first is not None and columns[first].kind == "text":
        row_names = numbers.pop(first).words()
    n = len(next(iter(numbers.values())).values) if numbers else 0
    if len(numbers) != n or any(column.kind != "number" for column in numbers.values()):
        if options.kind in ("distances", "similarities"):
            raise ValueError(f"{name} must be a square table of numbers for kind={options.kind!r}.")
        return None
    same_names = row_names is not None and row_names == list(numbers)
    matrix = np.column_stack([column.values for column in numbers.values()])
    return square_dataset(matrix, name, format, options, row_names, same_names=same_names)


def _of_links(data: Mapping[str, Any], name: str, options: ReadOptions) -> Dataset:
    """Graph of networkx's and D3's JSON: nodes, and links between them."""
    nodes = [node if isinstance(node, dict) else {"id": node} for node in data["nodes"]]
    ids = [node.get("id", node.get("name", k)) for k, node in enumerate(nodes)]
    links = data.get("links", data.get("edges", []))
    try:
        ends = _ends_of_links([(link["source"], link["target"]) for link in links], ids)
        weights = np.array([float(link.get("weight", link.get("value", 1.0))) for link in links])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{name}: links must have a source, a target and perhaps a weight: {error!r}"
        ) from error
    return graphs.graph_of_pairs(
        np.array(ends, dtype=np.int64), weights, len(nodes), name, "json", names=[str(one) for one in ids],
        notes=(graphs.ADDED_UP,) if data.get("directed") else (),
        y=graphs.classes_of_nodes(nodes, options.label_column, name), label_name=options.label_column,
    )  # fmt: skip


def _ends_of_links(links: list[tuple[Any, Any]], ids: list[Any]) -> list[list[int]]:
    """Places of the ends among the nodes: ends are ids, or all of them places, as D3 has it as well."""
    number = {one: k for k, one in enumerate(ids)}
    if not any(end in number for link in links for end in link):
        return [[int(end) for end in link] for link in links]
    if len(number) < len(ids):
        raise ValueError("ids of nodes repeat")
    return [[number[end] for end in link] for link in links]


def _of_memory(source: Any, options: ReadOptions) -> Dataset:
    if is_cells(source):
        return single_cell.dataset_of_cells(source, "AnnData", options)
    if isinstance(source, Mapping):
        return _of_table((frames.columns_of(source), None), "mapping", "columns", options)
    package = package_of(source)
    return _of_table(frames.read_frame(source), f"{package} frame", package, options)
