"""The systems on the page in a real browser: inputs, zoom, keyboard and phones. The console must stay empty."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lfno.app.server import Server
from tests.app.conftest import CHROMIUM
from tests.app.pages import Browse, opened, shown

pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")]

#: JavaScript: the sum of the layout shifts of the page
SHIFT = """() => new Promise(resolve => new PerformanceObserver(list => {
    resolve(list.getEntries().filter(e => !e.hadRecentInput).reduce((sum, e) => sum + e.value, 0));
}).observe({type: 'layout-shift', buffered: true}) || setTimeout(() => resolve(0), 500))"""
#: JavaScript: the charts as pictures
PICTURES = "() => [...document.querySelectorAll('#response canvas')].map(canvas => canvas.toDataURL())"


def test_inputs_sliders_and_drawing(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    assert page.locator("#systems a").count() == 12
    assert page.evaluate(SHIFT) < 0.02
    page.goto(f"{server.address}#systems/duffing-c05?kind=decaying%20sine&amplitude=2")
    shown(page, "duffing-c05", '"amplitude":2,')
    page.click('[data-curve="LFNO"]')  # show the paper's LFNO; at first the page shows only the model fitted to random inputs
    before = page.evaluate(PICTURES)
    for kind in ("sine", "multisine", "chirp", "step", "pulse", "random"):
        page.click(f'[data-kind="{kind}"]')
        shown(page, f'"kind":"{kind}"')
        assert f"kind={kind}" in page.url
        assert page.locator(".formula").inner_text().startswith("f(t) = ")
        # the paper's models were trained on one shape of input only
        assert "LFNO (paper): out of the range of training" in page.inner_text("#error-table")
    assert page.evaluate(PICTURES) != before
    slider = page.get_by_label("amplitude A", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    shown(page, '"amplitude":2.05')
    # draw the input with the pointer, and with the keyboard
    page.click('[data-kind="drawn by hand"]')
    shown(page, "drawn by hand")
    box = page.locator(".sketch canvas").bounding_box()
    state = page.get_attribute("body", "data-shown")
    page.mouse.move(box["x"] + 80, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 10, steps=6)
    page.mouse.up()
    page.wait_for_selector(f"body:not([data-shown={json.dumps(state)}])", state="attached")
    # a value that is not allowed is reset, and the error message is visible
    page.click("[data-kind=sine]")
    shown(page, '"kind":"sine"')
    number = page.get_by_label("amplitude A as a number")
    number.fill("1e9")
    number.press("Enter")
    page.wait_for_selector("#alert:not([hidden])")
    assert "choose a value between" in page.inner_text("#alert")
    alert = page.locator("#alert").bounding_box()
    assert alert["y"] + alert["height"] <= 900
    assert number.input_value() == "2.05"
    # the file of the feedback model stores the range of its training inputs
    number.fill("40")
    number.press("Enter")
    shown(page, '"amplitude":40')
    assert "feedback" in page.locator("#error-table .beyond", has_text="out of the range of training").first.inner_text()


def test_an_address_with_a_wrong_input_shows_an_error_message_and_the_default_input(browse: Browse, server: Server) -> None:
    places = {"duffing-c05?kind=sine&amplitude=1e99": "kind=multisine", "heat?family=paper&value=1e9": "family=random"}
    for place, kind in places.items():
        page = opened(browse, f"{server.address}#systems/{place}")
        assert "is not allowed; choose a value between" in page.inner_text("#alert")
        assert kind in page.url  # the default input of the system
        assert page.locator("#error-table tr").count() > 1


def test_the_layout_does_not_shift_while_the_page_loads(browse: Browse, server: Server) -> None:
    for width in (1440, 1280, 390):
        for place in ("systems/duffing-c0", "systems/heat", "systems/burgers"):
            page = opened(browse, f"{server.address}#{place}", width=width)
            assert page.evaluate(SHIFT) < 0.02, (place, width)
    assert page.inner_text(".formula") == "u₀(x): six waves with random amplitudes"
    assert page.locator("#split h2").inner_text() == "Transient and steady"  # Burgers has no true parts


def test_split_modes_and_sweep_with_their_caveats(browse: Browse, server: Server) -> None:
    page = opened(browse, f"{server.address}#systems/duffing-c05?kind=decaying%20sine&amplitude=4")
    assert page.locator("#split-caveat").is_hidden()  # the split of the feedback model is physical
    page.wait_for_selector("#modes[data-ready]")
    assert page.locator("#modes .caveat").count() == 0
    assert "truth" in page.inner_text("#modes")
    assert "0.154" in page.inner_text("#modes")
    page.click("#sweep button")
    page.wait_for_selector("#sweep[data-ready]")
    assert page.locator("#sweep canvas").count() == 1
    # modes with feedback have no layers. The page shows the layers of the paper's LFNO, and says why they are not physical
    page.click("#modes summary")
    page.wait_for_selector("#modes details:has-text('No model that is shown has layers with poles')")
    page.click('[data-curve="LFNO"]')
    page.wait_for_selector("#modes .caveat:has-text('LFNO (paper): modes that are not physical')")
    page.click("#split-of button:text-is('LFNO (paper)')")
    page.wait_for_selector("#split-caveat:has-text('trained on one shape of forcing')")
    page.wait_for_selector("#modes canvas")
    page.focus("#modes canvas")
    page.keyboard.press("ArrowRight")
    assert "damping ratio" in page.inner_text("#modes .tip")


def test_zoom_pan_read_values_and_save_png_and_csv(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    chart = page.locator('#response [data-title="Response"]')
    box = chart.locator(".u-over").bounding_box()

    def view(title: str = "Response") -> tuple[float, float]:
        one = page.locator(f'#response [data-title="{title}"]')
        return float(one.get_attribute("data-from")), float(one.get_attribute("data-to"))

    whole = view()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60, steps=5)
    page.mouse.up()
    low, high = view()
    assert (low, high) == pytest.approx((0.25 * whole[1], 0.5 * whole[1]), rel=0.05)
    assert view("Input") == view("Error") == (low, high)  # charts with the same time axis are zoomed together
    # pan with the shift key
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 50, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert view()[0] > low
    assert view()[1] - view()[0] == pytest.approx(high - low, rel=0.02)
    # with the keyboard: show the whole axis, zoom, read values
    chart.focus()
    page.keyboard.press("0")
    assert view() == whole
    page.keyboard.press("+")
    assert view()[1] - view()[0] < 0.6 * (whole[1] - whole[0])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "truth" in chart.locator(".readout").inner_text()
    assert "t = " in chart.locator(".readout").inner_text()
    with page.expect_download() as saved:
        chart.get_by_label("save the values").click()
    rows = Path(saved.value.path()).read_text().splitlines()
    assert len(rows) == 1025
    assert rows[0] == '"t [s]","truth [m]","feedback model [m]"'  # only the lowest chart shows the label of the time
    assert saved.value.suggested_filename == "duffing-c-0-5-response.csv"
    with page.expect_download() as saved:
        chart.get_by_label("save as a picture").click()
    assert Path(saved.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_every_axis_has_between_2_and_15_ticks_with_labels(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    ticks = page.eval_on_selector_all("#view-systems .uchart", "charts => charts.map(chart => Number(chart.dataset.ticks))")
    assert len(ticks) == 5
    assert min(ticks) >= 2
    # after a zoom, a logarithmic axis can begin and end at any value
    draw = """async ([low, high]) => {
        const { Chart } = await import("/chart.js");
        const chart = new Chart(document.querySelector("#response"), { title: "any", log: true, logX: true });
        const x = Float64Array.from({ length: 20 }, (_, n) => low * (high / low) ** (n / 19));
        chart.set(x, [{ name: "truth", label: "truth", y: x.map((value) => value / 7), width: 1 }]);
        while (chart.box.dataset.ticks === undefined) await new Promise((done) => requestAnimationFrame(done));
        const labels = chart.u.axes[0]._values.filter(Boolean).length;
        chart.box.remove();
        return labels;
    }"""
    for ends in ([0.0952381, 0.7619], [3.1, 4.2], [1e-7, 8e3], [0.11, 0.31]):
        assert 2 <= page.evaluate(draw, ends) <= 15, ends


def test_random_inputs_of_a_field(browse: Browse, server: Server) -> None:
    page = opened(browse, f"{server.address}#systems/heat")
    shown(page, "heat ", '"family":"random"')
    assert page.locator("#split .map").count() == 4  # two parts of the model and two true parts
    assert "differs from the true steady part by" in page.inner_text("#split-error")
    assert page.locator("#error-table .beyond").count() == 0
    page.click("[data-family=paper]")
    shown(page, "heat ", '"family":"paper"')
    assert "LFNO: out of the range of training: the model was trained on random inputs" in page.inner_text("#error-table")
    assert "family=paper" in page.url


def test_the_choice_of_hidden_models_belongs_to_one_system(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    assert page.get_attribute('[data-curve="LFNO"]', "aria-pressed") == "false"  # a model fitted to random inputs is shown
    page.click('[data-name="duffing-c0"]')
    shown(page, "duffing-c0 ")
    assert page.get_attribute('[data-curve="LFNO"]', "aria-pressed") == "true"
    page.wait_for_selector("#split-caveat:has-text('not damped')")
    page.wait_for_selector("#modes[data-ready]")
    assert "∞" in page.locator("#modes tr", has_text="truth").inner_text()  # time constant of a mode without damping


def test_a_model_trained_on_the_page_is_shown_again_after_other_systems_and_a_reload(browse: Browse, server: Server) -> None:
    page = opened(browse, f"{server.address}#systems/heat")
    assert "The model is trained on random inputs" in page.inner_text("#train-system")
    for box in page.locator("#train-system input[type=checkbox]").all():
        box.set_checked(box.input_value() == "fno")
    page.fill("#train-system input[type=number]", "1")
    page.click("#train-system [data-do=start]")
    page.wait_for_selector("#train-system .run[data-stage=done]", timeout=240_000)
    for name in ("burgers", "beam", "reaction-diffusion", "brusselator", "heat"):  # more than the server keeps in memory
        page.click(f'[data-name="{name}"]')
        page.wait_for_selector(f'body[data-split="{name}"]', state="attached")
    page.wait_for_selector(".chip:has-text('FNO of Heat')")
    page.reload()
    page.wait_for_selector("#error-table tr:has-text('FNO of Heat')")


def test_every_system_fits_the_width_in_light_and_dark_colours(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    for count, name in enumerate(page.eval_on_selector_all("#systems a", "links => links.map(link => link.dataset.name)")):
        page.set_viewport_size({"width": (1440, 390, 1280)[count % 3], "height": 900})
        page.emulate_media(color_scheme="dark" if count % 2 else "light")
        page.click(f'[data-name="{name}"]')
        shown(page, f"{name} ")
        page.wait_for_selector(f'body[data-split="{name}"]', state="attached")  # wait for the last answer
        assert page.locator("#alert").is_hidden()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the page"
        cut = "[...document.querySelectorAll('#errors .scroll')].some(box => box.scrollWidth > box.clientWidth + 1)"
        assert not page.evaluate(cut), f"the table of {name} is cut"
        if page.viewport_size["width"] == 390 and page.locator(".map canvas").count():
            assert min(page.eval_on_selector_all(".map canvas", "maps => maps.map(map => map.clientWidth)")) > 120


def test_the_page_can_be_used_with_the_keyboard_alone(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    reached = set()
    for _ in range(90):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.title ?? document.activeElement.id ?? ''"))
    assert {"Input", "Response", "Error", "Steady part", "Transient part"} <= reached
    page.focus("#tab-signals")
    page.keyboard.press("Enter")
    page.wait_for_selector("#view-signals:not([hidden])")
    assert page.url.endswith("#signals")
    page.focus("#example")
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawn canvas")
    page.reload()
    page.wait_for_selector("#drawn canvas")  # the address contains the open file
