"""A person at the page, in a real browser."""

import os
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.arena.live_server import Arena

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PATIENCE = 600_000
"""Milliseconds. The machine may be busy, and programs compile; more than the three minutes after
which the clock moves for one of our players."""
PICTURES = os.environ.get("ARENA_PICTURES")  # a folder, to look at what the browser shows
PHONE: dict[str, Any] = {"has_touch": True, "is_mobile": True}


def open_page(
    browser: Browser, address: str, width: int = 1280, height: int = 860, **options: Any
) -> Page:
    """A new person with a browser of their own."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, locale="en-GB", **options
    )
    return open_tab(context, address)


def open_tab(context: Any, address: str) -> Page:
    page: Page = context.new_page()
    page.set_default_timeout(PATIENCE)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.problems = problems  # ty: ignore[missing-attribute]
    page.goto(address)
    return page


def address(arena: Arena, hash_part: str = "") -> str:
    return f"{arena.http}/?speed=0.02{hash_part}"


def close(*pages: Page) -> None:
    """The end of a visit, which must have been without errors."""
    for page in pages:
        problems = page.problems  # ty: ignore[missing-attribute]
        assert problems == [], problems
        page.context.close()


def choose_others(page: Page, left: str, partner: str, right: str) -> None:
    page.locator("#other-left").wait_for()
    for place, player in (("left", left), ("partner", partner), ("right", right)):
        page.select_option(f"#other-{place}", player)
    page.select_option("#seconds", "600")  # the clock is not what is tested here


def start_game(page: Page, opponent: str, *, analysis: bool = False) -> None:
    choose_others(page, opponent, opponent, opponent)
    page.locator("#with-analysis").set_checked(analysis)
    page.click("#new-table button[type=submit]")
    my_turn(page)


def my_turn(page: Page) -> None:
    page.wait_for_function(
        "() => !document.getElementById('finished').hidden || "
        "document.getElementById('hand').classList.contains('my-turn')",
        timeout=PATIENCE,
    )


def hand(page: Page) -> list[str]:
    return page.eval_on_selector_all("#hand button", "all => all.map(b => b.dataset.card)")


def legal(page: Page) -> list[str]:
    return page.eval_on_selector_all(
        "#hand.my-turn button[aria-disabled=false]", "all => all.map(b => b.dataset.card)"
    )


def play(page: Page, card: str) -> None:
    page.click(f"#hand button[data-card={card}]")
    played(page, card)


def played(page: Page, card: str) -> None:
    """Waits until the card has gone from the hand and it is my turn again."""
    page.wait_for_function(f"() => !document.querySelector('#hand button[data-card={card}]')")
    my_turn(page)


def is_over(page: Page) -> bool:
    return page.locator("#finished").is_visible()


def play_out(page: Page) -> None:
    while not is_over(page):
        play(page, legal(page)[-1])


def picture(page: Page, name: str, *, whole: bool = True) -> None:
    if PICTURES:
        Path(PICTURES).mkdir(exist_ok=True)
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=whole)


def number(text: str) -> int:
    return int(text.replace("−", "-"))  # noqa: RUF001


def rows_of_cards(page: Page) -> int:
    """In how many rows the hand lies."""
    tops = page.eval_on_selector_all(
        "#hand button", "all => all.map(b => Math.round(b.getBoundingClientRect().top / 20))"
    )
    return len(set(tops))


def fits_sideways(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
