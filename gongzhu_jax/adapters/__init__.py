"""The game and its players in other libraries: Pgx, PettingZoo, OpenSpiel; and drawn tables.

Each library is an extra of this package and is imported only by the modules that are named after
it. See docs/adapters.md.
"""
