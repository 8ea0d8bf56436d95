"""Any model and any input give a right result or an LfnoError, never another exception or a wrong result."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

import lfno
from lfno.models.export import export
from tests.fuzz.strategies import FLOATS, JSON, NAMES, SIZES, arrays, attempt, counts, grids, mostly, of_shape, tried

MODELS = {"FNO": lfno.FNO, "LNO": lfno.LNO, "LFNO": lfno.LFNO}


def model(data: Any) -> Any:
    """Return a random small model; None if the drawn options do not fit together."""
    grid = data.draw(grids())
    kind = data.draw(st.sampled_from(sorted(MODELS)))
    fields: dict[str, Any] = {"width": data.draw(st.integers(1, 3)), "modes": data.draw(st.integers(1, 4)), "projection": 4}
    fields |= {"in_channels": data.draw(st.integers(1, 2)), "out_channels": data.draw(st.integers(1, 2))}
    fields |= {"grid_channels": data.draw(st.booleans()), "padding": data.draw(st.sampled_from([0.0, 0.5, 1.3]))}
    if kind != "FNO":
        axes = data.draw(st.sampled_from([None, "time", (0,), (1, 0), (5,)]))
        fields |= {"n_poles": data.draw(st.integers(1, 3)), "laplace_axes": axes, "share_poles": data.draw(st.booleans())}
    fields |= {"gate": data.draw(st.booleans())} if kind == "LFNO" else {}
    return attempt(lambda: MODELS[kind](grid, **fields))


def constructors(data: Any) -> None:
    """Sizes that fit into no memory are refused before memory is used."""
    sizes = mostly(2, st.one_of(SIZES, st.sampled_from([1000, 100_000, 10**6])))
    kind = data.draw(st.sampled_from(sorted(MODELS)))
    fields = {name: data.draw(sizes) for name in ("in_channels", "width", "modes", "projection")}
    fields |= {} if kind == "FNO" else {"n_poles": data.draw(sizes)}
    fields |= {"padding": data.draw(mostly(0.0, FLOATS))}
    words = st.sampled_from(["activation", "poles", "steady", "layout", "what"])
    fields |= data.draw(mostly({}, st.dictionaries(words, NAMES, max_size=1)))
    attempt(lambda: MODELS[kind](data.draw(grids(side=60)), **fields))


def answers(data: Any) -> None:
    made = model(data)
    if made is None:
        return
    good = data.draw(st.booleans())
    shape = (data.draw(st.integers(0, 3)), made.config.in_channels, *made.grid.shape)
    inputs = data.draw(of_shape(shape) if good else arrays(side=8))
    grid = data.draw(st.one_of(st.none(), grids()))
    answer = attempt(lambda: made.predict(inputs, grid))
    if answer is not None:
        points = (grid or made.grid).shape
        assert answer.shape[-len(points) :] == points
        parts = attempt(lambda: made.decompose(inputs, grid))
        size = max(float(np.abs(values).max()) for values in (answer, *parts))
        if np.isfinite(size):
            assert np.allclose(parts[0] + parts[1], answer, atol=1e-4 * max(1.0, size))
    if inputs.dtype.kind in "fc" and inputs.dtype.itemsize > 2:
        attempt(lambda: made(torch.as_tensor(inputs)))
    if made.config.__class__.__name__ != "FNOConfig":
        table = made.poles()
        assert np.isfinite(table.contribution).all()


def saved(data: Any) -> None:
    made = model(data)
    if made is None:
        return
    name = data.draw(st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=8))
    path = data.folder / f"{name}.safetensors"
    if attempt(lambda: (made.save(path, note=data.draw(JSON)), True)) is None:
        return
    again = lfno.load(path).networks[0]
    path.unlink()
    assert again.config == made.config
    for name, value in made.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)


def normalised(data: Any) -> None:
    made = model(data)
    if made is not None:
        attempt(lambda: made.normalise(*(data.draw(arrays(0, 1, 3)) for _ in range(4))))
        assert torch.isfinite(made.input_scale).all()


def fitted(data: Any) -> None:
    count, steps = data.draw(mostly(8, st.integers(0, 9))), data.draw(mostly(16, st.integers(0, 20)))
    kinds = [of_shape((count, steps)), of_shape((count, 1, steps)), of_shape((count, 2, steps))]
    inputs, outputs = (data.draw(st.one_of(*kinds, arrays() if data.draw(st.booleans()) else kinds[0])) for _ in "xy")
    changes = {"width": 2, "modes": data.draw(st.integers(1, 4)), "projection": 4, "epochs": 1, "steady_decay": 1e-4}
    changes |= {"n_poles": 2, "batch": data.draw(mostly(3, SIZES)), "learning_rate": data.draw(mostly(0.01, FLOATS))}
    changes |= {
        "ensemble": data.draw(mostly(1, SIZES)),
        "seed": data.draw(mostly(0, SIZES)),
        "fold": data.draw(mostly(0, SIZES)),
    }
    run = attempt(lambda: lfno.fit((inputs, outputs), dt=data.draw(mostly(0.1, FLOATS)), device="cpu", **changes))
    if run is not None and np.isfinite(inputs).all():
        assert np.isfinite(run.predict(inputs.reshape(count, -1, steps)[:2])).all()


def exported(data: Any) -> None:
    """The exported form of a model predicts as the model does. A model that cannot be exported is refused."""
    made = model(data)
    if made is not None:
        target = data.draw(st.sampled_from(["torch", "onnx", "jpeg", ""]))
        grid = data.draw(st.one_of(st.none(), grids(side=6)))
        found = attempt(lambda: export(made, data.folder / "a.bin", target, grid))
        assert found is None or found.error < 1e-3


CASES = [exported, constructors, answers, saved, normalised, fitted]


@counts(CASES, {exported: 3, fitted: 10, answers: 30, saved: 20, constructors: 25}, {exported: 30})
def test_a_right_result_or_an_error_message(case, count):
    tried(case, count)
