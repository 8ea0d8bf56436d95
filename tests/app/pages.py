"""Wait for the page of a system in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Browse = Callable[..., Any]


def shown(page: Any, *parts: str) -> None:
    """Wait until the description of the system and the input on the page (`data-shown`) contains all of these parts."""
    selector = "body" + "".join(f'[data-shown*={json.dumps(part)}]' for part in parts)
    page.wait_for_selector(selector, state="attached")


def opened(browse: Browse, address: str, **options: Any) -> Any:
    """Open a page and wait until it shows the transient and the steady part."""
    page = browse(address, **options)
    page.wait_for_selector("body[data-split]", state="attached")
    return page
