"""The `gongzhu` command: games in the terminal, moves, opinions, the arena, experiments."""
