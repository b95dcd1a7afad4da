"""Options with which every system of the registry runs in a moment, where its own take longer."""

QUICK = {
    "ufit": {"max_epochs": 5},
    "vgae-ward": {"max_epochs": 3},
    "hyphc": {"max_epochs": 2},
    "ghhc": {"max_steps": 20},
    "fph": {"max_epochs": 5, "n_internal": 8},
    "turtle": {"n_clusters": 3, "max_steps": 20},
    "temi": {"n_clusters": 3, "max_steps": 5},
}
