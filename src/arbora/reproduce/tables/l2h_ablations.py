"""Ablations of L2H: aggregation (7), coarse levels (8), merging (9), numbers of clusters (Fig. 5), TreeVAE's steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import arbora as ab
from arbora.reproduce.systems import baseline
from arbora.reproduce.table import Data, Method, Table
from arbora.reproduce.tables.l2h import (
    ABSENT,
    CIFAR_100,
    DIGITS,
    FLAT,
    HIERARCHICAL,
    NEWS,
    PUBLISHED,
    SIX,
    Problem,
    flat_model,
    load,
    score,
    with_l2h,
)

QUICK = {"steps": {"max_steps": 30}}


def _ablation(name: str, title: str, variants: dict[str, dict[str, Any]], note: str) -> Table:
    """Variants of Algorithm 1 on TURTLE's logits."""
    return Table(
        "l2h",
        name,
        title,
        (CIFAR_100, *ABSENT, NEWS, DIGITS),
        HIERARCHICAL,
        tuple(
            Method(
                variant,
                with_l2h,
                "as published",
                variant,
                {"backbone": "TURTLE", **PUBLISHED, **options},
                QUICK,
            )
            for variant, options in variants.items()
        )
        + (Method("refined", with_l2h, "with tree search", None, {"backbone": "TURTLE"}, QUICK),),
        load,
        score,
        n_seeds=2,
        note=note,
    )


TABLE_7 = _ablation(
    "7",
    "Aggregation of a group's scores",
    {
        "sum of sums": {"aggregation": "sum"},
        "mean of means": {"aggregation": "mean_of_means"},
        "sum of means": {},
    },
    '"Sum of means" is the paper\'s choice.',
)
TABLE_9 = _ablation(
    "9",
    "Merging the least sure group, or any pair",
    {"all pairs": {"merging": "all_pairs"}, "Algorithm 1": {}},
    "l2h/classes has the same variants on a classifier's logits.",
)


def _coarse_problem(dataset: str, seed: int, quick: bool) -> Problem:
    return load(dataset.partition(",")[0], seed, quick)


def _at_level(problem: Problem, seed: int, *, steps: dict[str, Any] | None = None) -> NDArray[Any]:
    assert problem.coarse is not None
    k = len(np.unique(problem.coarse))
    model = flat_model("TURTLE", k, seed, **(steps or {})).fit(problem.train)
    return np.asarray(ab.logits.from_estimator(model, problem.test).argmax(axis=1))


def _cut_at_level(problem: Problem, seed: int, **options: Any) -> NDArray[Any]:
    assert problem.coarse is not None
    found = with_l2h(problem, seed, backbone="TURTLE", **options)
    return np.asarray(found.tree.cut(n_clusters=len(np.unique(problem.coarse)))[found.leaf])


def _coarse_score(problem: Problem, labels: NDArray[Any]) -> dict[str, float]:
    assert problem.coarse is not None
    return score(problem._replace(y=problem.coarse), labels)


TABLE_8 = Table(
    "l2h",
    "8",
    "Coarse levels: cut the tree, or train again",
    (
        *(
            Data(f"inaturalist21-{level}", absent="2.7 million images: no features in ARBORA_DATA")
            for level in ("order", "class", "phylum", "kingdom")
        ),
        Data("cifar-100, 20 superclasses", CIFAR_100.files, seconds=60),
        Data("20news, middle level", NEWS.files, seconds=25),
    ),
    FLAT,
    (
        Method("TURTLE at each level", _at_level, "baseline", "TURTLE at each level", {}, QUICK),
        Method("L2H-TURTLE", _cut_at_level, "as published", "L2H-TURTLE", PUBLISHED, QUICK),
        Method("L2H-TURTLE + tree search", _cut_at_level, "with tree search", "L2H-TURTLE", {}, QUICK),
    ),
    _coarse_problem,
    _coarse_score,
    n_seeds=2,
    note="iNaturalist is not here; the same question on two sets with known coarser classes.",
)

FIGURE_5 = Table(
    "l2h",
    "fig5",
    "Another number of clusters than classes",
    (CIFAR_100,),
    SIX,
    tuple(
        Method(f"K = {k}", with_l2h, "as published", None, {"backbone": "TURTLE", "n_clusters": k, **PUBLISHED},
               {"steps": {"max_steps": 30}})
        for k in (85, 90, 95, 100, 105, 110, 115)
    ),
    load,
    score,
    n_seeds=1,
    note="L2H-TURTLE. The paper draws curves and prints no figures.",
)  # fmt: skip

TREEVAE_STEPS = Table(
    "l2h",
    "treevae",
    "How long TreeVAE is trained on few rows",
    (Data("digits", seconds=40),),
    SIX,
    tuple(
        baseline(
            "treevae",
            f"TreeVAE, {name}",
            of=lambda problem: problem.test,
            parameters={"least_steps": steps, "n_groups": 10},
            kind="experiment",
            slower=max(1, steps / 4),
        )
        for name, steps in (("4 steps an epoch", 4), ("16 steps an epoch", 16), ("64 steps an epoch", 64))
    ),
    load,
    score,
    n_seeds=1,
    note="898 rows are four batches, so that an epoch of one pass has four steps where MNIST's has 235: trained for as "
    "many epochs, TreeVAE is far from done on digits. Since this was found, an epoch has 16 steps at least, which is "
    "the row of l2h/1; the number was set with these figures in view.",
)  # fmt: skip

TABLES = (TABLE_7, TABLE_8, TABLE_9, FIGURE_5, TREEVAE_STEPS)
