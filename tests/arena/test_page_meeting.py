"""The page in a real browser: how people meet, come back, and find what others played."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from gongzhu_jax.arena.settings import Settings
from tests.arena.live_server import Arena, get, in_thread
from tests.arena.page_driver import (
    CHROMIUM,
    address,
    choose_others,
    close,
    hand,
    legal,
    my_turn,
    number,
    open_page,
    open_tab,
    picture,
    play,
    play_out,
    played,
    start_game,
)
from tests.arena.small_players import make_player

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


def test_two_people_meet_by_a_link_in_open_tabs(browser: Browser, page_arena: Arena) -> None:
    first = open_page(
        browser, address(page_arena), permissions=["clipboard-read", "clipboard-write"]
    )
    second = open_page(browser, address(page_arena), 900, 700)
    second.locator("#other-left").wait_for()
    choose_others(first, "random", "", "random")
    first.fill("#name", "Private Pat")
    first.locator("#private").check()
    first.click("#new-table button[type=submit]")
    expect(first.locator("#invite-link")).to_be_visible()
    first.click("#copy-invite")
    link = first.evaluate("() => navigator.clipboard.readText()")
    assert link == first.locator("#invite-link").input_value()
    picture(first, "invite")
    third = open_page(browser, address(page_arena))  # whose table is made later, and is listed
    choose_others(third, "random", "", "random")
    third.fill("#name", "Public Pam")
    third.click("#new-table button[type=submit]")
    expect(second.locator("#tables")).to_contain_text("Public Pam")
    assert "Private Pat" not in second.inner_text("#tables")
    second.evaluate("link => { location.hash = new URL(link).hash; }", link)
    my_turn(first)
    second.wait_for_function("() => document.querySelectorAll('#hand button').length === 13")
    assert not set(hand(first)) & set(hand(second))
    assert first.inner_text("#felt [data-place='2'] .who") == (
        second.inner_text("#felt [data-place='0'] .who")
    )
    assert first.inner_text("#felt [data-place='2'] .role") == "partner"
    close(first, second, third)


def test_the_lobby_is_live_and_a_game_is_watched(browser: Browser, page_arena: Arena) -> None:
    watcher = open_page(browser, address(page_arena), 1000, 800)
    watcher.locator("#other-left").wait_for()
    player = open_page(browser, address(page_arena))
    player.locator("#other-left").wait_for()
    player.fill("#name", "Watched One")
    start_game(player, "random")
    row = watcher.locator("#tables li", has_text="Watched One")
    row.get_by_role("link", name="Watch").click()  # nobody has loaded the page again
    expect(watcher.locator("#watch-felt")).to_contain_text("Watched One")
    play(player, legal(player)[0])
    expect(watcher.locator("#watch-felt .spot")).not_to_have_count(0)
    expect(watcher.locator("#watch-text")).to_contain_text("2 seconds late")
    picture(watcher, "spectator")
    hidden = set(hand(player))
    shown = set(watcher.eval_on_selector_all("#watch .spot", "all => all.map(s => s.dataset.card)"))
    assert not shown & hidden
    play_out(player)
    expect(watcher.locator("#watch-text")).to_contain_text("over")
    watcher.click("#watch-replay")
    expect(watcher.locator("#verdict")).to_have_text(re.compile(r"win by \d+ points|A draw"))
    close(player, watcher)


def test_what_comes_while_a_card_is_pressed_takes_nothing_away(
    browser: Browser, page_arena: Arena
) -> None:
    page = open_page(browser, address(page_arena))
    start_game(page, "random")
    card = legal(page)[0]
    page.hover(f"#hand button[data-card={card}]")
    page.mouse.down()
    page.evaluate("document.getElementById('language').click()")  # everything is drawn again
    page.mouse.up()
    played(page, card)
    close(page)


def test_the_deal_of_the_day(browser: Browser, page_arena: Arena) -> None:
    page = open_page(browser, address(page_arena))
    page.locator("#play-daily").wait_for()
    page.fill("#name", "Daily Dan")
    page.click("#play-daily")
    my_turn(page)
    play_out(page)
    margin = page.inner_text("#verdict")
    expect(page.locator("#hidden-today")).to_be_visible()
    expect(page.locator("#moves tbody tr")).to_have_count(13)
    expect(page.locator("#report")).to_contain_text("The same deal")
    page.reload()  # its address is for its player alone until the day is over
    expect(page.locator("#verdict")).to_have_text(margin)
    game = page.url.split("#")[1]
    page.click("#daily-link")
    row = page.locator("#daily-table tr", has_text="Daily Dan")
    assert str(abs(number(row.locator("td").nth(2).inner_text()))) in margin or "draw" in margin
    expect(page.locator("#play-daily")).to_have_count(0)
    expect(row.locator("td").nth(3)).to_have_text(re.compile(r"\d"))  # ScrofaZero has played it
    picture(page, "daily")
    stranger = open_page(browser, address(page_arena, f"#{game}"))
    expect(stranger.locator("#notice")).to_contain_text("still being played")
    stranger.problems.clear()  # ty: ignore[missing-attribute]
    close(page, stranger)


@pytest.mark.parametrize("name", ["constructor", "valueOf", "hasOwnProperty"])
def test_names_that_mean_something_to_programs(
    browser: Browser, page_arena: Arena, name: str
) -> None:
    page = open_page(browser, address(page_arena))
    page.locator("#other-left").wait_for()
    page.fill("#name", name)
    other = open_page(browser, address(page_arena))
    choose_others(page, "random", "", "random")
    page.click("#new-table button[type=submit]")
    row = other.locator("#tables li", has_text=name)
    row.get_by_role("button", name="Sit North").click()
    my_turn(page)
    assert page.inner_text("#felt [data-place='0'] .who") == name
    assert other.inner_text("#felt [data-place='2'] .who") == name
    expect(other.locator("#scores")).to_contain_text(name)
    close(page, other)


def test_standings_with_such_names(browser: Browser, page_arena: Arena) -> None:
    names = ["__proto__", "constructor", "greed"]
    rows = [
        {"player": name, "rating": 1.0, "standard_error": 0.5, "deals": 64, "clock_moves": 0}
        for name in names
    ]
    page = open_page(browser, address(page_arena))
    page.route("**/api/ratings", lambda route: route.fulfill(json={"players": rows}))
    page.click("#standings-link")
    expect(page.locator("#leaderboard tbody tr")).to_have_count(3)
    shown = page.locator("#leaderboard tbody td:first-child").all_text_contents()
    assert shown == ["__proto__", "constructor", "Mr. Greed"]
    close(page)


def test_a_closed_tab_finds_its_seat_again(browser: Browser, page_arena: Arena) -> None:
    page = open_page(browser, address(page_arena))
    start_game(page, "random")
    play(page, legal(page)[0])
    have = hand(page)
    other = open_tab(page.context, address(page_arena))  # a second tab leaves the first one alone
    other.locator("#lobby").wait_for()
    assert hand(page) == have
    other.close()
    context = page.context
    seat = page.evaluate("() => JSON.parse(sessionStorage.getItem('gongzhu.tab'))")
    page.close()
    while get(page_arena, f"/api/tables/{seat['table']}")["seats"][seat["seat"]]["connected"]:
        time.sleep(0.05)  # until the server has noticed
    again = open_tab(context, address(page_arena))
    my_turn(again)
    assert hand(again) == have
    expect(again.locator("#notice")).to_contain_text("Welcome back")
    close(again)


def test_the_page_tries_again_when_it_is_refused(browser: Browser, page_arena: Arena) -> None:
    context = browser.new_context(locale="en-GB")
    context.add_init_script("localStorage.setItem('gongzhu.name', JSON.stringify('greed'))")
    page = open_tab(context, address(page_arena))
    expect(page.locator("#name")).to_have_value(re.compile("Guest"))  # not a name to have
    page.locator("#other-left").wait_for()
    close(page)

    refusals = iter(["full", "busy"])

    def full(socket: Any) -> None:
        """A server that has no room at first."""
        code = next(refusals, None)
        if code is None:
            socket.connect_to_server()
            return

        def refuse(text: str) -> None:
            answer = {"type": "error", "code": code, "message": "later"}
            socket.send(json.dumps({**answer, "id": json.loads(text)["id"]}))

        socket.on_message(refuse)

    context = browser.new_context(locale="en-GB")
    context.route_web_socket("**/ws", full)
    page = open_tab(context, address(page_arena))
    expect(page.locator("#notice")).to_be_visible()
    page.locator("#other-left").wait_for()
    expect(page.locator("#notice")).to_be_hidden()
    assert next(refusals, None) is None
    close(page)


def test_the_page_works_below_the_root_of_its_host(browser: Browser, tmp_path: Path) -> None:
    """Behind a proxy that hands everything under /cards/ on."""
    settings = Settings(str(tmp_path / "arena.sqlite"), prepare=False)

    def below_root(app: Any) -> Any:
        async def proxied(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] in ("http", "websocket"):
                inside = scope["path"].startswith("/cards/")
                path = scope["path"].removeprefix("/cards") if inside else "/nothing-here"
                scope = {**scope, "path": path}
            await app(scope, receive, send)

        return proxied

    with in_thread(settings, make_player, below_root) as running:
        page = open_page(browser, f"{running.http}/cards/?speed=0.02")
        choose_others(page, "random", "", "random")
        page.click("#new-table button[type=submit]")
        expect(page.locator("#invite-link")).to_have_value(re.compile(f"^{running.http}/cards/"))
        link = page.locator("#invite-link").input_value()
        other = open_page(browser, link)
        my_turn(page)
        page.click(f"#hand button[data-card={legal(page)[0]}]")
        my_turn(other)
        other.click("#daily-link")
        other.locator("#daily h2").wait_for()
        other.click("#rules-button")
        other.locator("#rules table").first.wait_for()
        close(page, other)
