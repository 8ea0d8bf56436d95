"""The page in a real browser: it loads, the slider moves the curves, a bad file gets its sentence, the console is empty."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lfno.app.server import Server
from tests.app.browser import CHROMIUM, Browser

pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")]

SHOWN = "document.body?.dataset.shown"
PIXELS = "[...document.querySelectorAll('#response canvas, #split canvas, #poles canvas')].map(c => c.toDataURL())"
BLANK = (
    "[...document.querySelectorAll('#response canvas')]"
    ".some(c => !c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v))"
)
BOX = "(b => [b.x, b.y, b.width, b.height])(document.querySelector('#poles canvas').getBoundingClientRect())"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def browser(server: Server, tmp_path: Path) -> Iterator[Browser]:
    browser = Browser(tmp_path / "profile")
    browser.open(server.address)
    browser.wait(f"!!({SHOWN})", 120)
    yield browser
    browser.close()
    assert browser.problems == []
    assert {url for url in browser.requested if not url.startswith((server.address, "about:", "data:"))} == set()


def slide(browser: Browser, value: float, name: str = "duffing-c05") -> None:
    browser.run(
        f"(() => {{ const s = document.getElementById('amount'); s.value = {value}; s.dispatchEvent(new Event('input')); }})()"
    )
    browser.wait(f"{SHOWN} === '{name}={value}'")


def test_the_slider_moves_the_curves(browser: Browser) -> None:
    assert browser.run("document.querySelectorAll('#systems button').length") == 12
    assert browser.run("document.querySelectorAll('#error-table tbody tr').length") == 3
    slide(browser, 2)
    before, errors = browser.run(PIXELS), browser.run("document.getElementById('error-table').innerText")
    slide(browser, 9)
    after = browser.run(PIXELS)
    assert len(before) == 5
    assert all(one != two for one, two in zip(before, after, strict=True))
    assert browser.run("document.getElementById('error-table').innerText") != errors
    slide(browser, 2)
    assert browser.run(PIXELS) == before
    # a curve that is switched off is gone, and the keyboard moves the slider
    browser.run("document.querySelector('[data-curve=LNO]').click()")
    assert browser.run(PIXELS)[1] != before[1]
    browser.run("document.getElementById('amount').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
    browser.wait(f"{SHOWN} === 'duffing-c05=2.05'")


def test_every_system_is_shown_in_light_and_dark(browser: Browser) -> None:
    names = browser.run("[...document.querySelectorAll('#systems button')].map(b => b.dataset.name)")
    for count, name in enumerate(names):
        browser.resize(1440 if count % 2 else 420, 900, dark=count % 3 == 0)
        browser.run(f"document.querySelector('[data-name=\"{name}\"]').click()")
        browser.wait(f"({SHOWN}).startsWith('{name}=')", 120)
        assert browser.run("document.getElementById('alert').hidden")
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the page"
        assert not browser.run(BLANK)


def test_a_value_too_far_away_gets_a_sentence(browser: Browser) -> None:
    browser.run(
        "(() => { const n = document.getElementById('amount-number'); n.value = 1e9; n.dispatchEvent(new Event('change')); })()"
    )
    browser.wait("document.getElementById('alert').innerText.includes('A = 1e+09 is too far from what the models have seen')")


def test_hovering_tells_a_pole(browser: Browser) -> None:
    browser.run("document.getElementById('poles').scrollIntoView()")
    box = browser.run(BOX)
    for step in range(40):
        x, y = box[0] + box[2] * (0.3 + 0.015 * step), box[1] + box[3] * 0.4
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        text = browser.run("document.querySelector('#poles .tip').innerText")
        if "Hz" in text:
            break
    assert "damping ratio" in text
    assert "time constant" in text


def test_files_good_and_bad(browser: Browser, table: Callable[..., Path]) -> None:
    browser.run("document.getElementById('tab-signals').click()")
    browser.choose_file("#file", table("bad.csv", 82, "overflow"))
    text = browser.wait("document.getElementById('alert').hidden ? '' : document.querySelector('#alert span').innerText")
    assert text.startswith("bad.csv: line 82, column 'u' holds 'overflow', which is not a number")
    browser.choose_file("#file", table("<img src=x onerror=alert(1)>.csv"))
    browser.wait("!document.getElementById('found').hidden")
    assert browser.run("document.getElementById('alert').hidden")
    assert browser.run("document.querySelectorAll('#inside img').length") == 0
    assert browser.run("document.querySelectorAll('#drawn canvas').length") == 2
    browser.run("document.querySelector('#train-file input').value = 3")
    browser.run("document.querySelector('#train-file [data-do=start]').click()")
    browser.wait("!document.getElementById('outcome').hidden && !!document.querySelector('#outcome-poles table')", 300)
    assert "LFNO" in browser.run("document.querySelector('#outcome-errors .verdict').innerText")
    assert browser.run("document.querySelectorAll('#outcome-curves canvas, #outcome-split canvas').length") == 2
    saved = browser.run("fetch('/api/model').then(r => r.headers.get('Content-Disposition'))")
    assert saved.endswith('lfno.safetensors"')
