"""Parts of a report as text, Markdown, HTML and JSON: complete, aligned and escaped."""

import json
import math

import numpy as np
import pytest

from arbora.logits.sections import Section

ROWS = [{"class": "a|b", "points": 12, "f1": 0.123456}, {"class": "<i>", "points": 3, "f1": math.nan}]
TABLE = Section(
    "nodes", "Weak nodes", "Lowest first.", {"class": "what & why", "points": "", "f1": "mean"}, ROWS
)
MATRIX = Section(
    "confusion", "Confusion", "By class.", matrix=np.array([[5, 1], [0, 4]]), names=["cat", "dog"]
)
EMPTY = Section("pairs", "Pairs", "There are none.")


def test_text_is_a_title_and_an_aligned_table():
    lines = TABLE.to_text().splitlines()
    assert lines == ["Weak nodes", "class  points  f1", "a|b    12      0.123", "<i>    3       -"]


def test_without_a_table_the_sentence_stands_in():
    assert EMPTY.to_text() == "Pairs\nThere are none."


def test_markdown_escapes_bars_and_explains_columns():
    text = TABLE.to_markdown()
    assert text.startswith("## Weak nodes\n\nLowest first.\n\n| class | points | f1 |\n| --- | --- | --- |\n")
    assert "| a\\|b | 12 | 0.123 |" in text
    assert "- `class`: what & why" in text and "`points`" not in text, "no meaning, no line"
    assert EMPTY.to_markdown() == "## Pairs\n\nThere are none."


def test_a_line_break_in_a_cell_does_not_break_the_table():
    section = Section("x", "X", "t", {"name": ""}, [{"name": "one\ntwo"}])
    assert "| one two |" in section.to_markdown()


def test_html_escapes_every_text():
    text = Section("x", "<b>title", "a & b", {"<k>": 'say "it"'}, [{"<k>": "<script>"}]).to_html()
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert "<h3>&lt;b&gt;title</h3>" in text and "<p>a &amp; b</p>" in text
    assert 'title="say &quot;it&quot;"' in text and "&lt;k&gt;" in text
    assert "<table>" not in EMPTY.to_html()


def test_data_is_json_without_nan():
    data = json.loads(json.dumps(TABLE.to_dict(), allow_nan=False))
    assert data["rows"][1] == {"class": "<i>", "points": 3, "f1": None}
    assert "matrix" not in data
    assert json.loads(json.dumps(MATRIX.to_dict()))["matrix"] == [[5, 1], [0, 4]]


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_numbers_that_json_does_not_know_become_none(value):
    assert Section("x", "X", "t", rows=[{"a": value}]).to_dict()["rows"] == [{"a": None}]


def test_a_matrix_is_shown_with_its_names_unless_it_is_large():
    assert MATRIX.to_text().splitlines()[1:] == [
        "true \\ predicted  cat  dog",
        "cat               5    1",
        "dog               0    4",
    ]
    large = Section("c", "C", "Large.", matrix=np.zeros((41, 41), int), names=[str(k) for k in range(41)])
    assert large.to_text() == "C\nLarge." and "<table>" not in large.to_html()
    assert np.array(large.to_dict()["matrix"]).shape == (41, 41), "data is complete"
