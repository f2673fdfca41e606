"""A browser, and arenas with small players, that tests of what people see share."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from gongzhu_jax.arena.settings import Settings
from tests.arena.live_server import Arena, in_thread
from tests.arena.page_driver import CHROMIUM, PATIENCE
from tests.arena.small_players import make_player


@pytest.fixture(scope="session")
def page_arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    database = tmp_path_factory.mktemp("page") / "arena.sqlite"
    settings = Settings(
        str(database),
        own_least_seconds=0,
        own_most_seconds=0,
        spectator_seconds=2,
        prepare=False,
    )
    with in_thread(settings, make_player) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    expect.set_options(timeout=PATIENCE)  # as for clicks: a busy machine is no mistake of the page
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def people_arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    database = tmp_path_factory.mktemp("people") / "arena.sqlite"
    settings = Settings(
        str(database),
        own_least_seconds=0,
        own_most_seconds=0,
        spectator_seconds=1.0,
        prepare=False,
    )
    with in_thread(settings, make_player) as running:
        yield running
