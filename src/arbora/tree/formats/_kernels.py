"""Scanning Newick text as bytes, and the order in which nodes are written."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel

# What `scan_newick` can object to, with the byte at which it did.
(
    TEXT_OK,
    UNEXPECTED,
    OPEN_COMMENT,
    OPEN_QUOTE,
    NOT_CLOSED,
    CLOSED_TOO_OFTEN,
    NO_END,
    AFTER_END,
    NO_LENGTH,
) = range(9)

# What has been seen of the current node.
NOTHING, CHILDREN, LABEL, COLON, LENGTH = range(5)

OPEN, CLOSE, COMMA, COLON_SIGN, END, QUOTE, COMMENT, COMMENT_END = 40, 41, 44, 58, 59, 39, 91, 93


@kernel()
def is_blank(byte):
    """Space, tab, line feed, vertical tab, form feed, carriage return."""
    return byte == 32 or 9 <= byte <= 13


@kernel()
def end_of_comment(text, position):
    """Position after the comment that starts at `position` (comments nest); -1 if it never ends."""
    depth = 0
    for k in range(position, text.shape[0]):
        if text[k] == COMMENT:
            depth += 1
        elif text[k] == COMMENT_END:
            depth -= 1
            if depth == 0:
                return k + 1
    return -1


@kernel()
def end_of_quote(text, position):
    """Position of the quote that ends the label opened at `position` (two stand for one); -1 if none does."""
    k = position + 1
    while k < text.shape[0]:
        if text[k] == QUOTE:
            if k + 1 < text.shape[0] and text[k + 1] == QUOTE:
                k += 1
            else:
                return k
        k += 1
    return -1


@kernel()
def end_of_word(text, position):
    """Position after the unquoted label or number that starts at `position`."""
    k = position
    while k < text.shape[0]:
        byte = text[k]
        if OPEN <= byte <= CLOSE or byte == COMMA or COLON_SIGN <= byte <= END:
            break
        if byte in (QUOTE, COMMENT, COMMENT_END):
            break
        k += 1
    while is_blank(text[k - 1]):
        k -= 1
    return k


@kernel()
def scan_newick(text, n_nodes):
    """Nodes of a Newick text in order of appearance: (problem, position, parent, spans, is_inner, closed).

    `n_nodes` is an upper bound (opening brackets + commas + 1). ``spans[v]`` holds where label and length of
    node v begin and end; ``closed`` lists internal nodes as they were closed: children before parents.
    """
    parent = np.full(n_nodes, -1, dtype=np.int64)
    spans = np.zeros((n_nodes, 4), dtype=np.int64)
    is_inner = np.zeros(n_nodes, dtype=np.bool_)
    closed = np.empty(n_nodes, dtype=np.int64)
    made, n_closed, node, seen, at = 1, 0, 0, NOTHING, 0
    problem = TEXT_OK
    while at < text.shape[0]:
        byte = text[at]
        if is_blank(byte):
            at += 1
            continue
        if byte == COMMENT:
            after = end_of_comment(text, at)
            if after < 0:
                problem = OPEN_COMMENT
                break
            at = after
            continue
        if seen == COLON and byte in (COMMA, CLOSE, END, COLON_SIGN):
            problem = NO_LENGTH
            break
        if byte == END:
            break
        after = at + 1
        if byte == OPEN and seen == NOTHING:
            is_inner[node] = True
            parent[made] = node
            node = made
            made += 1
        elif byte == COMMA and parent[node] >= 0:
            parent[made] = parent[node]
            node = made
            made += 1
            seen = NOTHING
        elif byte == CLOSE and parent[node] >= 0:
            node = parent[node]
            closed[n_closed] = node
            n_closed += 1
            seen = CHILDREN
        elif byte == CLOSE:
            problem = CLOSED_TOO_OFTEN
            break
        elif byte == COLON_SIGN and seen <= LABEL:
            seen = COLON
        elif byte == QUOTE and seen <= CHILDREN:
            after = end_of_quote(text, at)
            if after < 0:
                problem = OPEN_QUOTE
                break
            after += 1
            spans[node, 0], spans[node, 1] = at, after
            seen = LABEL
        elif byte in (OPEN, COMMA, COLON_SIGN, QUOTE, COMMENT_END):
            problem = UNEXPECTED
            break
        elif seen <= CHILDREN or seen == COLON:
            after = end_of_word(text, at)
            column = 2 if seen == COLON else 0
            spans[node, column], spans[node, column + 1] = at, after
            seen = LENGTH if seen == COLON else LABEL
        else:
            problem = UNEXPECTED
            break
        at = after
    if problem == TEXT_OK:
        problem, at = check_end(text, at, parent[node] >= 0)
    return problem, at, parent[:made], spans[:made], is_inner[:made], closed[:n_closed]


@kernel()
def check_end(text, at, is_open):
    """Whether the text is complete at its semicolon (at `at`), with nothing but blanks and comments after."""
    if is_open:
        return NOT_CLOSED, at
    if at >= text.shape[0]:
        return NO_END, at
    at += 1
    while at < text.shape[0]:
        if text[at] == COMMENT:
            after = end_of_comment(text, at)
            if after < 0:
                return OPEN_COMMENT, at
            at = after
        elif is_blank(text[at]):
            at += 1
        else:
            return AFTER_END, at
    return TEXT_OK, at


@kernel()
def write_order(parent, n_leaves, leaf_order, offsets, index):
    """Nodes in the order in which Newick names them, with the brackets to open and whether a comma follows.

    A leaf opens a bracket for each ancestor whose first leaf it is; then come the nodes that end with it.
    """
    n_nodes = parent.shape[0]
    is_first = np.zeros(n_nodes, dtype=np.bool_)
    is_last = np.zeros(n_nodes, dtype=np.bool_)
    for slot in range(offsets.shape[0] - 1):
        is_first[index[offsets[slot]]] = True
        is_last[index[offsets[slot + 1] - 1]] = True
    order = np.empty(n_nodes, dtype=np.int64)
    opens = np.zeros(n_nodes, dtype=np.int64)
    comma = np.zeros(n_nodes, dtype=np.bool_)
    at = 0
    for leaf in leaf_order:
        node = leaf
        while is_first[node]:
            opens[at] += 1
            node = parent[node]
        node = leaf
        while True:
            order[at] = node
            comma[at] = parent[node] >= 0 and not is_last[node]
            at += 1
            if not is_last[node]:
                break
            node = parent[node]
    return order, opens, comma


@kernel()
def measure_from_root(parent, length):
    """Distance of each node from the root."""
    distance = np.zeros(parent.shape[0])
    for node in range(parent.shape[0] - 2, -1, -1):
        distance[node] = distance[parent[node]] + length[node]
    return distance


@kernel()
def measure_to_leaves(parent, n_leaves, length):
    """Longest and shortest distance from each node down to a leaf."""
    longest = np.full(parent.shape[0], -np.inf)
    shortest = np.full(parent.shape[0], np.inf)
    longest[:n_leaves] = 0.0
    shortest[:n_leaves] = 0.0
    for node in range(parent.shape[0] - 1):
        above = parent[node]
        longest[above] = max(longest[above], longest[node] + length[node])
        shortest[above] = min(shortest[above], shortest[node] + length[node])
    return longest, shortest
