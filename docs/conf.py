"""Sphinx settings."""

from arbora import __version__

project = "arbora"
author = "The arbora developers"
copyright = "2026, the arbora developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
autosummary_generate = True
autodoc_typehints = "none"
napoleon_google_docstring = False
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
exclude_patterns = ["_build", "api/generated/README*", "search_figures.rst"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
}


def write_systems(app):
    """The systems of `arbora.baselines`, one section each, from the registry itself."""
    from pathlib import Path

    from arbora import baselines

    lines = []
    for name in baselines.names():
        system = baselines.describe(name)
        heading = f"{system.title} (``{name}``)"
        facts = {
            "Paper": system.paper,
            "Takes, gives": f"{', '.join(system.takes)}; {system.gives}",
            "Runs on": system.library,
            "Deviations": system.deviations or "none",
            "Needs": ", ".join(system.needs) or "nothing more",
        }
        if system.cannot:
            facts["Cannot run"] = system.cannot
        lines += [heading, "~" * len(heading), ""]
        lines += [f":{title}: {text}" for title, text in facts.items()] + [""]
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    (folder / "baselines.inc").write_text("\n".join(lines), encoding="utf-8")


def setup(app):
    """Sphinx calls this first."""
    app.connect("builder-inited", write_systems)
