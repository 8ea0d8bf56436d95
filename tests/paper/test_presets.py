"""The paper preset has the hyper-parameters and the numbers of parameters of the paper."""

from lfno.core.grid import Axis, Grid
from lfno.models.storage import MODELS
from lfno.paper.cost import count_parameters
from lfno.paper.presets import find_preset


def test_the_paper_preset_has_the_numbers_of_the_paper():
    grid = Grid.line(2048, dt=0.01)
    for model, count in (("lno", 1309), ("lfno", 3417), ("fno", 1885)):
        preset = find_preset("paper")(model, grid)
        kind = MODELS[preset.model]
        assert count_parameters(kind(grid, kind.Config.from_fields(preset.fields)))["complex_once"] == count
    field = Grid((Axis("x", 50, 0.1), Axis("t", 50, 0.02, time=True)))
    training = find_preset("paper")("lfno", field).training
    assert (training.batch, training.learning_rate, training.weight_decay, training.gamma) == (50, 0.002, 1e-4, 0.8)
