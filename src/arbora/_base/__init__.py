"""What every package needs and must decide once. Each file is one decision; nothing here knows of trees.

| file | the decision |
| --- | --- |
| `lazy` | names of a package that load on first use |
| `types` | names of the types that signatures share |
| `jit` | how kernels are compiled, and where the compiled code is kept |
| `threads` | what `n_jobs` means; work shared among threads |
| `random` | what `random_state` means |
| `params` | whole numbers, real numbers, choices and switches, checked with one wording |
| `arrays` | what counts as a matrix of numbers, frames included |
| `rows` (`row_parts`, `row_stores`) | rows read in pieces, from arrays, files, stores and iterators |
| `memory` | how much there is, and refusing what would exhaust it |
| `files` | files written whole or not at all; archives of arrays with a marker |
| `checkpoint` | long work saved in a folder that knows what it belongs to |
| `progress` | what long work reports, and the bar that shows it |
| `training` | one training curve, and scikit-learn's callbacks |
| `optional` | optional dependencies, and the pip line that installs each |
| `pytorch` | PyTorch, imported once, with that line where it is missing |
"""
