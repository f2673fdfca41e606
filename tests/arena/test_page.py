"""The page in a real browser: a person plays a whole game, on a desktop and on a phone."""

import os
import re
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import jax
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from gongzhu_jax import players
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.network import NetworkConfig
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.players.protocol import Player
from tests.arena.live_server import Arena, in_thread

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
SECONDS = 180_000  # of patience, in ms: the machine may be busy, and programs compile
PICTURES = os.environ.get("ARENA_PICTURES")  # a folder, to look at what the browser shows

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


def make_player(name: str) -> Player:
    """Ours, with a small network where they need one."""
    if name != "scrofa-strong":
        return players.make(name)
    network = NetworkConfig("compact", stem=16, width=8, blocks=1)
    params = make_network(network).init(jax.random.key(0))
    options: dict[str, Any] = {"scenarios.draws": 3, "search": {"base": 2, "per_legal": 1}}
    return players.from_network(name, network, params, **options)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    database = tmp_path_factory.mktemp("page") / "arena.sqlite"
    with in_thread(Settings(str(database)), make_player) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


def open_page(browser: Browser, arena: Arena, width: int, height: int, **options) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": height}, locale="en-GB", **options
    )
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.problems = problems  # ty: ignore[missing-attribute]
    page.goto(f"{arena.http}/?speed=0.02")
    return page


def start_game(page: Page, opponent: str, *, analysis: bool = False) -> None:
    page.locator("#name").wait_for()
    for place in ("left", "partner", "right"):
        page.select_option(f"#other-{place}", opponent)
    page.select_option("#seconds", "600")  # the clock is not what is tested here
    page.locator("#with-analysis").set_checked(analysis)
    page.click("#new-table button[type=submit]")
    my_turn(page)


def my_turn(page: Page) -> None:
    page.wait_for_function(
        "() => !document.getElementById('summary').hidden || "
        "document.getElementById('hand').classList.contains('my-turn')",
        timeout=SECONDS,
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


def over(page: Page) -> bool:
    return page.locator("#summary").is_visible()


def picture(page: Page, name: str) -> None:
    if PICTURES:
        Path(PICTURES).mkdir(exist_ok=True)
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def test_a_person_plays_a_whole_game(browser: Browser, arena: Arena) -> None:
    page = open_page(browser, arena, 1280, 860)
    picture(page, "desktop-lobby")
    start_game(page, "random", analysis=True)
    assert len(hand(page)) == 13

    # Analysis: a value for every legal card, and the owners of unseen point cards.
    expect(page.locator("#analysis .bar")).to_have_count(len(legal(page)), timeout=SECONDS)
    assert page.locator("#analysis table tbody tr").count() > 0
    picture(page, "desktop-analysis")

    illegal_clicks = reloads = 0
    while not over(page):
        may, have = legal(page), hand(page)
        for card in [card for card in have if card not in may][:1]:
            page.click(f"#hand button[data-card={card}]", force=True)
            assert hand(page) == have
            assert legal(page) == may
            illegal_clicks += 1
        if len(have) == 8 and not reloads:
            reloads += 1
            page.reload()
            my_turn(page)
            assert (hand(page), legal(page)) == (have, may)
            page.locator("#analysis-on").uncheck()
        play(page, may[-1])
    assert illegal_clicks > 0
    assert reloads == 1
    picture(page, "desktop-summary")

    # The summary says what the server has stored.
    address = page.locator("#download-game").get_attribute("href")
    record = page.evaluate("address => fetch(address).then(answer => answer.json())", address)
    shown = page.locator("#summary-body tbody td:nth-child(2)").all_text_contents()
    scores = [int(text.replace("−", "-")) for text in shown]  # noqa: RUF001
    assert scores[:4] == record["scores"]
    assert scores[4:] == [scores[0] + scores[2], scores[1] + scores[3]]

    # Replay: every move, with an opinion.
    page.click("#watch-replay")
    expect(page.locator("#replay-opinion .bar").first).to_be_visible(timeout=SECONDS)
    for _ in range(5):
        page.click("#replay-on")
    assert page.locator("#replay-hands .gone").count() == 5
    expect(page.locator("#replay-text")).to_contain_text("5.")
    expect(page.locator("#replay-opinion")).to_contain_text("would play", timeout=SECONDS)
    picture(page, "desktop-replay")
    page.click("#replay-last")
    assert page.locator("#replay-hands .gone").count() == 52
    page.click("#replay-close")
    page.click("#next-game")
    page.locator("#summary").wait_for(state="hidden")
    my_turn(page)
    assert len(hand(page)) == 13
    assert page.problems == []  # ty: ignore[missing-attribute]
    page.context.close()


def test_a_phone_in_chinese_with_touch_and_keys(browser: Browser, arena: Arena) -> None:
    page = open_page(browser, arena, 390, 844, has_touch=True, is_mobile=True)
    page.click("#language")
    expect(page.locator("h1")).to_have_text("拱猪竞技场")
    picture(page, "phone-lobby")
    start_game(page, "random")
    no_sideways = "document.documentElement.scrollWidth <= window.innerWidth"
    assert page.evaluate(no_sideways)
    card = legal(page)[0]
    page.tap(f"#hand button[data-card={card}]")
    played(page, card)
    picture(page, "phone-game")
    # The keyboard alone: to the first legal card, along the hand, and play.
    page.locator("#hand button[tabindex='0']").focus()
    page.keyboard.press("End")
    last = hand(page)[-1]
    assert page.evaluate("document.activeElement.dataset.card") == last
    card = legal(page)[0]
    page.locator(f"#hand button[data-card={card}]").focus()
    page.keyboard.press("Enter")
    played(page, card)
    page.click("#last-trick-button")
    expect(page.locator("#last-trick figure")).to_have_count(4)
    assert page.evaluate(no_sideways)
    page.click("#leave")
    page.locator("#lobby").wait_for()
    assert page.problems == []  # ty: ignore[missing-attribute]
    page.context.close()


def test_two_people_meet_by_a_link(browser: Browser, arena: Arena) -> None:
    first = open_page(browser, arena, 900, 700)
    first.locator("#name").wait_for()
    for place, player in (("left", "random"), ("partner", ""), ("right", "random")):
        first.select_option(f"#other-{place}", player)
    first.click("#new-table button[type=submit]")
    link = first.locator("#invite-link")
    link.wait_for()
    table = re.search(r"#join=(\w+)", link.input_value())
    assert table is not None
    second = open_page(browser, arena, 900, 700)
    second.locator("#name").wait_for()
    second.goto(f"{arena.http}/?speed=0.02&again#join={table[1]}")
    my_turn(first)
    second.wait_for_function("() => document.querySelectorAll('#hand button').length === 13")
    assert not set(hand(first)) & set(hand(second))
    assert first.locator("#felt [data-place='2'] .who").text_content() == (
        second.locator("#felt [data-place='0'] .who").text_content() or ""
    ).replace(" (you)", "")
    for page in (first, second):
        assert page.problems == []  # ty: ignore[missing-attribute]
        page.context.close()
