"""PyTorch, or the error that says how to install it: the one module that imports it at the top."""

from __future__ import annotations

from arbora._base.optional import require

require("torch", "This part of arbora")

import torch as torch  # noqa: E402
from torch import Tensor as Tensor  # noqa: E402
from torch import nn as nn  # noqa: E402
