"""Activation functions and their derivatives inside a kernel.

KIND is the name of the activation. Any other name is the identity. The activation of NaN is NaN, so that the user sees that a
run diverged.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def activate(x, KIND: tl.constexpr):
    """Return act(x)."""
    if KIND == "relu":
        return tl.where(x < 0, 0.0, x)
    elif KIND == "gelu":
        return 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    elif KIND == "sin":
        return tl.sin(x)
    elif KIND == "silu":
        return x * tl.sigmoid(x)
    elif KIND == "tanh":
        return 2 * tl.sigmoid(2 * x) - 1
    else:
        return x


@triton.jit
def slope(x, KIND: tl.constexpr):
    """Return the derivative act′(x)."""
    if KIND == "relu":
        return tl.where(x > 0, 1.0, 0.0)
    elif KIND == "gelu":
        density = 0.3989422804014327 * tl.exp(-0.5 * x * x)
        return 0.5 * (1 + tl.erf(x * 0.7071067811865476)) + x * density
    elif KIND == "sin":
        return tl.cos(x)
    elif KIND == "silu":
        s = tl.sigmoid(x)
        return s * (1 + x * (1 - s))
    elif KIND == "tanh":
        t = 2 * tl.sigmoid(2 * x) - 1
        return 1 - t * t
    else:
        return x * 0 + 1
