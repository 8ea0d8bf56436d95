"""Test a wheel in an environment that holds nothing but the wheel: `python .ci/wheel.py dist/lfno-….whl`.

The dependencies come from the environment that runs this script, by a path file; lfno itself comes from the wheel alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
#: the program of the new environment: lfno comes from the wheel, and every shipped model predicts
CHECK = """
import pathlib, sys, numpy as np, lfno
from lfno.models.storage import SHIPPED
assert pathlib.Path(lfno.__file__).is_relative_to(sys.prefix), lfno.__file__
names = sorted(path.stem for path in pathlib.Path(str(SHIPPED)).glob("*.safetensors"))
for name in names:
    model = lfno.load(name)
    inputs = np.zeros((1, model.channels[0], *model.grid.shape), np.float32)
    assert np.isfinite(model.predict(inputs)).all(), name
print(f"lfno {lfno.__version__}: {len(names)} shipped models predict")
"""


def main(wheel: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", "lfno"], cwd=SOURCE, capture_output=True, text=True, check=True).stdout
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("lfno/")}
    if packed != set(tracked.split()):
        sys.exit(f"the wheel and src differ in {sorted(packed ^ set(tracked.split()))}")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=False)
        place = Path(sysconfig.get_path("purelib", vars={"base": folder, "platbase": folder}))
        pip = [sys.executable, "-m", "pip", "--python", folder, "install", "--quiet", "--no-deps", str(wheel)]
        subprocess.run(pip, check=True)
        (place / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
        home = Path(folder) / "home"
        home.mkdir()
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"HOME": str(home)}
        programs = Path(folder) / "bin"
        for command in ([programs / "python", "-c", CHECK], [programs / "lfno", "demo", "--quick"]):
            subprocess.run(command, cwd=home, env=environment, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
