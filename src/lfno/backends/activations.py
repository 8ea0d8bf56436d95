"""Activation functions and their derivatives inside a kernel.

KIND is the name of the activation. Any other name is the identity. The activation of NaN is NaN, so that the user sees that a
run diverged.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def activate_with_slope(x, KIND: tl.constexpr):
    """Return act(x) and the derivative act′(x). Both share expensive parts. The compiler drops a result that is not used."""
    if KIND == "relu":
        return tl.where(x < 0, 0.0, x), tl.where(x > 0, 1.0, 0.0)
    elif KIND == "gelu":
        # the normal distribution by formula 26.2.17 of Abramowitz and Stegun, with an error of 7.5e-8, which is faster than erf
        t, bell = 1 / (1 + 0.2316419 * tl.abs(x)), 0.3989422804014327 * tl.exp(-0.5 * x * x)
        tail = 1.781477937 + t * (-1.821255978 + t * 1.330274429)
        tail = bell * t * (0.319381530 + t * (-0.356563782 + t * tail))
        below = tl.where(x < 0, tail, 1 - tail)
        return x * below, below + x * bell
    elif KIND == "sin":
        return tl.sin(x), tl.cos(x)
    elif KIND == "silu":
        s = tl.sigmoid(x)
        return x * s, s * (1 + x * (1 - s))
    elif KIND == "tanh":
        t = 2 * tl.sigmoid(2 * x) - 1
        return t, 1 - t * t
    else:
        return x, x * 0 + 1


@triton.jit
def once(x):
    """Return x, a matrix. Without this function, Triton computes x again for every product that uses it.

    Each product needs its factors in another arrangement of threads. Triton prefers to repeat all operations on a loaded matrix
    in each arrangement, but it never repeats a sum.
    """
    return tl.sum(x[:, :, None], axis=2)


@triton.jit
def activate(x, KIND: tl.constexpr):
    """Return act(x)."""
    return activate_with_slope(x, KIND)[0]


@triton.jit
def slope(x, KIND: tl.constexpr):
    """Return the derivative act′(x)."""
    return activate_with_slope(x, KIND)[1]
