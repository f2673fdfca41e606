"""Perfect-information self-play and learning (section 4, supplement on training)."""

from gongzhu_jax.training.config import LearnerConfig, SelfPlayConfig, TrainingConfig
from gongzhu_jax.training.loop import Schedule, train
from gongzhu_jax.training.runs import train_runs

__all__ = ["LearnerConfig", "Schedule", "SelfPlayConfig", "TrainingConfig", "train", "train_runs"]
