"""Sphinx settings. What the build makes itself (reference, pictures, pages) is in `_ext/`."""

import sys
from pathlib import Path

from arbora import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# What examples write goes here and is copied beside the guide; Sphinx wants the folder to exist from the start.
Path(__file__).with_name("_made").mkdir(exist_ok=True)

project = "arbora"
author = "The arbora developers"
copyright = "2026, the arbora developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "changelog_page",
    "explorer_pages",
    "links_checked",
    "mathml",
    "measured",
    "reference_pages",
]
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
# Types are sentences here ("array of shape (n_points,)"), not names to be linked.
napoleon_use_param = False
napoleon_use_rtype = False
# Attributes look like parameters. Napoleon's own form drops the underscore at the end of `tree_`.
napoleon_custom_sections = [("Attributes", "params_style")]
# What docstrings put in backticks is code, and a link where it is a public name.
default_role = "py:obj"
# "fit()" in the list on the right: with its class, it would be cut off.
toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]
exclude_patterns = ["_build", "_made", "figures", "api/generated/README*", "search_figures.rst"]

html_title = "arbora"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_js_files = ["guide.js"]
html_favicon = "_static/logo.svg"
html_extra_path = ["_made"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "arbora", "image_light": "_static/logo.svg", "image_dark": "_static/logo-dark.svg"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

plot_formats = [("png", 150)]
plot_html_show_source_link = False
plot_html_show_formats = False
plot_include_source = False
plot_rcparams = {"savefig.bbox": "tight"}
plot_apply_rcparams = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "gallery_order.ReadingOrder",
    "image_scrapers": ("explorer_pages.draw_whole", "explorer_pages.embed_written"),
    "reset_modules": ("matplotlib", "explorer_pages.tidy"),
    "reset_modules_order": "both",
    "download_all_examples": False,
    # Pages of running times, which would fetch scripts from elsewhere.
    "write_computation_times": False,
    "remove_config_comments": True,
    "doc_module": ("arbora",),
    "backreferences_dir": "api/backreferences",
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
