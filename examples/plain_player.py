"""A player of your own in plain Python: `gongzhu evaluate player=plain_player:make`.

A factory takes the options of the player as keywords, here `player_options.pig=50`, and returns a
function from what a seat knows to a card. `Client.play_games` takes the same function to an arena.
"""


def make(pig: int = 100):
    feared = {"SQ": pig, "SK": 60, "SA": 60, "HA": 50, "HK": 40, "HQ": 30, "HJ": 20, "C10": 15}

    def fear(card):
        return feared.get(card, 0), "23456789TJQKA".index(card[1:].replace("10", "T"))

    def choose(view):
        legal, trick = view["legal"], view["trick"]["cards"]
        if not trick:
            return min(legal, key=fear)
        suit = trick[0][0]
        if legal[0][0] != suit:  # cannot follow: get rid of the worst card
            return max(legal, key=fear)
        best = max((card for card in trick if card[0] == suit), key=lambda card: fear(card)[1])
        below = [card for card in legal if fear(card)[1] < fear(best)[1]]
        return max(below or legal[:1], key=lambda card: fear(card)[1])

    return choose


if __name__ == "__main__":
    from gongzhu_jax import players
    from gongzhu_jax.evaluation import play_match

    result = play_match(players.make("plain_player:make"), players.make("random"), 16)
    print(f"points over Mr. Random: {result.mean:.1f} +- {result.standard_error:.1f}")
