"""The page in a real browser: people play whole games, on desktops and phones."""

import math
import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from gongzhu_jax.arena import reports
from gongzhu_jax.arena.player_program import PlayerProgram
from gongzhu_jax.arena.settings import Settings
from tests.arena.live_server import Arena, in_thread
from tests.arena.page_driver import (
    CHROMIUM,
    PHONE,
    address,
    choose_others,
    close,
    fits_sideways,
    hand,
    is_over,
    legal,
    my_turn,
    number,
    open_page,
    picture,
    play,
    play_out,
    played,
    rows_of_cards,
    start_game,
)
from tests.arena.small_players import make_player

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


def test_a_person_plays_a_whole_game_and_gets_a_report(
    browser: Browser, page_arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "SURE", 0.0)  # the small network is sure of nothing
    page = open_page(browser, address(page_arena))
    picture(page, "desktop-lobby")
    start_game(page, "random", analysis=True)
    assert len(hand(page)) == 13
    assert rows_of_cards(page) == 1
    roles = page.locator("#felt .role").all_text_contents()
    assert sorted(roles) == ["opponent", "opponent", "partner", "you"]
    seats = page.locator("#felt .seat-name").all_text_contents()
    assert sorted(seats) == ["East", "North", "South", "West"]

    # Analysis: a value for every legal card, and the owners of unseen point cards.
    expect(page.locator("#analysis .bar")).to_have_count(len(legal(page)))
    assert page.locator("#analysis table tbody tr").count() > 0
    picture(page, "desktop-analysis")

    illegal_clicks = reloads = cards_heard = 0
    while not is_over(page):
        may, have = legal(page), hand(page)
        for card in [card for card in have if card not in may][:1]:
            page.eval_on_selector(f"#hand button[data-card={card}]", "one => one.click()")
            assert hand(page) == have
            assert legal(page) == may
            illegal_clicks += 1
        if len(have) == 8 and not reloads:
            reloads += 1
            page.reload()
            my_turn(page)
            assert (hand(page), legal(page)) == (have, may)
            page.locator("#analysis-on").uncheck()
            check_leaving_is_asked_for(page)
        cards_heard += check_trick_is_named(page)
        check_captions(page)
        play(page, may[-1])
    assert illegal_clicks > 0
    assert reloads == 1
    assert cards_heard > 0

    # The result is what the server has stored, and the report comes by itself.
    game = page.locator("#download-game").get_attribute("href")
    record = page.evaluate("address => fetch(address).then(answer => answer.json())", game)
    shown = page.locator("#final-scores .member td:nth-child(2)").all_text_contents()
    assert [number(text) for text in shown] == [record["scores"][seat] for seat in (0, 2, 1, 3)]
    expect(page.locator("#moves tbody tr")).to_have_count(13)
    picture(page, "desktop-finished")
    report = page.evaluate(
        "address => fetch(address + '/report?seat=0').then(answer => answer.json())", game
    )
    expect(page.locator(".worst li")).to_have_count(len(report["worst"]))
    assert len(report["worst"]) > 0
    worst = next(move for move in report["moves"] if move["stage"] == report["worst"][0])
    points = max(1, math.floor(worst["loss"] + 0.5))  # a browser rounds halves up
    expect(page.locator(".worst li").first).to_contain_text(f"You gave away {points} points here")
    assert f"{abs(report['duplicate']['gain'])} points" in page.inner_text("#report") or (
        report["duplicate"]["gain"] == 0
    )

    # Replay of the worst move, and of the deal as ScrofaZero played it.
    page.locator(".worst button").first.click()
    assert page.locator("#replay-hands .gone").count() == worst["stage"]
    expect(page.locator("#replay-opinion")).to_contain_text("would play")
    page.click("#replay-last")
    assert page.locator("#replay-hands .gone").count() == 52
    expect(page.locator("#replay-opinion")).to_be_hidden()
    page.click("#show-duplicate")
    page.click("#replay-on")
    first = report["duplicate"]["plays"][0]
    assert page.locator("#replay-felt .spot").get_attribute("data-card") == first

    check_permanent_address(browser, page, page_arena)
    page.click("#next-game")
    my_turn(page)
    assert len(hand(page)) == 13
    close(page)


