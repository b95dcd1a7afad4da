"""Pages: what they say is what the results say."""

from pathlib import Path

import pytest

from arbora.reproduce import pictures, records
from arbora.reproduce.pages import RESULTS, filled, main, outdated, pages_of
from arbora.reproduce.records import Record
from arbora.reproduce.tables import all_tables, find

ROOT = Path(__file__).parents[2]


def found(*values, method="HypHC"):
    key = "dasgupta_ordered_pairs"
    return [Record("hyphc", "1", "zoo", method, k, False, {}, {key: v}) for k, v in enumerate(values)]


def test_pages_agree_with_the_results_in_the_repository():
    assert outdated(ROOT) == [], "run: make results"


def test_the_pages_are_there_and_every_table_is_on_a_page_of_results():
    names = {page.name for page in pages_of(ROOT)}
    assert {"README.md", "results.rst", "hyphc.rst", "ghhc.rst", "fph.rst", "l2h.rst"} <= names
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("results*.rst"))
    assert [table.key for table in all_tables() if f".. arbora-results: {table.key}\n" not in text] == []


def test_pages_of_methods_end_with_what_they_do_not_show():
    papers = ("hyphc", "ghhc", "fph", "l2h")
    for name in (*papers, *(f"results_{paper}" for paper in papers), "results"):
        text = (ROOT / "docs" / f"{name}.rst").read_text(encoding="utf-8")
        last = text[text.rindex("What this does not show") :]
        # no table, hence no further section of results, comes after it
        assert "arbora-results:" not in last


def test_every_record_in_the_repository_belongs_to_a_cell():
    for record in records.load_all(ROOT / RESULTS):
        table = find(f"{record.paper}/{record.table}")
        assert table.method(record.method)
        assert table.dataset(record.dataset)


def test_a_table_shows_mean_deviation_and_the_papers_figure():
    page = ".. arbora-results: hyphc/1\nold\n.. arbora-results-end\nafter"
    text = filled(page, found(280_100.0, 280_300.0))
    assert '"zoo","HypHC","as published","2.802e5","2.8020e5 ± 0.0010e5"' in text
    assert "old" not in text
    assert text.endswith("after")
    assert filled(text, found(280_100.0, 280_300.0)) == text


def test_a_pivot_in_markdown_has_a_column_per_method():
    page = "<!-- arbora-results: hyphc/1 dasgupta_ordered_pairs: HypHC; tree search -->\n<!-- arbora-results-end -->"
    text = filled(page, found(280_100.0), markdown=True)
    assert "| zoo | 2.8010e5 [2.802e5] | not run yet [2.802e5] |" in text
    assert "spambase" not in text


def test_a_method_that_a_table_lacks_is_refused():
    with pytest.raises(ValueError, match=r"hyphc/1 has no method Alchemy"):
        filled(".. arbora-results: hyphc/1 dasgupta_ordered_pairs: Alchemy\n.. arbora-results-end", [])


def test_the_check_finds_a_page_that_was_changed_by_hand(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("nothing")
    page = tmp_path / "docs" / "page.rst"
    page.write_text(".. arbora-results: hyphc/3b milliseconds: exact decoding\n.. arbora-results-end\n")
    assert main(["--check", str(tmp_path)]) == 1
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    page.write_text(page.read_text().replace("Not run yet", "Run"))
    assert main(["--check", str(tmp_path)]) == 1
    assert "make results" in capsys.readouterr().out


def test_pictures_are_drawn_from_records(tmp_path):
    pytest.importorskip("matplotlib")
    table = find("hyphc/3a")
    curve = [
        Record("hyphc", "3a", "iris", method.name, 0, False, {}, {"normalized_cost": 0.1 / (k + 1)})
        for k, method in enumerate(table.methods)
    ]
    path = pictures.draw(table, curve, tmp_path)
    assert path is not None
    assert path.read_bytes().startswith(b"\x89PNG")
    assert pictures.draw(find("hyphc/1"), curve, tmp_path) is None
