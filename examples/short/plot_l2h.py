"""A hierarchy of classes from logits
====================================

Any model that gives logits has an opinion on which of its classes are alike: where would the points of a class go if
that class did not exist? `L2H` turns the answers into a tree. Here the model is a plain logistic regression on the
handwritten digits.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import arbora as ab

X, y = load_digits(return_X_y=True)
model = LogisticRegression(C=0.01, max_iter=2000).fit(X[::2] / 16, y[::2])
logits = ab.logits.from_estimator(model, X[1::2] / 16)

# %%
# The tree needs nothing but the logits; bootstrap says which splits to trust.

l2h = ab.L2H(class_names=[f"digit {k}" for k in range(10)], random_state=0).fit(logits)
l2h.tree_.plot("circular", n_clusters=4, support=True)
plt.show()

# %%
# A few levels carry most, each with the share of agreement under resampling.

for level in l2h.levels():
    print(
        f"{level.n_clusters} clusters, gap {level.gap:.2f}, stability {level.stability:.2f}"
    )

# %%
# New points get a cluster at any level, and a probability for every node.

print(l2h.predict(logits[:5], n_clusters=4), l2h.transform(logits[:5]).shape)

# %%
# Asked to be sure, it answers with a class where it is and with a group where it is not. What that costs and gains,
# beside a classifier that may only abstain:

curve = ab.logits.risk_coverage(l2h, logits, y[1::2])
plt.plot(curve.coverage, curve.risk, label="deepest node that is sure enough")
plt.plot(curve.flat_coverage, curve.flat_risk, label="class or no answer")
plt.xlabel("coverage")
plt.ylabel("risk")
plt.legend()
plt.show()

# %%
# The report reads the classifier: what it confuses, and whether its probabilities can be trusted.

print(ab.logits.class_report(l2h, logits, y[1::2], max_rows=5))
