"""Tree search over perfect-information states (supplement, MCTS)."""

from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.search.mcts import (
    SearchResult,
    best_card,
    budgets_of,
    network_policy_value,
    search,
)

__all__ = [
    "SearchConfig",
    "SearchResult",
    "best_card",
    "budgets_of",
    "network_policy_value",
    "search",
]
