"""Functions that the kernels share: products in single precision on tensor cores, and tiles as tuples of steps.

A tile has C channels and Q chunks of L = P · STEPS time points. Each chunk is cut into STEPS steps of P time points. Step k of
all chunks is a matrix with ROWS = P · C rows (point within the step, channel) and one column for each chunk. P is chosen so
that ROWS is 32.
"""

from __future__ import annotations

import triton
import triton.language as tl

#: number of rows of a step: 32 channels at one time point, or 16 channels at two time points; missing channels are zero
ROWS = 32
#: number of steps in a chunk. The response inside a chunk takes STEPS · (STEPS + 1) / 2 = 36 matrix products
STEPS = 8


@triton.jit
def high(x):
    """Return x truncated to 11 significant bits. A tensor core multiplies such numbers exactly."""
    return (x.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def product(a, b, total):
    """Return total + a b in single precision.

    Each factor is the sum of a high and a low part. The product of the two low parts is negligible and left out.
    """
    a_high, b_high = high(a), high(b)
    total = tl.dot(a - a_high, b_high, total, input_precision="tf32")
    total = tl.dot(a_high, b - b_high, total, input_precision="tf32")
    return tl.dot(a_high, b_high, total, input_precision="tf32")


@triton.jit
def product_of(a, b):
    """Return a b in single precision."""
    return product(a, b, tl.zeros((a.shape[0], b.shape[1]), tl.float32))


@triton.jit
def rounded(x):
    """Return x rounded to 11 significant bits."""
    return ((x.to(tl.int32, bitcast=True) + 4096) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def rounded_product(a, b, total):
    """Return total + a b, where both factors are rounded to 11 significant bits. One product takes the place of three.

    Gradients with respect to parameters use this product. They are sums over many points, and every summand has a relative
    error of at most 2⁻¹¹. Values and gradients with respect to fields use `product`.
    """
    return tl.dot(rounded(a), rounded(b), total, input_precision="tf32")


@triton.jit
def _unstack(x):
    """Split a tensor (rows, Q, n) into a tuple of n tensors (rows, Q)."""
    n: tl.constexpr = x.shape[2]
    if n == 1:
        return (tl.reshape(x, (x.shape[0], x.shape[1])),)
    else:
        even, odd = tl.split(tl.reshape(x, (x.shape[0], x.shape[1], n // 2, 2)))
        even, odd = _unstack(even), _unstack(odd)
        steps = ()
        for k in tl.static_range(n // 2):
            steps = steps + (even[k], odd[k])
        return steps


@triton.jit
def _stack(steps):
    """Join a tuple of n tensors (rows, Q) into one tensor (rows, Q, n)."""
    n: tl.constexpr = len(steps)
    if n == 1:
        return steps[0][:, :, None]
    else:
        even, odd = (), ()
        for k in tl.static_range(n // 2):
            even, odd = even + (steps[2 * k],), odd + (steps[2 * k + 1],)
        joined = tl.join(_stack(even), _stack(odd))
        return tl.reshape(joined, (joined.shape[0], joined.shape[1], n))


@triton.jit
def to_steps(tile, P: tl.constexpr, STEPS: tl.constexpr):
    """Split a tile (C, points) into STEPS tensors (P · C, chunks)."""
    C: tl.constexpr = tile.shape[0]
    Q: tl.constexpr = tile.shape[1] // (P * STEPS)
    return _unstack(tl.reshape(tl.permute(tl.reshape(tile, (C, Q, STEPS, P)), (3, 0, 1, 2)), (P * C, Q, STEPS)))


@triton.jit
def from_steps(steps, P: tl.constexpr):
    """Join steps into a tile (C, points): the inverse of `to_steps`."""
    n: tl.constexpr = len(steps)
    C: tl.constexpr = steps[0].shape[0] // P
    Q: tl.constexpr = steps[0].shape[1]
    return tl.reshape(tl.permute(tl.reshape(_stack(steps), (P, C, Q, n)), (1, 2, 3, 0)), (C, Q * n * P))


@triton.jit
def zero_steps(ROWS: tl.constexpr, Q: tl.constexpr, STEPS: tl.constexpr):
    """Return STEPS matrices (ROWS, Q) of zeros."""
    steps = ()
    for _ in tl.static_range(STEPS):
        steps = steps + (tl.zeros((ROWS, Q), tl.float32),)
    return steps


@triton.jit
def load_tile(field, first, c, points, C: tl.constexpr, SIZE: tl.constexpr):
    """Load a tile (channels, SIZE) of one sample, from point `first` on. Values beyond the last point or channel are zero."""
    n = first + tl.arange(0, SIZE)
    return tl.load(field + c[:, None] * points + n[None, :], mask=(c < C)[:, None] & (n < points)[None, :], other=0.0)


@triton.jit
def store_tile(field, first, c, points, values, C: tl.constexpr, SIZE: tl.constexpr):
    """Store a tile (channels, SIZE) of one sample, from point `first` on."""
    n = first + tl.arange(0, SIZE)
    tl.store(field + c[:, None] * points + n[None, :], values, mask=(c < C)[:, None] & (n < points)[None, :])
