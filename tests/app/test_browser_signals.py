"""Signals of the user in a real browser: files, runs, reload, restart, two tabs, comparison, export and prediction."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lfno.app.server import Server
from tests.app.conftest import CHROMIUM, serving

pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")]

Browse = Callable[..., Any]
Table = Callable[..., Path]


#: JavaScript: the label of the axis of |H| for an input in N and an output in mm
LABELS = """async () => {
    const { Chart } = await import("/chart.js");
    const { ratioUnit, axisLabel } = await import("/tools.js");
    return axisLabel("|H|", ratioUnit("mm", "N"));
}"""


def dropped(browse: Browse, server: Server, *files: Path, **options: Any) -> Any:
    """Open the page with the user's signals, add files, and wait until they are read."""
    page = browse(f"{server.address}#signals", **options)
    page.set_input_files("#file", files)
    page.wait_for_selector("#inside")
    return page


def start(page: Any, models: set[str], epochs: int) -> None:
    """Start runs of these models."""
    for box in page.locator("#train-file input[type=checkbox]").all():
        box.set_checked(box.input_value() in models)
    page.fill("#train-file input[type=number]", str(epochs))
    page.click("#train-file [data-do=start]")
    page.wait_for_selector("#train-file .run")


def stage(page: Any, *stages: str) -> None:
    """Wait until a run has one of these stages."""
    page.wait_for_selector(", ".join(f"#train-file .run[data-stage={one}]" for one in stages), timeout=120_000)


def test_readable_files_damaged_files_and_roles(browse: Browse, server: Server, table: Table, tmp_path: Path) -> None:
    page = browse(f"{server.address}#signals")
    page.wait_for_selector("#steps")  # a page without files explains what to do
    page.set_input_files("#file", table("bad.csv", 82, "overflow"))
    page.wait_for_selector("#alert:not([hidden])")
    assert page.inner_text("#alert span").startswith("bad.csv: line 82, column 'u' holds 'overflow', which is not a number")
    page.set_input_files("#file", table("<img src=x onerror=alert(1)>.csv"))
    page.wait_for_selector("#drawn canvas")
    assert page.locator("#alert").is_hidden()
    assert page.locator("#steps").is_hidden()
    assert page.locator("#inside img, #shelf img").count() == 0
    page.reload()
    page.wait_for_selector("#drawn canvas")
    assert page.locator("#train-file input[type=checkbox]").count() == 5  # all five models
    # choose the roles in the table
    page.select_option('[data-variable="force"]', "output")
    page.wait_for_selector("#problem:has-text('Choose at least one input in the table.')")
    page.select_option('[data-variable="u"]', "input")
    page.wait_for_selector('#drawn [data-title="u"]')
    assert page.locator("#problem").is_hidden()
    page.get_by_label("Time step [s]").fill("0.05")
    page.click("[data-do=read]")
    page.wait_for_selector("#problem:not([hidden])")
    assert "“Time step” = 0.05 and the role “time” in the table both state" in page.inner_text("#problem")
    # a file with many columns does not make the page very long
    wide = tmp_path / "wide.csv"
    names = ["t", *(f"c{k}" for k in range(2000))]
    wide.write_text("\n".join([",".join(names), *(",".join(f"{(r * c) % 17}" for c in range(2001)) for r in range(40))]) + "\n")
    page.set_input_files("#file", wide)
    page.wait_for_selector('[data-variable="c3"]')
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    page.get_by_label("find a variable").fill("c1999")
    page.wait_for_selector('[data-variable="c1999"]')


def test_signals_have_legends_and_the_period_of_the_input_can_be_stated(browse: Browse, server: Server, tmp_path: Path) -> None:
    t = np.arange(2000) * 0.05
    columns = [t, np.sin(t), np.cos(1.7 * t), np.sin(t - 1), np.cos(t + 0.3)]
    heads = "t [s],F1 [N],F2 [N],x1 [mm],x2 [mm]"
    np.savetxt(tmp_path / "mimo.csv", np.stack(columns, 1), delimiter=",", header=heads, comments="")
    page = dropped(browse, server, tmp_path / "mimo.csv")
    page.wait_for_selector("#drawn canvas")
    assert "F1\nF2" in page.inner_text('#drawn [data-title="inputs"] .readout')
    assert "x1\nx2" in page.inner_text('#drawn [data-title="outputs"] .readout')
    page.get_by_label("Period of the input", exact=True).select_option("given")
    page.get_by_label("period of the input in the unit of the time").fill("-3")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem:not([hidden])")
    assert "“Period of the input” = -3" in page.inner_text("#problem")
    page.get_by_label("Period of the input", exact=True).select_option("no")
    page.wait_for_selector("#problem[hidden]", state="attached")
    page.reload()
    page.wait_for_selector("#drawn canvas")
    assert page.get_by_label("Period of the input", exact=True).input_value() == "no"


