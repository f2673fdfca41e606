"""The learner of `ppo.py` on the Pgx environment, which gives all that it needs.

    pip install 'gongzhu_jax[pgx]'
    python examples/pgx_ppo.py

Rewards of Pgx come at the end of a game; the native environment also says after every trick what
has been taken so far.
"""

from ppo import Environment, main

from gongzhu_jax.adapters.pgx_env import GongzhuEnv

env = GongzhuEnv()
PGX = Environment(
    start=env.init,
    look=lambda state: (state.observation, state.legal_action_mask, state.current_player),
    step=env.step,
    margin=lambda state: state.rewards[0],
    is_over=lambda state: state.terminated,
)

if __name__ == "__main__":
    main(PGX)
