"""The pole–residue transform written out term by term: slow, large, and obviously the formula."""

from itertools import product

import torch


def frequencies(size, step):
    return 2 * torch.pi * torch.fft.fftfreq(size, step, dtype=torch.float64)


def spread(poles, shape_io):
    return poles if poles is None or poles.ndim == 3 else poles.expand(*shape_io, -1)


def dense_terms(x, poles, residues, steps):
    """{(axis has T?, …): real tensor} for every combination of S and T; every (l, i, o, m) is materialised.

    On a Fourier axis the residue of a dropped mode is zero, T is absent and S is e^{iωx}.
    """
    grid = x.shape[2:]
    ndim = len(grid)
    poles = [spread(mu, residues.shape[:2]) for mu in poles]
    alpha = torch.fft.fftn(x, dim=tuple(range(2, 2 + ndim))).to(residues.dtype)
    letters_l, letters_m, letters_t = "efg"[:ndim], "pqr"[:ndim], "uvw"[:ndim]
    terms = {}
    for kinds in product((False, True), repeat=ndim):
        if any(kind and poles[d] is None for d, kind in enumerate(kinds)):
            continue
        operands, equation = [], []
        for d, kind in enumerate(kinds):
            n = grid[d]
            t = steps[d] * torch.arange(n, dtype=torch.float64)
            w = frequencies(n, steps[d])
            l, m, u = letters_l[d], letters_m[d], letters_t[d]
            if poles[d] is None:
                # a signed mode m of the residues is frequency l of the field
                count = residues.shape[2 + d]
                k = torch.tensor([j if j < (count + 1) // 2 else j - count for j in range(count)])
                select = (torch.arange(n)[:, None] == (k % n)[None, :]).to(residues.dtype)
                operands += [select, torch.exp(1j * w[:, None] * t).to(residues.dtype)]
                equation += [l + m, l + u]
            elif kind:
                operands += [1 / (poles[d][..., None] - 1j * w), torch.exp(poles[d][..., None] * t)]
                equation += ["io" + m + l, "io" + m + u]
            else:
                operands += [1 / (1j * w - poles[d][..., None]), torch.exp(1j * w[:, None] * t).to(residues.dtype)]
                equation += ["io" + m + l, l + u]
        operands = [operand.to(residues.dtype) for operand in operands]
        inputs = ["bi" + letters_l, "io" + letters_m, *equation]
        u = torch.einsum(",".join(inputs) + "->bo" + letters_t, alpha, residues, *operands)
        terms[kinds] = u.real / torch.tensor(grid).prod()
    return terms
