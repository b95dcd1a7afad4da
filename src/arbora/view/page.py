"""The explorer as one HTML file: script, style and data inside, nothing fetched from anywhere."""

from __future__ import annotations

import base64
import hashlib
import html
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.files import write_whole
from arbora._base.params import check_choice, check_switch, check_whole
from arbora._base.types import PathLike
from arbora.similarity import Similarity
from arbora.tree import Tree
from arbora.view import _kernels as kernels
from arbora.view._pack import pack
from arbora.view.bundle import asset, script
from arbora.view.content import MOST_COMPARED, Columns, Content, in_leaf_order
from arbora.view.editing import Editable, edges_in_page, editable
from arbora.view.folding import MOST_GROUPS, folded_pack
from arbora.view.inputs import similarity_or_neighbors, snippet
from arbora.view.session import quantised_points
from arbora.view.tangle import tangle_parts

MOST_LEAVES_IN_PAGE = 50_000
View = Literal["circular", "dendrogram", "icicle", "treemap", "disk"]
Parts = tuple[dict[str, Any], dict[str, NDArray[Any]]]
VIEWS: tuple[View, ...] = ("circular", "dendrogram", "icicle", "treemap", "disk")

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="arbora" data-view="{view}"></div>
{data}<script>{script}</script>
</body>
</html>
"""


def to_html(
    tree: Tree,
    path: PathLike,
    *,
    view: View = "circular",
    max_leaves: int | None = None,
    names: Iterable[Any] | None = None,
    classes: Columns | None = None,
    metadata: Columns | None = None,
    colors: str | ArrayLike | None = None,
    category_colors: Mapping[str, Mapping[str, str]] | None = None,
    texts: Iterable[Any] | None = None,
    images: ArrayLike | None = None,
    features: ArrayLike | None = None,
    feature_names: Iterable[Any] | None = None,
    points: ArrayLike | None = None,
    compare: Tree | None = None,
    report: Mapping[str, Any] | None = None,
    title: str | None = None,
    edit: bool = False,
    similarity: Similarity | None = None,
) -> Path:
    """Write the explorer as one self-contained HTML file.

    Parameters
    ----------
    tree : Tree
        At most 50,000 leaves without `max_leaves`; `explore` shows trees of any size whole.
    path : path-like
        Where to write; an existing file stays whole until the new one is complete.
    view : {"circular", "dendrogram", "icicle", "treemap", "disk"}
        The view shown first.
    max_leaves : int, optional
        Write the upper part of a larger tree: at most this many groups (20,000 at the most) take the place of its
        leaves, with their counts, columns, top words and exemplars.
    names, classes, metadata, colors, category_colors, texts, images
        What is known about the leaves; see `explore`.
    features, feature_names, points, compare, report, title
        More of it; see `explore`.
    edit : bool
        Let the page rename, merge, move, split and remove nodes, with undo and redo. Edits stay in the page until it
        downloads the tree as Newick, which `Tree.load` reads.
    similarity : Similarity, optional
        What the tree was built on: a leaf shows which leaves it is most similar to, and with `edit` the page shows
        what each edit costs. By default the neighbor graph of `features`, of up to 10,000 without `edit`. For costs
        the page holds every pair that has a similarity: a graph, or up to 500 leaves.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from arbora import Tree
    >>> tree = Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4, name=["ant", "bee", "cat", "dog"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = tree.to_html(Path(folder) / "tree.html", classes=["insect", "insect", "pet", "pet"])
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    about: dict[str, Any] = {
        "names": names, "classes": classes, "metadata": metadata, "colors": colors,
        "category_colors": category_colors, "texts": texts, "images": images,
        "features": features, "feature_names": feature_names, "points": points, "compare": compare,
        "report": report, "title": title,
    }  # fmt: skip
    check_switch(edit, "edit")
    about = in_leaf_order(tree, about)
    if not edit:
        known = similarity_or_neighbors(similarity, about["features"], MOST_COMPARED)
        return write_page(Content(tree, **about, similarity=known), path, view, max_leaves=max_leaves)
    if max_leaves is not None:
        raise ValueError("The upper part of a tree cannot be edited. Leave out max_leaves or edit.")
    start = editable(tree, about, similarity)
    return write_page(start.content, path, view, edits=edit_parts(start))


def write_page(
    content: Content,
    path: PathLike,
    view: View = "circular",
    *,
    max_leaves: int | None = None,
    edits: Parts | None = None,
) -> Path:
    """Write the page of content that is already checked; `edits` (see `edit_parts`) lets it change the tree."""
    n_leaves = content.tree.n_leaves
    if max_leaves is not None:
        max_leaves = check_whole(max_leaves, "max_leaves", least=2, most=MOST_GROUPS)
    elif n_leaves > MOST_LEAVES_IN_PAGE:
        raise ValueError(
            f"One file holds at most {MOST_LEAVES_IN_PAGE:,} leaves. Got {n_leaves:,}. "
            "Use to_html(..., max_leaves=2000) for the upper part of the tree, or tree.explore() for all of it."
        )
    path = Path(path)
    write_whole(path, whole_page(content, view, max_leaves=max_leaves, edits=edits).encode("utf-8"))
    return path


def whole_page(
    content: Content, view: View = "circular", *, max_leaves: int | None = None, edits: Parts | None = None
) -> str:
    """HTML with everything inside."""
    folds = max_leaves is not None and content.tree.n_leaves > max_leaves
    packed = (
        folded_pack(content, max_leaves)
        if folds and max_leaves is not None
        else whole_pack(content, edits or ({}, {}))
    )
    data = base64.b64encode(zlib.compress(packed, 6)).decode("ascii")
    block = f'<script type="text/plain" id="arbora-data">{data}</script>\n'
    return _filled(content.title, block, checked_view(view), in_page=True)


def served_page(content: Content, view: View = "circular") -> str:
    """HTML that asks the local server for its data."""
    return _filled(content.title, "", checked_view(view), in_page=False)


def checked_view(view: Any) -> View:
    """`view`, if there is one of that name."""
    found: View = check_choice(view, "view", VIEWS)
    return found


def policy(connect: str) -> str:
    """Content-Security-Policy: this page's own script and style, by hash, and nothing else."""
    return (
        f"default-src 'none'; script-src 'sha256-{_digest(_script_text())}'; "
        f"style-src 'sha256-{_digest(_style_text())}'; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _filled(title: str, data: str, view: str, *, in_page: bool) -> str:
    # A served page gets its policy as a header; in a file it must come before anything it governs.
    meta = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy(chr(39) + "none" + chr(39))}">\n'
        if in_page
        else ""
    )
    return _PAGE.format(
        policy=meta,
        title=html.escape(title),
        style=_style_text(),
        view=view,
        data=data,
        script=_script_text(),
    )


