"""Text tables: encoding, delimiter, decimal mark, header and row names are detected, or asked for if ambiguous.

What R and pandas write is understood as they mean it: a header one cell shorter than the rows (``write.table``), an
empty first header cell (``write.csv``, ``to_csv``), decimal commas (``write.csv2``), numbered column names.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arbora.errors import FormatError
from arbora.reading.columns import MISSING_WORDS, NUMBER
from arbora.reading.header import is_header, n_row_names
from arbora.reading.options import ReadOptions, one_character

DELIMITERS = ("\t", ";", "|", ",", " ")
MOST_COLUMNS = 200_000
SAMPLED_ROWS = 200
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+", re.ASCII)
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)
# The line above a table that tells Excel its delimiter.
_EXCEL_DELIMITER = re.compile(r"sep=.", re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """How a text table is laid out."""

    delimiter: str
    decimal: str
    header: list[str] | None
    n_columns: int
    # columns at the left that name the rows: those without a name of their own, several for pandas' MultiIndex
    n_row_names: int
    sample: list[list[str]] = field(repr=False)
    comments: list[str] = field(repr=False)
    # where the table begins in the text, after leading comments
    start: int = 0


def decoded(raw: bytes, name: str) -> str:
    """Text of a file in UTF-8, UTF-16 with a mark, or Latin-1."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return raw.decode("utf-16")
        except UnicodeDecodeError as error:
            raise FormatError(f"{name} is damaged UTF-16 text: {error.reason}.") from error
    if b"\0" in raw:
        raise FormatError(f"{name} is binary or damaged: it holds NUL bytes. Pass format= to say what it is.")
    try:
        text = raw.decode("utf-8-sig")
        # line endings of the classic Macintosh
        return text if "\n" in text else text.replace("\r", "\n")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
        strange = sum(not (c.isprintable() or c in "\r\n\t") for c in text[:65536])
        if strange > len(text[:65536]) / 20:
            raise FormatError(
                f"{name} is binary, in no format that arbora recognizes. Pass format= to say what it is."
            ) from None
        return text


def layout_of(text: str, name: str, options: ReadOptions) -> Layout:
    """Layout of a table, by its first rows."""
    start, comments = leading_comments(text)
    delimiter = _delimiter(text, start, options)
    sample = _sample(text, start, delimiter, name)
    if not sample:
        raise FormatError(f"{name} is empty.")
    header_start = None
    if options.header is not False and not _begins_with_header(sample, name):
        header_start = _commented_header(text, start, delimiter, len(sample[0]))
    if header_start is not None:
        start, comments = header_start, comments[:-1]
        sample = _sample(text, start, delimiter, name)
    first, rest = sample[0], sample[1:]
    is_short = bool(rest) and all(len(row) == len(first) + 1 for row in rest)
    if is_short and options.delimiter is None:
        _refuse_one_column_of_commas(rest, delimiter, name)
    has_header = options.header if options.header is not None else is_short or header_start is not None
    if options.header is None and not has_header:
        quoted = _is_quoted_header(text[start : start + 100_000], first)
        has_header = quoted or is_header(first, rest, name)
    header = (_lengthened(first, rest) if is_short else first) if has_header else None
    body = rest if has_header else sample
    decimal = options.decimal or _decimal(body, delimiter, name)
    n_columns = len(first) + is_short
    return Layout(delimiter, decimal, header, n_columns, n_row_names(header), body, comments, start)


def _sample(text: str, start: int, delimiter: str, name: str) -> list[list[str]]:
    return [row for _, row in zip(range(SAMPLED_ROWS), records(text, start, delimiter, name))]


def _begins_with_header(sample: list[list[str]], name: str) -> bool:
    """Whether the first row is clearly a header, so that no comment is."""
    try:
        return is_header(sample[0], sample[1:], name)
    except FormatError:
        return False


def _commented_header(text: str, start: int, delimiter: str, width: int) -> int | None:
    """Where a header begins that stands in the last comment: ``# x y`` (NumPy) or ``#,x,y``, where "#" is a name."""
    above = text[:start].rstrip()
    line_start = above.rfind("\n") + 1
    line = above[line_start:]
    bare = line.lstrip("#% \t" if delimiter != "\t" else "#% ")
    for candidate in (bare, line):
        cells = [cell.strip() for cell in _split([candidate], delimiter)[0]]
        are_names = all(cells) and not any(NUMBER.fullmatch(cell) for cell in cells)
        if are_names and len(cells) == width == len(set(cells)) > 1:
            return line_start + len(line) - len(candidate)
    return None


def _refuse_one_column_of_commas(rows: list[list[str]], delimiter: str, name: str) -> None:
    """One name above `1,5`: a column of decimal commas, or one of numbers beside the names of the rows?"""
    if delimiter == "," and all(_DECIMAL_COMMA.fullmatch(",".join(row)) for row in rows):
        raise FormatError(
            f"{name} has one name above rows such as {','.join(rows[0])}. Use decimal=',' if that is one number, or "
            "delimiter=',' if it is the name of a row and a number."
        )


