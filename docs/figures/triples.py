import json
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

costs = defaultdict(lambda: defaultdict(list))
for found in Path("../results/hyphc/3a").glob("*.json"):
    result = json.loads(found.read_text(encoding="utf-8"))
    if not result["failure"]:
        share = 100 * result["parameters"]["share"]
        costs[result["dataset"]][share].append(result["values"]["normalized_cost"])
figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, by_share in sorted(costs.items()):
    shares = sorted(by_share)
    means, deviations = zip(*[(np.mean(by_share[share]), np.std(by_share[share])) for share in shares])
    axis.errorbar(shares, means, deviations, marker="o", capsize=3, label=name)
axis.set(
    xscale="log", xlabel="triples per epoch, % of n²", ylabel="normalized cost", xticks=[1, 3, 10, 30, 100]
)
axis.set_xticklabels(["1", "3", "10", "30", "100"])
axis.legend()
