"""The free entries of the equations: conversion between a vector of parameters and a law. Symbols: see `law`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lfno.identification.feedback.law import Law, joined, split
from lfno.identification.feedback.terms import Terms


@dataclass(frozen=True)
class Structure:
    """The free parameters of a law, as one vector. The law has n states, q terms and m signals.

    | group    | entries                                | size                       |
    |----------|----------------------------------------|----------------------------|
    | decay    | a with Re μ = −e^a, of all modes       | modes                      |
    | swing    | Im μ of the oscillations               | pairs                      |
    | drive    | B without one entry for each mode      | n (inputs − 1)             |
    | gains    | Γ, or g and c with Γ = g (1, c)        | n q, n + q − 1, or 0       |
    | pick     | E                                      | m n, or 0 (`all_states`)   |
    | actuator | H without one entry for each input     | q, or 0                    |
    | shape    | shape parameters of the terms          | shapes                     |
    | start    | initial state of motions "from rest"   | n, or 0                    |
    | read     | C                                      | outputs × n                |
    | direct   | D                                      | outputs × inputs, or 0     |
    | sensor   | K                                      | outputs × q, or 0          |
    | offset   | offset of the outputs                  | outputs                    |

    The scale of a modal coordinate, a complex number, is arbitrary: a change of the scale in B, Γ, C and E does not change the
    outputs. So one entry of B is fixed for each mode. The scale of an effective input is arbitrary too: a change of the scale
    in H and B does not change the outputs. So one entry of H is fixed for each input. For a linear law (q = 0), the groups
    gains, pick and shape are empty.

    decays: number of decays.
    pairs: number of oscillations.
    terms: the basis functions φ.
    rank_one: whether Γ is the product of a column g (n,) and a row (1, c) with c (q − 1,).
    all_states: whether the signals are all states. Then E is the identity and is not fitted.
    free_start: whether the initial state of motions from rest is fitted.
    with_direct: whether D is fitted.
    sensor: whether K is fitted, with Γ = 0. Otherwise Γ is fitted, with K = 0.
    anchors: index of the input whose entry of B is fixed, for each mode; () for the input with the largest entry.
    actuator: index of the column of H that is fixed, for each input; () for a law without curved actuators. A law with curved
        actuators has Γ = 0 and K = 0, and E is not fitted.
    """

    decays: int
    pairs: int
    terms: Terms
    rank_one: bool = True
    all_states: bool = False
    free_start: bool = False
    with_direct: bool = False
    sensor: bool = False
    anchors: tuple[int, ...] = ()
    actuator: tuple[int, ...] = ()

    @property
    def modes(self) -> int:
        """Return the number of modes."""
        return self.decays + self.pairs

    @property
    def states(self) -> int:
        """Return the number n of real states."""
        return self.decays + 2 * self.pairs

    def sizes(self, inputs: int, outputs: int) -> dict[str, int]:
        """Return the number of parameters in each group, in the order of the vector."""
        n, q = self.states, self.terms.count
        gains = 0 if not self.closed else (n + q - 1 if self.rank_one else n * q)
        return {
            "decay": self.modes, "swing": self.pairs, "drive": n * (inputs - 1), "gains": gains,
            "pick": 0 if self.all_states or q == 0 or self.actuator else self.terms.signals * n,
            "actuator": q if self.actuator else 0, "shape": self.terms.shapes,
            "start": n if self.free_start else 0, "read": outputs * n,
            "direct": outputs * inputs if self.with_direct else 0,
            "sensor": outputs * q if self.sensor else 0, "offset": outputs,
        }  # fmt: skip

    @property
    def closed(self) -> bool:
        """Return whether the terms act back on the states, so that Γ is fitted."""
        return self.terms.count > 0 and not self.sensor and not self.actuator

    def places(self, inputs: int, outputs: int) -> dict[str, slice]:
        """Return the slice of each group in the vector."""
        found, at = {}, 0
        for name, size in self.sizes(inputs, outputs).items():
            found[name] = slice(at, at + size)
            at += size
        return found

    def pack(self, law: Law) -> np.ndarray:
        """Return the vector of parameters of a law with this structure."""
        fixed = self.fixed(law)
        drive = [split(np.delete(law.drive[m : m + 1], fixed[m], axis=1).T, int(m < self.decays)).ravel()
                 for m in range(self.modes)]  # fmt: skip
        gains = law.gains.ravel() if self.closed else np.zeros(0)
        if self.rank_one and self.closed:
            lead = law.gains[:, 0]
            gains = np.concatenate([lead, lead @ law.gains[:, 1:] / max(lead @ lead, 1e-300)])
        return np.concatenate([
            np.log(-law.poles.real), law.poles.imag[self.decays :], *drive, gains,
            law.pick.ravel() if self.terms.count and not self.all_states and not self.actuator else np.zeros(0),
            np.zeros(0) if law.actuator is None else law.actuator[self.entries], law.shape,
            law.start if self.free_start else np.zeros(0),
            law.read.ravel(), law.direct.ravel() if self.with_direct else np.zeros(0),
            np.zeros(0) if law.sensor is None else law.sensor.ravel(), law.offset,
        ])  # fmt: skip

    def unpack(self, vector: np.ndarray, like: Law) -> Law:
        """Return the law with these parameters. Fixed entries and limits come from `like`."""
        outputs, inputs = like.direct.shape
        part = {name: vector[place] for name, place in self.places(inputs, outputs).items()}
        n, q = self.states, self.terms.count
        swing = np.concatenate([np.zeros(self.decays), part["swing"]])
        drive, at = like.drive.copy(), 0
        for m, anchor in enumerate(self.fixed(like)):
            wide = (1 if m < self.decays else 2) * (inputs - 1)
            entries = part["drive"][at : at + wide].reshape(inputs - 1, 1 if m < self.decays else 2)
            drive[m, np.arange(inputs) != anchor] = joined(entries, int(m < self.decays))[:, 0]
            at += wide
        gains, actuator = like.gains, like.actuator
        if not self.closed:
            gains = np.zeros((n, q))
        elif self.rank_one:
            gains = np.outer(part["gains"][:n], np.concatenate([[1.0], part["gains"][n:]]))
        else:
            gains = part["gains"].reshape(n, q)
        if actuator is not None:
            actuator = actuator.copy()
            actuator[self.entries] = part["actuator"]
        return replace(
            like, poles=-np.exp(np.minimum(part["decay"], 700.0)) + 1j * swing, drive=drive, gains=gains, terms=self.terms,
            pick=part["pick"].reshape(self.terms.signals, n) if len(part["pick"]) else like.pick, actuator=actuator,
            shape=part["shape"], start=part["start"] if self.free_start else like.start,
            read=part["read"].reshape(outputs, n), offset=part["offset"],
            direct=part["direct"].reshape(outputs, inputs) if self.with_direct else like.direct,
            sensor=part["sensor"].reshape(outputs, q) if self.sensor else None,
        )  # fmt: skip

    @property
    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows (effective inputs) and the columns of the fitted entries of H, each (q,)."""
        signals, inputs, found = self.terms.signal_of, len(self.actuator), []
        for row, anchor in enumerate(self.actuator):
            own = inputs + np.flatnonzero(signals == row)
            found += [(row, column) for column in (row, *own) if len(own) and column != anchor]
        rows, columns = np.array(found, dtype=int).reshape(-1, 2).T
        return rows, columns

    def effective_slopes(self, law: Law, inputs: np.ndarray) -> np.ndarray:
        """Return the effective inputs, and their derivatives with respect to the groups actuator and shape.

        Each parameter changes only one effective input, so each derivative is one channel.

        inputs: (…, inputs).
        Returns (…, inputs + q + shapes).
        """
        assert law.actuator is not None
        value, _, bent = law.feedback_slopes(inputs @ law.pick.T)
        table, owners = np.concatenate([inputs, value], axis=-1), self.terms.owners
        gains = law.actuator[self.terms.signal_of[owners], inputs.shape[-1] + owners]
        return np.concatenate([table @ law.actuator.T, table[..., self.entries[1]], gains * bent], axis=-1)

    def fixed(self, law: Law) -> np.ndarray:
        """Return for each mode the index of the input whose entry of B is not fitted, (modes,)."""
        return np.array(self.anchors) if len(self.anchors) == self.modes else largest(law.drive)

    def anchored(self, law: Law) -> Structure:
        """Return the structure for a fit that begins with a law: the largest entries of B and H are fixed."""
        if law.actuator is None:
            return replace(self, anchors=tuple(largest(law.drive).tolist()))
        return replace(self, anchors=tuple(largest(law.drive).tolist()), actuator=tuple(largest(law.actuator).tolist()))

    def gain_directions(self, law: Law) -> tuple[np.ndarray, np.ndarray]:
        """Return d (n, parameters) and s (q, parameters): the derivative of Γ with respect to parameter k is d_k s_kᵀ."""
        n, q = self.states, self.terms.count
        if not self.closed:
            return np.zeros((n, 0)), np.zeros((q, 0))
        if not self.rank_one:
            return np.repeat(np.eye(n), q, axis=1), np.tile(np.eye(q), (1, n))
        lead = law.gains[:, 0]
        mix = np.concatenate([[1.0], lead @ law.gains[:, 1:] / max(lead @ lead, 1e-300)])
        ways = np.concatenate([np.eye(n), np.tile(lead[:, None], (1, q - 1))], axis=1)
        return ways, np.concatenate([np.tile(mix[:, None], (1, n)), np.eye(q)[:, 1:]], axis=1)


def largest(matrix: np.ndarray) -> np.ndarray:
    """Return for each row the index of the entry with the largest modulus."""
    return np.abs(matrix).argmax(axis=1)
