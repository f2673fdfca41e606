"""Tests of `gongzhu_jax.search`."""
