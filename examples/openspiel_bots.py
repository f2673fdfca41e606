"""A game in OpenSpiel: its IS-MCTS, with our resampler, and its random bot against our Mr. If.

pip install 'gongzhu_jax[openspiel]'
python examples/openspiel_bots.py
"""

import numpy as np
import pyspiel
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

from gongzhu_jax import players
from gongzhu_jax.adapters import openspiel_game
from gongzhu_jax.adapters.openspiel_bots import IsmctsConfig, PlayerBot, ismcts_bot

game = pyspiel.load_game(openspiel_game.NAME, {"leader": 0})
bots = [
    ismcts_bot(IsmctsConfig(simulations=100)),
    PlayerBot(players.make("if")),
    pyspiel.make_uniform_random_bot(2, 0),
    PlayerBot(players.make("if"), seed=1),
]
state = game.new_initial_state()
returns = evaluate_bots(state, bots, np.random.RandomState(0))
print(state)
print("points", state.scores(), "returns", returns)
