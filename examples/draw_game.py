"""Draws a random game: the table in the middle of it, what seat 1 sees of it, and all of it as an
animation for a browser.

    python examples/draw_game.py
"""

import jax
import numpy as np

from gongzhu_jax import game
from gongzhu_jax.adapters import drawing

step, legal_mask = jax.jit(game.step), jax.jit(game.legal_mask)
states = [game.deal(jax.random.key(0), leader=2)]
generator = np.random.default_rng(0)
for _ in range(52):
    card = generator.choice(np.flatnonzero(legal_mask(states[-1])))
    states.append(step(states[-1], card))

drawing.save_svg(states[30], "table.svg")
drawing.save_svg(game.view(states[30], 1), "view.svg", theme="dark")
drawing.save_animation(states, "game.svg", seconds=1.0)
print("table.svg, view.svg and game.svg")
