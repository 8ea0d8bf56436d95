"""A linear oscillator with two degrees of freedom. The solver uses a matrix exponential and no formula with poles."""

import numpy as np
from scipy.linalg import expm


class Oscillator:
    """Two masses between two walls: M x'' + C x' + K x = f, from rest.

    damped: factor of the damping matrix C.
    """

    mass = np.diag([1.0, 1.5])
    stiffness = np.array([[55.0, -35.0], [-35.0, 45.0]])

    def __init__(self, damped: float = 1.0) -> None:
        self.damping = damped * np.array([[0.13, -0.08], [-0.08, 0.11]])
        zero, one = np.zeros((2, 2)), np.eye(2)
        inverse = np.linalg.inv(self.mass)
        self.matrix = np.block([[zero, one], [-inverse @ self.stiffness, -inverse @ self.damping]])
        self.load = np.vstack([zero, inverse])

    @property
    def poles(self) -> np.ndarray:
        """Return the poles with Im > 0, slowest first."""
        values = np.linalg.eigvals(self.matrix)
        return np.sort_complex(1j * values[values.imag > 0].conj()).conj() * 1j

    @property
    def shapes(self) -> np.ndarray:
        """Return the mode shapes (masses, modes) in the order of `poles`. The largest entry of each shape is 1."""
        values, vectors = np.linalg.eig(self.matrix)
        picked = [np.abs(values - pole).argmin() for pole in self.poles]
        shapes = vectors[:2, picked]
        return shapes / shapes[np.abs(shapes).argmax(0), [0, 1]]

    def impulse(self, size: int, step: float) -> np.ndarray:
        """Return the displacements (outputs, inputs, time) after a unit impulse on each mass."""
        advance, state = expm(self.matrix * step), self.load
        response = np.zeros((2, 2, size))
        for k in range(size):
            response[:, :, k] = state[:2]
            state = advance @ state
        return response

    def respond(self, force: np.ndarray, step: float, substeps: int = 1) -> np.ndarray:
        """Return the displacements (samples, 2, time).

        force: (samples, channels, time) with the step `step / substeps`, linear between these steps.
        """
        small, count = step / substeps, force.shape[1]
        load = self.load[:, :count]
        # one matrix exponential gives the exact step for a force that is linear in time
        block = np.zeros((4 + 2 * count, 4 + 2 * count))
        block[:4, :4], block[:4, 4 : 4 + count] = self.matrix * small, load * small
        block[4 : 4 + count, 4 + count :] = np.eye(count)
        exact = expm(block)
        advance, constant, ramp = exact[:4, :4], exact[:4, 4 : 4 + count], exact[:4, 4 + count :]
        state, outputs = np.zeros((len(force), 4)), [np.zeros((len(force), 2))]
        for k in range(force.shape[-1] - 1):
            now, change = force[..., k], force[..., k + 1] - force[..., k]
            state = state @ advance.T + now @ constant.T + change @ ramp.T
            if (k + 1) % substeps == 0:
                outputs.append(state[:, :2])
        return np.stack(outputs, axis=-1)


def multisine(samples: int, size: int, step: float, seed: int, channels: int = 1, substeps: int = 1) -> np.ndarray:
    """Return sums of 24 sines with random frequencies of 0.2–10 rad/s, (samples, channels, (size − 1) × substeps + 1)."""
    rng = np.random.default_rng(seed)
    time = step / substeps * np.arange((size - 1) * substeps + 1)
    frequency = rng.uniform(0.2, 10, (samples, channels, 24, 1))
    phase = rng.uniform(0, 2 * np.pi, (samples, channels, 24, 1))
    return np.sin(frequency * time + phase).sum(2)
