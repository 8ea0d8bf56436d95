"""The loop: stacked is separate, resumed is uninterrupted, what fails goes back, what is chosen is chosen on validation."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.data.dataset import Dataset
from lfno.data.scaling import scale_of
from lfno.data.split import standard
from lfno.models.storage import MODELS
from lfno.paper.cost import count_parameters
from lfno.paper.presets import find_preset
from lfno.training import checkpoint
from lfno.training.adam import Adam
from lfno.training.config import TrainingConfig
from lfno.training.loop import BACK_OFF, Trainer
from lfno.training.losses import LOSSES
from lfno.training.networks import make_task
from tests.training.spoiled import spoil_first_run

GRID = Grid.line(48, dt=0.1)
SMALL = {"width": 4, "projection": 8, "batch": 8, "validate_every": 2}


def oscillator(samples=30, seed=0):
    """Responses of a damped oscillator to three random tones, by its recursion."""
    draw, t = np.random.default_rng(seed), 0.1 * np.arange(48)
    rate, phase = draw.uniform(0.5, 5, (samples, 3, 1)), draw.uniform(0, 6.28, (samples, 3, 1))
    force = np.sin(rate * t + phase).sum(1, keepdims=True)
    x, v = np.zeros(samples), np.zeros(samples)
    out = np.zeros_like(force)
    for n in range(48):
        out[:, 0, n] = x
        v = v + 0.1 * (force[:, 0, n] - 0.4 * v - 4 * x)
        x = x + 0.1 * v
    return Dataset(force, out, GRID)


def trainer(model="lfno", epochs=6, seeds=(0,), data=None, **changes):
    data = data or oscillator()
    preset = find_preset("default")(model, data.grid).change(epochs=epochs, **{**SMALL, **changes})
    if model == "lfno":
        preset = preset.change(**{"n_poles": 3, "modes": 6, "transient_layers": 3, "steady_decay": 1e-4, **changes})
    return Trainer([make_task(data, standard(len(data)), preset, seed) for seed in seeds], preset.training)


def felt(stack):
    """All numbers but the imaginary part of R at frequency zero: it changes no answer, and its gradient is rounding, which
    Adam scales up."""
    masks = []
    for name, shape in stack.layout():
        mask = torch.ones(shape, dtype=torch.bool)
        if "weights." in name:
            mask[..., 0, 1] = False
        masks.append(mask.flatten())
    return torch.cat(masks)


@pytest.mark.parametrize("loss", ["l2", "h1"])
@pytest.mark.parametrize("model", ["lfno", "fno", "lno"])
def test_a_stack_is_its_runs_after_fifty_steps(model, loss):
    seeds = (3, 1, 2)
    together = trainer(model, epochs=17, seeds=seeds, loss=loss)  # 3 batches an epoch: 51 steps
    together.run()
    for row, seed in enumerate(seeds):
        alone = trainer(model, epochs=17, seeds=(seed,), loss=loss)
        alone.run()
        apart = (together.adam.theta[row] - alone.adam.theta[0]).abs()
        assert apart[felt(alone.stack)].max() < 1e-5
        assert abs(float(together.best_loss[row] - alone.best_loss[0])) < 1e-5
        x = alone.tasks[0].validation.x
        answers = together.predict(np.stack([x] * len(seeds)))[row], alone.predict(x[None])[0]
        assert abs(answers[0] - answers[1]).max() < 1e-5


def test_a_resumed_run_ends_at_the_same_bits(tmp_path):
    whole = trainer(epochs=8)
    whole.run()
    first = trainer(epochs=8)

    class Stop(Exception):
        pass

    def stop(_trainer, record):
        if record["epoch"] == 4:
            raise Stop

    with pytest.raises(Stop):
        first.run(stop)
    checkpoint.save(checkpoint.state(first), tmp_path)
    second = trainer(epochs=8)
    assert checkpoint.restore(second, tmp_path)
    second.run()
    for name, value in whole.adam.tensors().items():
        assert torch.equal(value, second.adam.tensors()[name]), name
    assert torch.equal(whole.best_theta, second.best_theta)
    assert whole.history.train == second.history.train


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    checkpoint.save(checkpoint.state(trainer(epochs=8)), tmp_path)
    with pytest.raises(LfnoError, match="another run"):
        checkpoint.restore(trainer(epochs=8, learning_rate=1e-4), tmp_path)


def test_a_finished_run_goes_on_for_more_epochs(tmp_path):
    first = trainer(epochs=4)
    first.run()
    checkpoint.save(checkpoint.state(first), tmp_path)
    longer = trainer(epochs=9)
    assert checkpoint.restore(longer, tmp_path)
    assert longer.epoch == 4
    longer.run()
    assert longer.epoch == 9
    assert longer.history.epoch[: len(first.history.epoch)] == first.history.epoch
    assert (longer.best_loss <= first.best_loss).all(), "the best of the first epochs is not forgotten"


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(tmp_path):
    run = trainer(epochs=2)
    checkpoint.save(checkpoint.state(run), tmp_path)
    run.run()
    checkpoint.save(checkpoint.state(run), tmp_path)
    path = tmp_path / checkpoint.NAME
    path.write_bytes(path.read_bytes()[:-50])
    again = trainer(epochs=2)
    assert checkpoint.restore(again, tmp_path)
    assert again.epoch == 0
    (tmp_path / checkpoint.PREVIOUS).write_bytes(b"nothing")
    with pytest.raises(LfnoError, match="no checkpoint"):
        checkpoint.restore(trainer(epochs=2), tmp_path)


def test_another_seed_is_another_network_on_the_same_samples():
    data, split = oscillator(), standard(30)
    preset = find_preset("default")("lfno", data.grid).change(modes=4, n_poles=2, **SMALL)
    first, second = (make_task(data, split, preset, seed) for seed in (0, 1))
    again = first.reseeded(1)
    assert again.train is first.train
    assert again.name == second.name
    other = second.model.state_dict()
    assert all(torch.equal(value, other[name]) for name, value in again.model.state_dict().items())


def test_a_member_that_never_was_finite_is_left_out(monkeypatch, caplog):
    spoil_first_run(monkeypatch)
    with caplog.at_level("WARNING", logger="lfno"):
        run = lfno.fit(oscillator(), "lfno", ensemble=2, epochs=2, steady_decay=1e-4, modes=4, n_poles=2, device="cpu", **SMALL)
    assert len(run.networks) == len(run.provenance["validation_loss"]) == 1
    assert np.isfinite(run.predict(oscillator().inputs)).all()
    assert "seed 0" in caplog.text


@pytest.mark.parametrize("change", [{"learning_rate": "fast"}, {"clip": None}, {"gamma": True}])
def test_a_setting_that_is_no_number_is_one_sentence(change):
    with pytest.raises(LfnoError, match=next(iter(change))):
        TrainingConfig(**change)


def test_a_run_that_is_not_finite_goes_back_with_a_smaller_step_and_leaves_others_alone():
    run = trainer(epochs=8, seeds=(0, 1))
    alone = trainer(epochs=8, seeds=(1,))
    alone.run()

    def spoil(trainer, record):
        if record["epoch"] == 2:
            trainer.adam.theta[0] = torch.nan

    run.run(spoil)
    assert run.retreats.tolist() == [1, 0]
    assert run.scale.tolist() == [BACK_OFF, 1]
    assert torch.isfinite(run.adam.theta).all()
    assert torch.isfinite(run.best_loss).all()
    assert (run.adam.theta[1] - alone.adam.theta[0]).abs()[felt(alone.stack)].max() < 1e-5
    assert run.failed() == []


def test_a_run_that_is_never_finite_is_given_up_with_a_sentence():
    data = oscillator()
    run = trainer(epochs=20, data=data)
    run.train["x"] = run.train["x"] * torch.nan
    run.run()
    assert run.epoch < 20
    assert "smaller learning rate" in run.failed()[0]


def test_what_is_kept_is_the_best_look_at_the_validation_samples():
    run = trainer(epochs=12, learning_rate=0.05, loss="l2")
    run.run()
    losses = [row[0] for row in run.history.validation]
    assert float(run.best_loss[0]) == min(losses)
    assert int(run.best_epoch[0]) == run.history.epoch[int(np.argmin(losses))]
    x, y = run.tasks[0].validation.x, run.tasks[0].validation.y
    (model,) = run.models()
    error = np.linalg.norm((model.predict(x) - y).reshape(len(y), -1), axis=1)
    truth = np.linalg.norm(y.reshape(len(y), -1), axis=1)
    assert np.mean(error / truth) == pytest.approx(min(losses), rel=1e-4)


def test_early_stopping_ends_a_run_that_does_not_improve():
    run = trainer(epochs=50, learning_rate=0.0, patience=6)
    run.run()
    assert run.epoch < 12


def test_steps_before_the_scored_part_do_not_count():
    data = oscillator()
    spoiled = Dataset(data.inputs, data.outputs.copy(), data.grid)
    spoiled.outputs[..., :10] += 100.0
    clean, dirty = trainer(epochs=2, unscored=10), trainer(epochs=2, unscored=10, data=spoiled)
    for buffer in clean.stack.buffers:
        dirty.stack.buffers[buffer] = clean.stack.buffers[buffer]
    clean.run(), dirty.run()
    assert clean.history.train == dirty.history.train


def test_adam_is_torchs_adamw_with_clipping():
    theta = torch.randn(2, 7, dtype=torch.float64)
    ours = Adam.start(theta)
    rows = [torch.nn.Parameter(row.clone()) for row in theta]
    theirs = [torch.optim.AdamW([row], lr=0.01, weight_decay=0.1) for row in rows]
    for step in range(20):
        gradient = torch.randn(2, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(step)) * 3
        ours.step(gradient.clone(), torch.full((2, 1), 0.01), torch.full((2, 7), 0.1), clip=1.0)
        for row, optimiser, own in zip(rows, theirs, gradient, strict=True):
            row.grad = own.clone()
            torch.nn.utils.clip_grad_norm_([row], 1.0)
            optimiser.step()
    assert (ours.theta - torch.stack([row.detach() for row in rows])).abs().max() < 1e-6


def test_poles_are_never_decayed_and_r_has_its_own_decay():
    run = trainer(seeds=(0,))
    run.stack.theta.fill_(1.0)
    decay = run.stack.decay(0.5, [7.0])[0]
    parts = decay.split([shape.numel() for shape in run.stack.shapes])
    for (name, _), part in zip(run.stack.layout(), parts, strict=True):
        expected = 0.0 if ".poles_" in name else 7.0 if "weights." in name else 0.5
        assert (part == expected).all(), name


def test_the_cosine_rises_then_falls_to_nothing_and_the_steps_are_the_papers():
    cosine = TrainingConfig(epochs=100, learning_rate=1.0, warmup=0.1)
    rates = [cosine.rate(epoch) for epoch in range(100)]
    assert rates[0] < 0.2
    assert max(rates) == pytest.approx(1.0)
    assert np.all(np.diff(rates[10:]) < 0)
    assert rates[-1] < 0.001
    steps = replace(cosine, schedule="step", step_size=100, gamma=0.85)
    assert [steps.rate(epoch) for epoch in (0, 99, 100, 250)] == pytest.approx([1, 1, 0.85, 0.85**2])


def test_the_paper_preset_has_the_papers_parameter_counts():
    grid = Grid.line(2048, dt=0.01)
    for model, count in (("lno", 1309), ("lfno", 3417), ("fno", 1885)):
        preset = find_preset("paper")(model, grid)
        kind = MODELS[preset.model]
        assert count_parameters(kind(grid, kind.Config.from_fields(preset.fields)))["complex_once"] == count
    field = Grid((Axis("x", 50, 0.1), Axis("t", 50, 0.02, time=True)))
    training = find_preset("paper")("lfno", field).training
    assert (training.batch, training.learning_rate, training.weight_decay, training.gamma) == (50, 0.002, 1e-4, 0.8)


def test_outputs_count_the_same_in_whatever_unit():
    """A second sensor, in metres or in micrometres, changes nothing in how the first is learned."""
    data = oscillator()
    speed = np.gradient(data.outputs, axis=-1)
    histories = []
    for unit in (1.0, 2.0**20):  # a power of two leaves no trace in the rounding
        both = Dataset(data.inputs, np.concatenate([data.outputs, unit * speed], 1), data.grid)
        run = trainer(epochs=4, data=both)
        run.run()
        histories.append(run.history.validation)
    assert histories[0] == histories[1]


def test_losses_of_known_errors():
    truth = torch.tensor([[[3.0, 4.0]], [[1.0, 0.0]]])
    guess = truth + torch.tensor([[[0.0, 5.0]], [[0.0, 0.5]]])
    assert LOSSES["l2"](guess, truth).tolist() == pytest.approx([1.0, 0.5])
    assert LOSSES["linf"](guess, truth).tolist() == pytest.approx([1.25, 0.5])
    assert LOSSES["mse"](guess, truth).tolist() == pytest.approx([12.5, 0.125])


def test_the_state_loss_counts_slopes_as_much_as_values():
    """An error of a tenth at seven times the frequency: a tenth of the values, seven tenths of the slopes."""
    x = 2 * torch.pi * torch.arange(4096, dtype=torch.float64) / 4096
    truth, error = 3 * torch.sin(x)[None, None], 0.3 * torch.sin(7 * x)[None, None]
    assert LOSSES["h1"](truth + error, truth).item() == pytest.approx((0.1 + 0.7) / 2, rel=1e-4)
    field, wrong = truth[..., None] + 0 * x[:50], error[..., None] + 0 * x[:50]
    # across, the truth is constant, and counts as half a swing; the error has no slope there
    assert LOSSES["h1"](field + wrong, field).item() == pytest.approx((0.1 + 0.7 + 0) / 3, rel=1e-3)


def test_the_state_loss_is_finite_for_samples_that_do_not_move():
    still = torch.full((2, 1, 100), 3.0)
    guess = (still + torch.linspace(0, 0.3, 100)).requires_grad_()
    losses = LOSSES["h1"](guess, still)
    losses.sum().backward()
    assert losses.max() < 0.1
    assert torch.isfinite(guess.grad).all()


def test_zero_keeps_its_meaning_unless_the_mean_dominates():
    rest = np.random.default_rng(0).standard_normal((4, 1, 100)) + 0.2
    assert scale_of(rest)[0] == 0
    warm = 5 * rest + 293
    offset, scale = scale_of(warm)
    assert offset[0] == pytest.approx(warm.mean())
    assert scale[0] == pytest.approx(warm.std())
    assert scale_of(np.full((2, 1, 5), 7.0))[1] == 1


def test_fit_learns_a_linear_oscillator_and_its_files_come_back(tmp_path):
    data = oscillator(60)
    run = lfno.fit(data, "lfno", epochs=40, n_poles=8, modes=12, steady_decay=30.0, folder=tmp_path, device="cpu", **SMALL)
    assert run.scores.rows["LFNO"]["l2"] < 0.01, "the network corrects a linear model, which is right here"
    again = lfno.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(data.inputs[:3]), run.predict(data.inputs[:3]))
    assert again.provenance["best_epoch"] == [int(run.fitted.training.trainer.best_epoch[0])]
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 20


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lfno.fit((np.zeros((4, 8)), np.zeros((4, 8)))), "sampling interval"),
        (lambda: lfno.fit((np.eye(9), np.eye(9)), dt=0.1, widht=3), "no option 'widht'"),
        (lambda: lfno.fit(oscillator(), model="tno"), "not known"),
        (lambda: find_preset("best"), "not known"),
        (lambda: lfno.fit("duffing"), "no data set"),
        (lambda: lfno.fit(oscillator(), epochs=0), "epochs=0"),
        (lambda: lfno.fit(oscillator(), "lfno", unscored=48, modes=4, epochs=1, device="cpu"), "leaves nothing"),
    ],
)
def test_wrong_calls_get_a_sentence(call, words):
    with pytest.raises(LfnoError, match=words):
        call()


def test_the_shipped_models_answer_for_amplitudes_in_no_sample():
    t = lfno.dataset("duffing-c05", count=1).grid["t"].points
    for amplitude in (0.731, 5.123, 9.377):
        force = amplitude * np.exp(-0.05 * t) * np.sin(5 * t)
        truth = lfno.dataset("duffing-c05", inputs=force[None, None])
        guess = lfno.load("duffing-c05").predict(truth.inputs)
        assert np.linalg.norm(guess - truth.outputs) < 0.02 * np.linalg.norm(truth.outputs)
