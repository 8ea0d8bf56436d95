"""Basis functions φ(z) of the feedback: monomials, a sine, products with a modulus, tanh units, and knees.

The nonlinear feedback is Γ φ(z), with one column of Γ for each term. z₁, z₂, … are the signals. All terms vanish at z = 0, so
that z = 0 is an equilibrium of the unforced system.

| term   | φ                        | models                                          |
|--------|--------------------------|-------------------------------------------------|
| powers | z₁^α₁ z₂^α₂ …            | springs, dampers, products of states            |
| sines  | sin z − z                | a pendulum that may go over the top             |
| moduli | abs(zᵢ) zⱼ               | hysteresis of Bouc–Wen form, quadratic friction |
| units  | tanh(v z₁ + d) − tanh(d) | any smooth curve of one signal, bounded slope   |
| knees  | ln cosh(v z + d) − …     | straight lines with rounded corners: saturation |

A knee is (ln cosh(v z + d) − ln cosh d) / v. Its slope tanh(v z + d) changes from −1 to 1 at z = −d/v. Together with the linear
part of the model, it describes for example a diode: one slope below a threshold, another slope above.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Terms:
    """A list of basis functions. The order of the terms is powers, sines, moduli, units, knees.

    signals: number of signals z.
    powers: one tuple of exponents for each monomial.
    sines: indices of the signals with a term sin z − z.
    moduli: pairs (i, j) for abs(zᵢ) zⱼ.
    units: number of tanh units of the first signal. Each unit has two shape parameters v and d, in the order v₁ … d₁ ….
    knees: index of the signal of each knee. The shape parameters v₁ … d₁ … of the knees come after the parameters of the units.

    >>> cubic = Terms(1, powers=((3,),))
    >>> value, slope, _ = cubic.slopes(np.array([[2.0]]), np.zeros(0))
    >>> float(value[0, 0]), float(slope[0, 0, 0])
    (8.0, 12.0)
    """

    signals: int
    powers: tuple[tuple[int, ...], ...] = ()
    sines: tuple[int, ...] = ()
    moduli: tuple[tuple[int, int], ...] = ()
    units: int = 0
    knees: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Return the number of terms."""
        return len(self.powers) + len(self.sines) + len(self.moduli) + self.units + len(self.knees)

    @property
    def shapes(self) -> int:
        """Return the number of shape parameters v and d."""
        return 2 * (self.units + len(self.knees))

    @property
    def owners(self) -> np.ndarray:
        """Return for each shape parameter the index of its term."""
        units = np.arange(self.units) + self.count - self.units - len(self.knees)
        knees = np.arange(len(self.knees)) + self.count - len(self.knees)
        return np.concatenate([units, units, knees, knees])

    @property
    def signal_of(self) -> np.ndarray:
        """Return for each term the index of its signal, or of the first of its signals."""
        rows = [int(np.flatnonzero(row)[0]) for row in self.powers]
        return np.array([*rows, *self.sines, *(pair[0] for pair in self.moduli), *[0] * self.units, *self.knees], dtype=int)

    @property
    def bounded(self) -> bool:
        """Return whether all terms have a bounded slope. If so, z needs no limits, and φ is never extrapolated."""
        return not self.powers and not self.moduli

    @property
    def names(self) -> list[str]:
        """Return the names of the terms, for example "z^3" or "sin z − z"."""
        tag = [f"z{n + 1}" if self.signals > 1 else "z" for n in range(self.signals)]
        powers = [
            " ".join(name if e == 1 else f"{name}^{e}" for name, e in zip(tag, row, strict=True) if e) for row in self.powers
        ]
        sines = [f"sin {tag[i]} − {tag[i]}" for i in self.sines]
        moduli = [f"|{tag[i]}| {tag[j]}" for i, j in self.moduli]
        knees = [f"knee {n + 1} of {tag[i]}" for n, i in enumerate(self.knees)]
        return powers + sines + moduli + [f"tanh unit {n + 1}" for n in range(self.units)] + knees

    def values(self, z: np.ndarray, shape: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return φ (…, terms) for z (…, signals)."""
        found = np.empty((*z.shape[:-1], self.count)) if out is None else out
        place = 0
        for row in self.powers:
            found[..., place] = _monomial(z, row)
            place += 1
        for i in self.sines:
            found[..., place] = np.sin(z[..., i]) - z[..., i]
            place += 1
        for i, j in self.moduli:
            found[..., place] = np.abs(z[..., i]) * z[..., j]
            place += 1
        if self.units:
            steep, shift = np.split(shape[: 2 * self.units], 2)
            found[..., place : place + self.units] = np.tanh(z[..., :1] * steep + shift) - np.tanh(shift)
        if self.knees:
            steep, shift = np.split(shape[2 * self.units :], 2)
            found[..., place + self.units :] = (_bend(z[..., self.knees] * steep + shift) - _bend(shift)) / steep
        return found

    def slopes(self, z: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return φ (…, terms), ∂φ/∂z (…, terms, signals) and ∂φ/∂shape (…, shapes).

        Each shape parameter belongs to one term, so ∂φ/∂shape has one entry for each shape parameter.
        """
        value = self.values(z, shape)
        slope, place = np.zeros((*value.shape, self.signals)), 0
        for row in self.powers:
            for i, e in enumerate(row):
                if e:
                    lower = tuple(other - (n == i) for n, other in enumerate(row))
                    slope[..., place, i] = e * _monomial(z, lower)
            place += 1
        for i in self.sines:
            slope[..., place, i] = np.cos(z[..., i]) - 1
            place += 1
        for i, j in self.moduli:
            slope[..., place, i] += np.sign(z[..., i]) * z[..., j]
            slope[..., place, j] += np.abs(z[..., i])
            place += 1
        by_shape = []
        if self.units:
            steep, shift = np.split(shape[: 2 * self.units], 2)
            bend = 1 - np.tanh(z[..., :1] * steep + shift) ** 2
            slope[..., place : place + self.units, 0] = bend * steep
            place += self.units
            by_shape += [bend * z[..., :1], bend - (1 - np.tanh(shift) ** 2)]
        if self.knees:
            steep, shift = np.split(shape[2 * self.units :], 2)
            at = z[..., self.knees]
            turn = np.tanh(at * steep + shift)
            slope[..., np.arange(place, self.count), self.knees] = turn
            by_shape += [(at * turn - value[..., place:]) / steep, (turn - np.tanh(shift)) / steep]
        return value, slope, np.concatenate([*by_shape, np.zeros((*z.shape[:-1], 0))], axis=-1)

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as a dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Terms:
        """Return the terms that `to_dict` described."""
        rows = {name: tuple(tuple(row) for row in tree[name]) for name in ("powers", "moduli")}
        knees = tuple(tree.get("knees", ()))  # files of version 0.1 have no knees
        return cls(int(tree["signals"]), rows["powers"], tuple(tree["sines"]), rows["moduli"], int(tree["units"]), knees)


def monomials(signals: int, degrees: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return all exponents of monomials of `signals` signals with a total degree in `degrees`, lowest degree first.

    >>> monomials(2, (2,))
    ((2, 0), (1, 1), (0, 2))
    """
    rows = [row for row in product(range(max(degrees) + 1), repeat=signals) if sum(row) in degrees]
    return tuple(sorted(rows, key=lambda row: (sum(row), tuple(-e for e in row))))


def _bend(x: np.ndarray) -> np.ndarray:
    """Return ln cosh x, without overflow."""
    size = np.abs(x)
    return np.asarray(size + np.log1p(np.exp(-2 * size)) - np.log(2.0))


def _monomial(z: np.ndarray, exponents: tuple[int, ...]) -> np.ndarray:
    """Return the product of powers of the signals z (…, signals)."""
    result: Any = None
    for i, e in enumerate(exponents):
        for _ in range(e):
            result = z[..., i] if result is None else result * z[..., i]
    return np.ones(z.shape[:-1]) if result is None else result
