"""The reference, written from the package itself: every public name of every package, and the command line's help.

Nothing is listed by hand, so nothing can be forgotten. The files go to `docs/api/`, which git does not see.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path

import arbora

DOCS = Path(__file__).parent.parent
API = DOCS / "api"


def packages():
    """The public packages, `arbora` itself first; the last two are for those who look inside."""
    offered = [f"arbora.{name}" for name in arbora._PACKAGES]
    return ["arbora", "arbora.tree", *offered, "arbora.scale", "arbora.reproduce"]


def public_names(package):
    """Full names of what a package offers; modules are replaced by what is in them."""
    module = import_module(package)
    own = getattr(module, "__all__", None)
    if own is None:
        own = sorted(name for name, value in vars(module).items() if _is_defined_in(value, module))
    found = []
    for name in own:
        value = getattr(module, name)
        if inspect.ismodule(value):
            if package != "arbora":
                found += public_names(f"{package}.{name}")
        elif inspect.isclass(value) or callable(value):
            found.append(f"{package}.{name}")
    return found


def _is_defined_in(value, module):
    public = not getattr(value, "__name__", "_").startswith("_")
    return (
        public
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    )


def first_sentence(text):
    """What a docstring says first."""
    return inspect.cleandoc(text or "").split("\n\n")[0].replace("\n", " ")


def titled(title, mark="="):
    """A heading."""
    return f"{title}\n{mark * len(title)}\n\n"


# The top level by what one wants; names that no group has come last, so that none is forgotten.
GROUPS = {
    "Cluster": ("cluster", "TreeClustering", "ClusterReport", "OnlineTree", "refine", "predict"),
    "The tree and the data": ("Tree", "read", "Dataset"),
    "What a tree means": ("explain", "match"),
    "Linkages and k-means": ("linkage", "bisecting_kmeans", "hierarchical_kmeans"),
    "Learned trees": ("HypHC", "GHHC", "FPH", "L2H", "TURTLE", "TEMI"),
}


def _grouped(names):
    """Tables of the top level, each below its heading."""
    left, text = set(names), ""
    for title, members in GROUPS.items():
        text += titled(title, "-") + _table_of([f"arbora.{name}" for name in members]) + "\n"
        left -= {f"arbora.{name}" for name in members}
    return text + titled("More", "-") + _table_of([name for name in names if name in left])


def package_page(package):
    """The page of one package: what it is, and a table of its names."""
    module = import_module(package)
    names = public_names(package)
    above = [
        name for name in names if package != "arbora" and name.rpartition(".")[2] in arbora._HOME_OF_NAME
    ]
    text = titled(package) + first_sentence(module.__doc__) + "\n\n"
    if above:
        links = ", ".join(f":obj:`arbora.{name.rpartition('.')[2]}`" for name in above)
        text += f"At the top level, and described there: {links}.\n\n"
    own = [name for name in names if name not in above]
    if package == "arbora":
        return text + _grouped(own)
    return text + (_table_of(own) if own else "")


def _table_of(names):
    rows = "".join(f"   {name}\n" for name in names)
    return f".. autosummary::\n   :toctree: generated\n\n{rows}"


def command_page():
    """The command line, from the help it prints."""
    import typer

    from arbora.cli._app import app

    root = typer.main.get_command(app)
    parts = [titled("arbora: every command and option")]
    parts.append("Written by the build from the help that ``arbora COMMAND --help`` prints.\n\n")
    for name, command in sorted(root.commands.items(), key=lambda item: _place_of(item[0])):
        parts.append(f".. _cli-{name}:\n\n" + titled(f"arbora {name}", "-"))
        parts.append(inspect.cleandoc(command.help or "").replace("\b", "") + "\n\n")
        usage = " ".join(
            _usage(parameter) for parameter in command.params if parameter.param_type_name == "argument"
        )
        parts.append(f".. code-block:: console\n\n   $ arbora {name} {usage} [OPTIONS]\n\n")
        parts.append(_option_table(command))
    return "".join(parts)


# What most people need first; the rest in the order of the program.
FIRST = ("fit", "cut", "show", "plot", "score", "predict", "refine", "taxonomy")


def _place_of(command):
    return FIRST.index(command) if command in FIRST else len(FIRST)


def _usage(argument):
    name = argument.make_metavar() if not argument.metavar else argument.metavar
    return name.upper()


def _option_table(command):
    rows = []
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        names = ", ".join(f"``{name}``" for name in [*parameter.opts, *parameter.secondary_opts])
        if parameter.param_type_name == "argument":
            names = f"``{_usage(parameter)}``"
        default = parameter.default
        said = "" if default in (None, False, True, ...) or callable(default) else f" Default: ``{default}``."
        rows.append(f"   * - {names}\n     - {_plain(getattr(parameter, 'help', '') or '')}{said}\n")
    return ".. list-table::\n   :widths: 30 70\n\n" + "".join(rows) + "\n"


def _plain(text):
    """Help text as reST: what marks something up there must not here."""
    return (
        " ".join(text.split())
        .replace("\\", "\\\\")
        .replace("*", r"\*")
        .replace("|", r"\|")
        .replace("`", r"\`")
    )


def write(path, text):
    """Write only what has changed, so that Sphinx reads again only what it must."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_all():
    """Every page of the reference."""
    for package in packages():
        write(API / f"{package}.rst", package_page(package))
    write(API / "commands.rst", command_page())


def leave_to_others(app, what, name, value, skip, options):
    """Members that an estimator or a module of ours inherits are described by scikit-learn and PyTorch."""
    home = getattr(value, "__module__", None) or ""
    foreign = home.startswith(("sklearn", "torch")) or re.fullmatch(r"set_\w+_request", name)
    return True if foreign else None


def setup(app):
    """Write at once: Sphinx looks for pages, and autosummary into them, before any build begins."""
    write_all()
    app.connect("autodoc-skip-member", leave_to_others)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