def check_trick_is_named(page: Page) -> int:
    """For those who hear the page: whose card it is, and which; the number of cards."""
    labels = page.eval_on_selector_all(
        "#trick [role=img]", "all => all.map(one => one.getAttribute('aria-label'))"
    )
    for label in labels:
        assert re.fullmatch(
            r"(West|North|East|South): (\w+) of (spades|hearts|diamonds|clubs)", label
        )
    return len(labels)


def check_captions(page: Page) -> None:
    """Captions and cards on the felt do not overlap."""
    places = [page.locator("#felt .place").nth(i).bounding_box() for i in range(4)]
    for spot in page.locator("#felt .spot").all():
        box = spot.bounding_box()
        for place in places:
            assert box is not None
            assert place is not None
            assert (
                box["x"] + box["width"] <= place["x"] + 1
                or place["x"] + place["width"] <= box["x"] + 1
                or box["y"] + box["height"] <= place["y"] + 1
                or place["y"] + place["height"] <= box["y"] + 1
            )


def check_leaving_is_asked_for(page: Page) -> None:
    have = hand(page)
    page.click("#leave")
    expect(page.locator("#ask")).to_be_visible()
    page.click("#ask-no")
    expect(page.locator("#ask")).to_be_hidden()
    assert hand(page) == have


def check_permanent_address(browser: Browser, page: Page, page_arena: Arena) -> None:
    """A stranger sees the same game, told as a stranger."""
    shown = re.search(r"#game=\d+/0$", page.url)
    assert shown is not None
    stranger = open_page(browser, address(page_arena, shown[0]))
    expect(stranger.locator("#moves tbody tr")).to_have_count(13)
    assert stranger.locator("#final-scores").inner_text().count("Mr. Random") == 3
    assert "You" not in stranger.inner_text("#finished")
    expect(stranger.locator("#next-game")).to_be_hidden()
    close(stranger)


def test_a_phone_in_chinese_with_touch_and_keys(browser: Browser, page_arena: Arena) -> None:
    page = open_page(browser, address(page_arena), 390, 844, **PHONE)
    page.click("#language")
    expect(page.locator("h1")).to_have_text("拱猪竞技场")
    picture(page, "phone-lobby")
    start_game(page, "random")
    assert fits_sideways(page)
    card = legal(page)[0]
    page.tap(f"#hand button[data-card={card}]")
    played(page, card)
    check_captions(page)
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
    assert fits_sideways(page)
    # The rules are there in a game, and end where it goes on.
    page.click("#rules-button")
    expect(page.locator("#rules")).to_contain_text("没有亮牌")
    page.click("#rules-close")
    page.click("#leave")
    page.click("#ask-yes")
    page.locator("#lobby").wait_for()
    close(page)


def test_a_phone_on_its_side_shows_everything_at_once(browser: Browser, page_arena: Arena) -> None:
    for width, height in ((844, 390), (667, 375)):
        page = open_page(browser, address(page_arena), width, height, **PHONE)
        start_game(page, "random")
        play(page, legal(page)[0])
        assert rows_of_cards(page) == 1
        assert fits_sideways(page)
        for part in ("#felt", "#hand", "#prompt", "#clock", "#leave"):
            box = page.locator(part).bounding_box()
            assert box is not None, part
            assert box["y"] >= 0, part
            assert box["y"] + box["height"] <= height, part
        check_captions(page)
        picture(page, f"landscape-{width}", whole=False)
        close(page)


