"""Hidden hands (section 5): constraints, exact sampling, scenarios, their weights, and the
decision over them."""

# Imported here, so that the paper's proposal and rules are registered wherever a part is used.
from gongzhu_jax.inference import correction, scenarios

__all__ = ["correction", "scenarios"]
