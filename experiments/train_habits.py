"""Trains habits: `python -m experiments.train_habits directory=runs/habits`.

Games of a mixture of players, from which the network learns how players of each kind play from the
hands they hold. The log has the loss, the mean of minus log probability of the cards played, and at
intervals `gain`: how much better than all legal cards alike it does on held-out games of a kind of
player that is not in the mixture, in nats per play, without being told who is of which kind. Stops
cleanly and goes on as `experiments.train` does.
"""

import sys
from dataclasses import dataclass, field

from experiments.cli import DONE, command
from experiments.mixture import MixtureSettings, run_training
from gongzhu_jax.inference.habits import HabitsConfig, load_habits


@dataclass(frozen=True, kw_only=True)
class TrainHabitsSettings(MixtureSettings):
    network: HabitsConfig = field(default_factory=HabitsConfig)


@command("train_habits", TrainHabitsSettings)
def main(settings: TrainHabitsSettings, line: str) -> int:
    run_training(settings, settings.network, load_habits, line)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
