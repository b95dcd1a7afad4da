import pytest

from arbora.metrics.table import HIGHER, LOWER, LevelScores, Scores


def test_scores_read_like_a_dictionary_and_print_as_a_table():
    scores = Scores({"cost": 12.5, "purity": 1.0}, {"cost": LOWER, "purity": HIGHER}, "A tree")
    assert dict(scores) == {"cost": 12.5, "purity": 1.0} and len(scores) == 2
    title, header, *rows = repr(scores).splitlines()
    assert title == "A tree" and header.split() == ["score", "value", "better"]
    assert [row.split() for row in rows] == [["cost", "12.5", "lower"], ["purity", "1", "higher"]]
    assert len({len(line) for line in [header, *rows]}) == 1
    with pytest.raises(KeyError):
        scores["recall"]


def test_names_are_escaped_on_a_page():
    scores = Scores({"<b>": 1.0}, {"<b>": HIGHER}, "<title>")
    assert "<b>" not in scores._repr_html_().replace("&lt;b&gt;", "")
    assert "&lt;title&gt;" in scores._repr_html_()


def test_levels_have_rows_and_columns():
    levels = LevelScores({"kind": {"nmi": 0.5, "ari": 0.25}, "animal": {"nmi": 1.0, "ari": 0.75}})
    assert levels["kind"]["nmi"] == 0.5 and list(levels) == ["kind", "animal"]
    assert levels.column("ari") == {"kind": 0.25, "animal": 0.75}
    # a row that is handed out is a copy
    levels["kind"]["nmi"] = 0.0
    assert levels["kind"]["nmi"] == 0.5
