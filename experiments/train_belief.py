"""Trains the belief: `python -m experiments.train_belief directory=runs/belief`.

Games of a mixture of players, from which the network learns who holds what. The log has the loss,
the mean of minus log probability of the true hands per unseen card, and at intervals `gain`: how
much better than the uniform distribution it does on held-out games of a player type that is not in
the mixture, in nats per unseen card. Stops cleanly and goes on as `experiments.train` does.
"""

from dataclasses import dataclass, field

from experiments.common.cli import command
from experiments.common.mixture import HeldOutSettings, held_out_gain, run_training
from gongzhu_jax.opponents.card_belief import KIND, BeliefConfig


@dataclass(frozen=True, kw_only=True)
class TrainBeliefSettings(HeldOutSettings):
    network: BeliefConfig = field(default_factory=BeliefConfig)


def train(settings: TrainBeliefSettings, line: str) -> None:
    run_training(settings, KIND, line, evaluate=held_out_gain(settings), score="gain")


main = command("train_belief", TrainBeliefSettings)(train)

if __name__ == "__main__":
    raise SystemExit(main())
