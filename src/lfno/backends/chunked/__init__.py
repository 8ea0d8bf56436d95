"""Kernels of a linear recurrence with constant coefficients, computed in chunks of L time points.

A layer with the input v and the response y has a state s for every pole m and every input channel:

    s[n+1] = q s[n] + c v[n],     y[n] = Re Σ_m R_m s_m[n] + D v[n],

with the residues R. `coefficients` defines q, c, and the response H_τ to the input τ points before, with H_0 = D. In a chunk
that starts at point n₀,

    y[n₀+j] = Σ_{τ ≤ j} H_τ v[n₀+j−τ] + Re Σ_m q_m^j w_m,    w_m = R_m s_m[n₀],
    s[n₀+L] = q^L s[n₀] + Σ_k c q^{L−1−k} v[n₀+k].

Only the states at the starts of chunks are computed one after the other (`states`). All other operations are matrix products
for all chunks at the same time (`response`). The gradient with respect to v is the same computation backwards in time.

Names in all kernels: C channels, M poles, L points in a chunk, Q chunks in a tile. CP, MP and LP are these numbers padded to
the size of a tile. A run is one network of a stack. A sample is one signal. A program is one of the parallel parts of a kernel.
gx is the gradient with respect to x.

Modules:
    coefficients: coefficients of the recurrence from poles and residues, and gradients with respect to poles and residues
    states: states at the starts of chunks
    response: the response of a layer, and the gradient with respect to its input
    gradients: gradients with respect to the coefficients
    pointwise: activation and gate at every point, and their gradients
    products: matrix products in single precision on tensor cores
    launch: functions that call the kernels
"""
