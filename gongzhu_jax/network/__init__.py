"""Policy-value networks and their inputs (supplement, network architecture and inputs)."""

from gongzhu_jax.network.features import NUM_FEATURES, encode, encode_averaged, encode_view
from gongzhu_jax.network.registry import Network, NetworkConfig, count_parameters, make

__all__ = [
    "NUM_FEATURES",
    "Network",
    "NetworkConfig",
    "count_parameters",
    "encode",
    "encode_averaged",
    "encode_view",
    "make",
]