def test_no_clock_runs_while_our_players_are_compiled(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the page says what it waits for."""
    usual, go_on = PlayerProgram.compile, threading.Event()

    def compile_later(program: PlayerProgram, size: int) -> None:
        go_on.wait()
        usual(program, size)

    monkeypatch.setattr(PlayerProgram, "compile", compile_later)
    with in_thread(Settings(str(tmp_path / "arena.sqlite"), prepare=False), make_player) as arena:
        page = open_page(browser, address(arena))
        choose_others(page, "random", "random", "random")
        page.click("#new-table button[type=submit]")
        expect(page.locator("#prompt")).to_contain_text("Getting Mr. Random")
        page.wait_for_timeout(600)  # the clock is drawn four times a second
        assert page.inner_text("#clock") == ""
        picture(page, "preparing")
        go_on.set()
        my_turn(page)
        expect(page.locator("#clock")).to_have_text(re.compile("^(600|5\\d\\d) s$"))
        close(page)


def test_the_focus_ring_stands_out(browser: Browser, page_arena: Arena) -> None:
    """It has two colours that differ, and one of them differs from whatever lies below it."""
    page = open_page(browser, address(page_arena))
    start_game(page, "random")
    page.keyboard.press("Tab")  # from now on the page is used with keys
    for part in ("#rules-button", "#hand button[tabindex='0']", "#leave"):
        page.locator(part).focus()
        ring = page.evaluate(
            """() => {
              const style = getComputedStyle(document.activeElement);
              let below = document.activeElement.parentElement;
              const clear = (element) => getComputedStyle(element).backgroundColor.endsWith(', 0)');
              while (clear(below)) below = below.parentElement;
              return [style.outlineColor, style.boxShadow, getComputedStyle(below).backgroundColor]
                .map((text) => text.match(/\\d+/g).slice(0, 3).map(Number));
            }"""
        )
        outline, shadow, below = (luminance(colour) for colour in ring)
        assert contrast(outline, shadow) >= 3
        assert max(contrast(outline, below), contrast(shadow, below)) >= 3
    close(page)


def luminance(colour: list[int]) -> float:
    """The relative luminance of WCAG 2."""
    parts = [value / 255 for value in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def test_the_language_switch_changes_everything(browser: Browser, page_arena: Arena) -> None:
    page = open_page(browser, address(page_arena))
    page.locator("#other-left").wait_for()
    texts = page.evaluate(
        "() => import('./static/js/i18n.js').then(module => "
        "[...module.TEXTS.values()].map(all => [...all]))"
    )
    english, chinese = (dict(pairs) for pairs in texts)
    assert english.keys() == chinese.keys()
    for key in english:
        placeholders = [
            set(re.findall(r"\{\w+\}", language[key])) for language in (english, chinese)
        ]
        assert placeholders[0] == placeholders[1], key

    def switch(language: str, guest: str) -> None:
        page.click("#language")
        page.wait_for_function(f"() => document.documentElement.lang === '{language}'")
        # A guest of no other name gets a new one, from the server.
        expect(page.locator("#name")).not_to_have_value(re.compile(guest))

    def check_switch() -> None:
        """No English text is left, neither to be read nor to be heard, and back again."""
        before = all_texts(page)
        switch("zh-Hans", "Guest")
        left = [
            text
            for text in all_texts(page)
            if re.search(r"[A-Za-z]{2,}", re.sub(r"ScrofaZero|English|UTC|API|CSV|JSON", "", text))
        ]
        assert left == []
        switch("en", "客人")
        assert sorted(all_texts(page)) == sorted(before)

    page.locator("#daily-box p").first.wait_for()
    check_switch()
    page.click("#rules-button")
    page.locator("#rules table").first.wait_for()
    page.evaluate("() => document.getElementById('rules').close()")
    page.fill("#name", "李雷 2")  # a name of one's own stays
    start_game(page, "random", analysis=True)
    page.locator("#analysis .bar").first.wait_for()
    check_switch()
    play(page, legal(page)[0])
    page.locator("#analysis-on").uncheck()
    play_out(page)
    page.locator("#moves").wait_for()
    page.locator("#replay-opinion .bar").first.wait_for()
    check_switch()
    page.click("#daily-link")
    page.locator("#daily h2").wait_for()
    check_switch()
    page.click("#standings-link")
    page.locator("#leaderboard caption").wait_for()
    check_switch()
    close(page)


def all_texts(page: Page) -> list[str]:
    """All texts of the page that can be seen or heard."""
    return page.evaluate(
        """() => {
          const NAMES = '#tables .seated, #daily-table tbody, #announce';
          const seen = (element) => element.checkVisibility();
          const texts = [document.title];
          for (const element of document.querySelectorAll('body *')) {
            // The names of other people stay as they are.
            if (!seen(element) || element.closest(NAMES)) continue;
            if (element.ariaLabel) texts.push(element.ariaLabel);
            if (element.title) texts.push(element.title);
            if (element.tagName === 'INPUT' && element.type === 'text') texts.push(element.value);
            for (const node of element.childNodes) {
              if (node.nodeType === 3 && node.data.trim()) texts.push(node.data.trim());
            }
          }
          return texts.filter((text) => !/^\\d+ ?(s|秒)$/.test(text));
        }"""
    )
