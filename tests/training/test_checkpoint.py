"""A resumed run gives the same result as an uninterrupted run. A checkpoint of another run is refused."""

import pytest
import torch

from lfno.core.errors import LfnoError
from lfno.training import checkpoint
from tests.training.rig import trainer


def test_a_resumed_run_gives_the_same_bits(tmp_path):
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


def test_a_finished_run_continues_with_more_epochs(tmp_path):
    first = trainer(epochs=4)
    first.run()
    checkpoint.save(checkpoint.state(first), tmp_path)
    longer = trainer(epochs=9)
    assert checkpoint.restore(longer, tmp_path)
    assert longer.epoch == 4
    longer.run()
    assert longer.epoch == 9
    assert longer.history.epoch[: len(first.history.epoch)] == first.history.epoch
    assert (longer.best_loss <= first.best_loss).all(), "the best parameters of the first epochs are kept"


def test_if_a_checkpoint_is_damaged_the_one_before_is_used(tmp_path):
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
