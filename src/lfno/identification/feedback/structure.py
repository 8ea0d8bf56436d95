"""Which entries of the equations are free: from a vector of parameters to a law, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lfno.identification.feedback.law import Law, joined, split
from lfno.identification.feedback.terms import Terms


@dataclass(frozen=True)
class Structure:
    """The free parameters of a law, as one vector.

    | group  | entries                                | size                       |
    |--------|----------------------------------------|----------------------------|
    | decay  | a with Re μ = −e^a                     | modes                      |
    | swing  | Im μ                                   | pairs                      |
    | drive  | B without one entry (`anchor`) a mode  | n (inputs − 1)             |
    | gains  | Γ, or g and c with Γ = g (1, c)        | n q, or n + q − 1          |
    | pick   | E                                      | m n, or 0 (`all_states`)   |
    | shape  | shapes of the terms                    | shapes                     |
    | start  | the state at rest                      | n, or 0                    |
    | read   | C                                      | outputs × n                |
    | direct | D                                      | outputs × inputs, or 0     |
    | offset | offset of the outputs                  | outputs                    |

    A modal coordinate may be scaled by any complex number. The anchor, one complex entry of B for each mode, removes that
    freedom: it keeps its value.
    """

    decays: int
    pairs: int
    terms: Terms
    rank_one: bool = True
    all_states: bool = False
    free_start: bool = False
    with_direct: bool = False

    @property
    def modes(self) -> int:
        return self.decays + self.pairs

    @property
    def states(self) -> int:
        return self.decays + 2 * self.pairs

    def sizes(self, inputs: int, outputs: int) -> dict[str, int]:
        """The number of parameters in each group, in the order of the vector."""
        n, q = self.states, self.terms.count
        gains = 0 if q == 0 else (n + q - 1 if self.rank_one else n * q)
        return {
            "decay": self.modes, "swing": self.pairs, "drive": n * (inputs - 1), "gains": gains,
            "pick": 0 if self.all_states or q == 0 else self.terms.signals * n, "shape": self.terms.shapes,
            "start": n if self.free_start else 0, "read": outputs * n,
            "direct": outputs * inputs if self.with_direct else 0, "offset": outputs,
        }  # fmt: skip

    def places(self, inputs: int, outputs: int) -> dict[str, slice]:
        """Where each group lies in the vector."""
        found, at = {}, 0
        for name, size in self.sizes(inputs, outputs).items():
            found[name] = slice(at, at + size)
            at += size
        return found

    def pack(self, law: Law) -> np.ndarray:
        """The vector of parameters of a law that has this structure."""
        fixed = anchors(law)
        drive = [split(np.delete(law.drive[m : m + 1], fixed[m], axis=1).T, int(m < self.decays)).ravel()
                 for m in range(self.modes)]  # fmt: skip
        gains = law.gains.ravel()
        if self.rank_one and self.terms.count:
            lead = law.gains[:, 0]
            gains = np.concatenate([lead, lead @ law.gains[:, 1:] / max(lead @ lead, 1e-300)])
        return np.concatenate([
            np.log(-law.poles.real), law.poles.imag[self.decays :], *drive, gains,
            law.pick.ravel() if self.terms.count and not self.all_states else np.zeros(0), law.shape,
            law.start if self.free_start else np.zeros(0),
            law.read.ravel(), law.direct.ravel() if self.with_direct else np.zeros(0), law.offset,
        ])  # fmt: skip

    def unpack(self, vector: np.ndarray, like: Law) -> Law:
        """The law with these parameters; fixed entries and limits are those of `like`."""
        outputs, inputs = like.direct.shape
        part = {name: vector[place] for name, place in self.places(inputs, outputs).items()}
        n, q = self.states, self.terms.count
        swing = np.concatenate([np.zeros(self.decays), part["swing"]])
        drive, at = like.drive.copy(), 0
        for m, anchor in enumerate(anchors(like)):
            wide = (1 if m < self.decays else 2) * (inputs - 1)
            entries = part["drive"][at : at + wide].reshape(inputs - 1, 1 if m < self.decays else 2)
            drive[m, np.arange(inputs) != anchor] = joined(entries, int(m < self.decays))[:, 0]
            at += wide
        gains = like.gains
        if q and self.rank_one:
            gains = np.outer(part["gains"][:n], np.concatenate([[1.0], part["gains"][n:]]))
        elif q:
            gains = part["gains"].reshape(n, q)
        return replace(
            like, poles=-np.exp(np.minimum(part["decay"], 700.0)) + 1j * swing, drive=drive, gains=gains, terms=self.terms,
            pick=like.pick if self.all_states or not q else part["pick"].reshape(self.terms.signals, n),
            shape=part["shape"], start=part["start"] if self.free_start else like.start,
            read=part["read"].reshape(outputs, n), offset=part["offset"],
            direct=part["direct"].reshape(outputs, inputs) if self.with_direct else like.direct,
        )  # fmt: skip

    def gain_directions(self, law: Law) -> tuple[np.ndarray, np.ndarray]:
        """Γ changes with its k-th parameter as d_k s_kᵀ: d (n, k) and s (q, k)."""
        n, q = self.states, self.terms.count
        if not self.rank_one:
            return np.repeat(np.eye(n), q, axis=1), np.tile(np.eye(q), (1, n))
        lead = law.gains[:, 0]
        mix = np.concatenate([[1.0], lead @ law.gains[:, 1:] / max(lead @ lead, 1e-300)])
        ways = np.concatenate([np.eye(n), np.tile(lead[:, None], (1, q - 1))], axis=1)
        return ways, np.concatenate([np.tile(mix[:, None], (1, n)), np.eye(q)[:, 1:]], axis=1)


def anchors(law: Law) -> np.ndarray:
    """For each mode the input that drives it most; its entry of B is fixed."""
    return np.abs(law.drive).argmax(axis=1)
