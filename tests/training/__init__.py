"""Tests of `gongzhu_jax.training`."""
