"""A game in PettingZoo: Mr. If at seats 0 and 2, agents that follow the action mask at the others.

pip install 'gongzhu_jax[pettingzoo]'
python examples/pettingzoo_game.py
"""

import jax

from gongzhu_jax import players
from gongzhu_jax.adapters import pettingzoo_env

env = pettingzoo_env.env(render_mode="ansi")
env.reset(seed=1)
player = players.make("if")
rewards = dict.fromkeys(env.possible_agents, 0.0)

for number, agent in enumerate(env.agent_iter()):
    seen, reward, over, _, info = env.last()
    rewards[agent] += reward
    if over:
        print(agent, info["points"], "points")
        card = None
    elif agent in ("player_0", "player_2"):
        # Our players take views, which like the observations have no hidden card in them.
        card = int(player.act(env.unwrapped.view(agent), jax.random.key(number)))
    else:
        card = env.action_space(agent).sample(seen["action_mask"])
    env.step(card)

print(env.render())
print("rewards:", rewards)
