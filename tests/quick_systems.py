"""Options with which every system of the registry runs in a moment, where its own take longer."""

QUICK = {
    "tcl": {"n_clusters": 3, "max_steps": 5, "hidden": 8},
    "vgae-links": {"max_epochs": 3},
    "rghc": {"max_steps": 5, "n_internal": 7, "hidden": 8},
    "deepect": {"max_steps": 3, "pretrain_epochs": 1, "hidden": (8,), "latent": 2, "n_groups": 3},
    "treevae": {"max_epochs": 1, "epochs_per_split": 1, "hidden": 8, "encoder_hidden": 8, "n_groups": 3},
    "eph": {"max_epochs": 3, "n_internal": 8},
    "deepwalk-hyphc": {"max_epochs": 2},
    "deepwalk-ghhc": {"max_steps": 5},
    "deepwalk-ufit": {"max_epochs": 5},
    "ufit": {"max_epochs": 5},
    "vgae-ward": {"max_epochs": 3},
    "hyphc": {"max_epochs": 2},
    "ghhc": {"max_steps": 20},
    "fph": {"max_epochs": 5, "n_internal": 8},
    "turtle": {"n_clusters": 3, "max_steps": 20},
    "temi": {"n_clusters": 3, "max_steps": 5},
}

# their libraries compile for many seconds on first use
SLOW = ("evoc", "umap-ward")