def _lengthened(first: list[str], rest: list[list[str]]) -> list[str]:
    """A header one cell shorter than the rows: they begin with their names (R), or end with a delimiter each."""
    return [*first, ""] if not any(row[-1] for row in rest) else ["", *first]


def leading_comments(text: str) -> tuple[int, list[str]]:
    """Where the table begins, and the comment lines (``#``, ``%``, Excel's ``sep=;``) before it."""
    place, comments = 0, []
    while place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        line = text[place:end].strip()
        if line and line[0] not in "#%" and not _EXCEL_DELIMITER.fullmatch(line):
            break
        if line:
            comments.append(line)
        place = end + 1
    return min(place, len(text)), comments


def records(text: str, start: int, delimiter: str, name: str) -> Iterator[list[str]]:
    """Rows of cells without surrounding blanks; blank lines are left out, rows of unequal length refused."""
    csv.field_size_limit(2**24)
    lines = _lines(text, start)
    stripped = (line.rstrip() + "\n" for line in lines) if delimiter == " " else lines
    width, count = 0, 0
    try:
        for row in csv.reader(stripped, delimiter=delimiter, skipinitialspace=True):
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            count += 1
            if count == 1 or (count == 2 and len(row) == width + 1):
                width = len(row)
            _check_width(row, width, count, name)
            yield [cell.strip() for cell in row]
    except csv.Error as error:
        raise FormatError(f"{name} is not a table: {error}.") from error


def _lines(text: str, start: int) -> Iterator[str]:
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end + 1
        yield text[start:end]
        start = end


def _check_width(row: list[str], width: int, count: int, name: str) -> None:
    if len(row) > MOST_COLUMNS:
        raise FormatError(f"{name} has a row of {len(row):,} columns; at most {MOST_COLUMNS:,} are read.")
    if len(row) != width:
        raise FormatError(
            f"{name}: row {count} has {len(row)} columns, the rows before it {width}. "
            "The file may be cut short, or need another delimiter=."
        )


def _delimiter(text: str, start: int, options: ReadOptions) -> str:
    """The delimiter under which the first lines have equally many cells, and most of them are numbers."""
    if options.delimiter is not None:
        return one_character(options.delimiter)
    lines = [line for line in text[start : start + 400_000].splitlines()[:60] if line.strip()]
    if len(text) > start + 400_000 and len(lines) < 60:
        # the last line may be cut
        lines = lines[:-1] or lines
    best, best_score = "," if options.decimal != "," else ";", (0.0, 0.0, 0)
    for candidate in DELIMITERS:
        if candidate == options.decimal:
            continue
        rows = _split(lines, candidate)
        widths = {len(row) for row in rows[1:]} or {len(rows[0])}
        if max(widths) == 1:
            continue
        agree = len(widths) == 1 and len(rows[0]) in (max(widths), max(widths) - 1)
        body = [cell for row in rows[1:] or rows for cell in row]
        numbers = sum(_may_be_number(cell, candidate) for cell in body) / max(len(body), 1)
        score = (float(agree), round(numbers, 2), max(widths) if candidate != " " else 0)
        if score > best_score:
            best, best_score = candidate, score
    return best


def _split(lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        rows = csv.reader(
            (line.rstrip() for line in lines) if delimiter == " " else lines,
            delimiter=delimiter,
            skipinitialspace=True,
        )
        return [row for row in rows if row] or [[""]]
    except csv.Error:
        return [[""]]


def _may_be_number(cell: str, delimiter: str) -> bool:
    cell = cell.strip()
    return bool(NUMBER.fullmatch(cell)) or (delimiter != "," and bool(_DECIMAL_COMMA.fullmatch(cell)))


def _is_quoted_header(start: str, first: Sequence[str]) -> bool:
    """Whether every cell of the first line is quoted and the next line has cells that are not, as R writes them."""
    lines = start.splitlines()[:2]
    if len(lines) < 2 or lines[0].count('"') != 2 * len(first):
        return False
    return lines[1].count('"') < lines[0].count('"')


def _decimal(body: list[list[str]], delimiter: str, name: str) -> str:
    """The decimal mark of the sampled rows; a comma only if some column can be read no other way."""
    if delimiter == ",":
        return "."
    points = commas = thousands = False
    for column in zip(*body):
        cells = [cell for cell in column if cell not in MISSING_WORDS]
        with_comma = [cell for cell in cells if "," in cell]
        if with_comma and all(_DECIMAL_COMMA.fullmatch(c) or NUMBER.fullmatch(c) for c in cells):
            only_thousands = all(_THOUSANDS.fullmatch(cell) for cell in with_comma)
            thousands |= only_thousands
            commas |= not only_thousands
        points |= bool(cells) and all(NUMBER.fullmatch(c) for c in cells) and any(
            _DECIMAL_POINT.fullmatch(cell) for cell in cells
        )  # fmt: skip
    if (commas and points) or (thousands and not commas):
        raise FormatError(
            f"{name} has numbers with commas, which may be decimal commas or separate thousands. Use decimal=',' for "
            "decimal commas; with decimal='.' such columns are text."
        )
    return "," if commas else "."