def test_reload_two_tabs_and_restart_during_training(browse: Browse, table: Table, tmp_path: Path) -> None:
    with serving(tmp_path / "workspace") as server:
        port, address = server.server_port, server.address
        page = dropped(browse, server, table(), restarts=True)
        start(page, {"fno"}, 4000)
        stage(page, "training")
        page.reload()
        stage(page, "training")  # the reloaded page shows the active run
        assert page.locator("#train-file [data-do=stop]").is_enabled()
        # another tab opens another file; the run still belongs to the first file, and both tabs show it
        other = dropped(browse, server, table("other.csv"), restarts=True)
        assert other.locator("#train-file .run").count() == 0
        other.click("#shelf a:has-text('rig.csv')")
        stage(other, "training")
        stage(page, "training")
    with serving(tmp_path / "workspace", port):
        page.goto(address + page.url.partition("/#")[2].join(("#", "")))
        page.reload()
        stage(page, "interrupted")
        page.click("#train-file [data-do=continue]")
        stage(page, "training")
        other.reload()
        stage(other, "training")
        other.click("#train-file [data-do=stop]")
        stage(page, "stopped")
        assert "the best weights so far" in page.inner_text("#train-file .run .note")
        page.wait_for_selector("#compare[data-runs='1']", state="attached")


def test_a_run_that_is_stopped_in_the_pilot_has_no_model(browse: Browse, server: Server) -> None:
    page = browse(f"{server.address}#signals")
    page.click("#example")
    page.wait_for_selector("#train-file")
    start(page, {"lfno"}, 3000)
    stage(page, "pilot")
    assert re.search(r"pilot.*epoch \d+ of \d+, about .* left", page.inner_text("#train-file .run-head"))
    page.click("#train-file [data-do=stop]")
    stage(page, "stopped")
    assert "There is no model" in page.inner_text("#train-file .run .note")
    assert page.locator("#compare section").count() == 0
    page.on("dialog", lambda dialog: dialog.accept("the first try"))
    page.click("#train-file [data-do=rename]")
    page.wait_for_selector("#train-file .run-name:has-text('the first try')")
    page.click("#train-file [data-do=delete]")
    page.wait_for_selector("#train-file .run", state="detached")


def test_fit_compare_export_and_predict(browse: Browse, server: Server, table: Table) -> None:
    page = dropped(browse, server, table())
    start(page, {"linear", "lno"}, 2)
    page.wait_for_selector("#compare[data-runs='2']", state="attached", timeout=120_000)
    words = page.inner_text("#error-rows")
    assert "linear model of rig.csv" in words
    assert "LNO of rig.csv" in words
    assert "persistence" in words
    for title in ("Predicted and measured u", "Residuals of u", "Magnitude u / force", "Phase u / force"):
        page.wait_for_selector(f'#compare [data-title="{title}"]')
    assert "solid: steady; dashed: transient" in page.inner_text("#compare .parts-key")
    for form, ending in (("model", ".safetensors"), ("c", ".zip"), ("fmu", ".fmu"), ("onnx", ".onnx"), ("report", ".html")):
        with page.expect_download() as saved:
            page.locator(f"#save [data-form={form}]").first.click()
        assert saved.value.suggested_filename == f"linear-model-of-rig-csv{ending}"
    page.locator("#save .exports", has_text="LNO of rig.csv").locator("[data-form=c]").click()
    page.wait_for_selector("#alert:not([hidden])")
    assert "this model cannot run sample by sample" in page.inner_text("#alert")
    page.set_input_files("#new-file", table("new.csv"))
    page.wait_for_selector("#predicted canvas")
    assert "of the standard deviation" in page.inner_text("#predicted")
    with page.expect_download() as saved:
        page.click("#predicted a")
    assert Path(saved.value.path()).read_text().startswith('"t [s]","u [mm]"\n')
    assert saved.value.suggested_filename == "new-predicted-by-linear-model-of-rig-csv.csv"
    assert "Times are those of the file" in page.inner_text("#compare .times")
    assert "|H| [mm/N]" in page.evaluate(LABELS)
    # the whole page fits on a phone
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.scrollWidth === 390")
    page.set_viewport_size({"width": 1280, "height": 900})
    cut = "[...document.querySelectorAll('#compare .scroll')].some(box => box.scrollWidth > box.clientWidth + 1)"
    page.wait_for_function(f"!{cut}")