def _script_text() -> str:
    return "\n(() => {\n" + script("main").replace("</script", "<\\/script") + "})();\n"


def _style_text() -> str:
    return "\n" + asset("style.css")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def edit_parts(start: Editable) -> Parts:
    """What else a page needs to change its tree and to show what that costs."""
    arrays, note = edges_in_page(start.similarity)
    if start.tree.order is not None:
        arrays["order"] = start.tree.order.astype(np.int32)
    return {"editable": True, "costNote": note}, arrays


def whole_pack(content: Content, more: Parts = ({}, {})) -> bytes:
    """Everything about a tree, and more facts and arrays, for a page that answers its own questions."""
    tree = content.tree
    nodes, opened = kernels.unfold(
        tree.root, 0, tree.n_nodes + 1, tree.n_leaves, tree.sizes, tree.child_offsets, tree.child_index
    )
    facts = content.facts() | _name_facts(content)
    arrays: dict[str, NDArray[Any]] = {
        "id": nodes.astype(np.int32),
        "opened": opened.astype(np.int32),
        "leafOrder": tree.leaf_order.astype(np.int32),
    }
    arrays |= {name: values[nodes] for name, values in content.node_arrays.items()}
    for k, column in enumerate(content.columns):
        if column.kind == "text":
            facts["columns"][k]["texts"] = column.values.tolist()
            continue
        value, share = column.of_nodes
        arrays |= {f"value{k}": value[nodes], f"share{k}": share[nodes], f"leaves{k}": column.values}
    if content.images is not None:
        arrays["images"] = content.images.ravel()
    if content.features is not None:
        arrays["exemplars"] = content.exemplars[nodes].astype(np.int32).reshape(-1)
    # a page with the similarities of all pairs finds them there
    similar = None if "edgeFrom" in more[1] else content.similar_table()
    if similar is not None:
        arrays["similar"] = similar.reshape(-1)
    facts["reasons"] = {str(node): content.reasons(node) for node in content.explained}
    if content.texts is not None:
        facts["texts"] = [snippet(text) for text in content.texts]
    if content.words is not None:
        facts["vocabulary"] = content.words.vocabulary
        arrays |= {
            "wordOffsets": content.words.offsets,
            "wordIndex": content.words.index,
            "wordTotal": content.words.total.astype(np.int32),
        }
    if content.points is not None:
        arrays["points"] = quantised_points(content)
    if content.compare is not None:
        facts["tangle"], lines = tangle_parts(content, limit=2 * MOST_LEAVES_IN_PAGE)
        arrays |= {f"tangle.{name}": values for name, values in lines.items()}
    return pack(facts | more[0], arrays | more[1])


def _name_facts(content: Content) -> dict[str, Any]:
    tree = content.tree
    named = content.names is not None or tree.name is not None
    return {
        "names": [content.leaf_name(v) for v in range(tree.n_leaves)] if named else None,
        "innerNames": {str(node): name for node, name in content.inner_names.items()},
    }


__all__ = [
    "MOST_LEAVES_IN_PAGE",
    "VIEWS",
    "View",
    "policy",
    "served_page",
    "to_html",
    "whole_page",
    "write_page",
]
