"""Policy-value networks and their inputs (supplement, network architecture and inputs)."""

from gongzhu_jax.network.features import NUM_FEATURES, encode, encode_averaged
from gongzhu_jax.network.policy_value import Network, NetworkConfig, count_parameters, make

__all__ = [
    "NUM_FEATURES",
    "Network",
    "NetworkConfig",
    "count_parameters",
    "encode",
    "encode_averaged",
    "make",
]
