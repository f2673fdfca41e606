"""The estimates of docs/scaling.md are the arithmetic that the page says they are."""

import json

import jax
import numpy as np

from experiments.common.provenance import ROOT
from experiments.train import load_preset
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.network import make

QUICK, SLOW = (2e-6, 10e-6), (5e-6, 20e-6)  # seconds to start a kernel, and for a turn of a loop
FLOPS = {"A100": 108 * 64 * 2 * 1.41e9, "H100": 132 * 128 * 2 * 1.98e9}
PRICE = {"A100": 2.0, "H100": 3.0}  # of an hour


def dollars(games_per_second: float, device: str, devices: int = 1) -> str:
    """For a million games."""
    return f"{PRICE[device] * devices / 3600 * 1e6 / games_per_second:.3f}"


def test_estimates() -> None:
    page = (ROOT / "docs" / "scaling.md").read_text()
    document = json.loads((ROOT / "results" / "throughput_training.json").read_text())
    row = next(row for row in document["result"]["rows"] if row["preset"] == "compact")
    config = load_preset("compact")
    games = config.selfplay.games
    per_game = row["evaluations_per_game"]
    assert f"| {per_game:.1f} |" in page
    params = jax.eval_shape(make(config.network).init, jax.random.key(0))["params"]
    weights = sum(np.prod(leaf.shape) for leaf in jax.tree.leaves(params) if leaf.ndim == 2)
    assert f"| {weights:,} |" in page
    assert f"| {row['epoch_games_per_second']:.0f} (measured" in page
    assert f"reaches {row['share_of_bound']:.0%} of".replace("%", " %") in page
    checked = json.loads((ROOT / "results" / "compile_check.json").read_text())["result"]["rows"]
    updates = config.positions_per_epoch // config.learner.minibatch

    def estimate(devices: int, start: float, turn: float) -> float:
        """Games per second if nothing but starting kernels took time."""
        chunk, stage, update = kernels[devices]
        chunks = max(games / devices * per_game / 256, NUM_CARDS)  # at least one a stage
        turns = ((chunk, chunks), (stage, NUM_CARDS), (update, updates))
        return games / sum(count * (kernels * start + turn) for kernels, count in turns)

    kernels = {}
    for devices in (1, 8):
        (compiled,) = (
            row
            for row in checked
            if (row["program"], row["sizes"], row["target"], row["devices"])
            == ("epoch", "cpu", "a100", devices)
        )
        stage, chunk, _, update = (loop["kernels"] for loop in compiled["loops"])
        kernels[devices] = chunk, stage, update
        assert f"{chunk}, {stage}, {update}" in page
        low, high = estimate(devices, *SLOW), estimate(devices, *QUICK)
        costs = (dollars(high, "A100", devices), dollars(low, "A100", devices))
        assert f"{low:,.0f} to {high:,.0f} | {costs[0]} to {costs[1]} |" in page
    for device, flops in FLOPS.items():
        assert f"{flops / 1e12:.1f}" in page
        bound = flops / (2 * weights) / per_game
        assert f"| {bound:,.0f} | {dollars(bound, device)} |" in page
