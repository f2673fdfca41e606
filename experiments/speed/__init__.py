"""How fast things are; each module measures one subject."""

SUBJECTS = ("env", "players", "search", "training", "mixture", "inference", "belief")
"""What `python -m experiments.throughput` measures, each in a module of this name."""
