"""Trains the opponent model: `python -m experiments.train_opponent_model`.

Games of a mixture of players, from which the network learns how players of each type play from the
hands they hold. The log has the loss, the mean of minus log probability of the cards played, and at
intervals `gain`: how much better than a uniform policy it does on held-out games of a player type
that is not in the mixture, in nats per play, without being told who is of which type. Stops cleanly
and goes on as `experiments.train` does.
"""

from dataclasses import dataclass, field

from experiments.common.cli import command
from experiments.common.mixture import HeldOutSettings, held_out_gain, run_training
from gongzhu_jax.opponents.opponent_model import KIND, OpponentModelConfig


@dataclass(frozen=True, kw_only=True)
class TrainOpponentModelSettings(HeldOutSettings):
    network: OpponentModelConfig = field(default_factory=OpponentModelConfig)


def train(settings: TrainOpponentModelSettings, line: str) -> None:
    run_training(settings, KIND, line, evaluate=held_out_gain(settings), score="gain")


main = command("train_opponent_model", TrainOpponentModelSettings)(train)

if __name__ == "__main__":
    raise SystemExit(main())
