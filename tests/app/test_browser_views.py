"""What a reader sees on the page of a system: sentences, values at the cursor, parts and maps."""

from __future__ import annotations

import pytest
from matplotlib.image import imread

from lfno.app.server import Server
from tests.app.conftest import CHROMIUM
from tests.app.pages import Browse, opened, shown

pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")]


def test_a_time_has_no_sixty_seconds_or_sixty_minutes(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    show = "async (times) => { const { duration } = await import('/tools.js'); return times.map(duration); }"
    times = [59.5, 119.7, 3599.8, 7199.0]
    assert page.evaluate(show, times) == ["1 min 0 s", "2 min 0 s", "1 h 0 min", "2 h 0 min"]


def test_the_first_screen_says_where_its_models_come_from_and_what_to_do_next(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    origin = page.inner_text("#origin")
    assert "The feedback model was fitted to simulated responses of this equation to random inputs" in origin
    assert "trained on one shape of input only" in page.locator(".off-note").inner_text()
    assert page.locator(".off-note .chip").count() == 3
    page.click("[data-do=paper]")  # show these networks with the input that they know
    shown(page, '"kind":"decaying sine"')
    assert page.locator('.chip[aria-pressed="false"]').count() == 0
    page.click("#origin a")
    page.wait_for_selector("#view-signals:not([hidden])")


def test_an_unknown_system_in_the_address_gives_an_error_message(browse: Browse, server: Server) -> None:
    page = opened(browse, f"{server.address}#systems/nope")
    assert "there is no system “nope”" in page.inner_text("#alert span")


def test_the_values_at_the_cursor_have_units_and_are_not_cut(browse: Browse, server: Server) -> None:
    page = opened(browse, f"{server.address}#systems/duffing-c05?kind=sine&amplitude=2")
    page.click("[data-do=paper]")
    shown(page, '"kind":"decaying sine"')
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        chart = page.locator('#response [data-title="Response"]')
        chart.focus()
        page.keyboard.press("ArrowRight")
        values = chart.locator(".values .value")
        assert values.count() == 5
        assert all(text.endswith(" m") for text in values.all_inner_texts())
        cut = "nodes => nodes.some(node => node.scrollWidth > node.clientWidth + 1)"
        assert not chart.locator(".values, .values .value, .values b").evaluate_all(cut)


def test_parts_of_the_previous_input_are_faint_until_the_new_parts_arrive(browse: Browse, server: Server) -> None:
    page = opened(browse, server.address)
    number = page.get_by_label("amplitude A as a number")
    number.fill("2")
    number.press("Enter")
    page.wait_for_selector("#split.stale")
    assert "being computed" in page.inner_text("#split-error")
    page.wait_for_selector("#split:not(.stale)")
    assert "differs from the true steady part by" in page.inner_text("#split-error")


def test_a_map_is_saved_with_title_and_colour_scale_and_maps_zoom_together(browse: Browse, server: Server) -> None:
    page = opened(browse, f"{server.address}#systems/beam")
    assert page.locator("#split .bars canvas").is_visible()  # the colour scale of the parts
    assert "≤ " in page.locator("#split figcaption").first.inner_text()
    first = page.locator("#response .map").first
    with page.expect_download() as saved:
        first.get_by_label("save as a picture").click()
    assert saved.value.suggested_filename == "beam-truth.png"
    picture = imread(saved.value.path(), format="png")  # (rows, columns, RGBA)
    assert picture.shape[1] >= 600
    assert (picture[..., 3] == 1).all()  # opaque
    maps = "() => [...document.querySelectorAll('#response .map canvas')].slice(0, 2).map(canvas => canvas.toDataURL())"
    whole = page.evaluate(maps)
    first.get_by_label("zoom in").click()
    zoomed = page.evaluate(maps)
    assert all(before != after for before, after in zip(whole, zoomed, strict=True))
    first.get_by_label("show everything").click()
    assert page.evaluate(maps) == whole
