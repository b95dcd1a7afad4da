import matplotlib.pyplot as plt

import arbora as ab

classes = ["red"] * 3 + ["blue"] * 3
figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained")
for axis, text in zip(axes, ("(((0,1),2),((3,4),5));", "((((0,1),2),3),(4,5));", "(((0,3),1),((4,2),5));")):
    tree = ab.Tree.from_newick(text).matched_to(range(6))
    purity = ab.metrics.dendrogram_purity(tree, classes)
    tree.plot("dendrogram", ax=axis, classes=classes, legend=False, title=f"purity {purity:.2f}")
