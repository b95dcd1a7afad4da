from sklearn.datasets import load_wine

import arbora as ab

wine = load_wine()
tree = ab.cluster(wine.data, random_state=0)
tree.plot("disk", classes={"cultivar": [f"cultivar {k}" for k in wine.target]})
