"""What the package ships is what the tables report: each model on the test samples of its set, beside its record."""

from pathlib import Path

import pytest

import lfno
from lfno.data.make import dataset
from lfno.data.split import standard
from lfno.models.storage import SHIPPED
from lfno.paper.record import read_record
from lfno.paper.scoring import mean_errors
from lfno.paper.studies import GROUPS

RECORDS = Path(__file__).parents[1] / "results" / "main" / "default"


RICH = [task for task in (*GROUPS["rich"], *GROUPS["rich-fields"]) if (SHIPPED / f"{task}.safetensors").exists()]
PAIRS = [(task, model) for task in GROUPS["paper"] for model in ("LFNO", "FNO", "LNO")] + [(task, "LFNO") for task in RICH]


@pytest.mark.parametrize(("task", "model"), PAIRS)
def test_the_errors_of_a_shipped_model_are_those_of_its_record(task, model):
    told = read_record(RECORDS / task / f"{model}-s0-f0.json")
    data = dataset(task)
    test = standard(len(data)).test
    found = lfno.load(task if model == "LFNO" else f"{task}-{model.lower()}").predict(data.inputs[test])
    # 2e-8: a sixth of the rounding of single precision, which is what is left of the beam's error
    assert mean_errors(found, data.outputs[test]) == pytest.approx(told.scores, rel=0.01, abs=2e-8)
