"""Names of clients: what may be one, and which of them look alike.

The names of our players, and whatever looks like them or like a registered name, are nobody's to
take: at a table a name is all that tells a stranger from one of ours.
"""

import unicodedata

from gongzhu_jax import players
from gongzhu_jax.errors import ArenaError

MOST_CHARACTERS = 24
_SIGNS = " ._-'"
_RESERVED = ("scrofazero", "gongzhu", "server", "arena", "admin", "clock", "nobody", "system")
_SHOWN = ("Mr. Random", "Mr. If", "Mr. Greed", "随机先生", "规则先生", "贪心先生")
"""What the page calls our players, where that is not like their names."""
_PREFIX = "scrofa"
_FILLERS = "\u115f\u1160"  # letters by their category, but nothing is seen of them

# Alphabets in common use, as Unicode recommends them for identifiers (UAX #31, table 5). Others,
# such as Lisu and Cherokee, have letters that cannot be told from Latin ones.
_ALPHABETS = (
    "ARABIC ARMENIAN BENGALI BOPOMOFO CYRILLIC DEVANAGARI EAST-ASIAN ETHIOPIC GEORGIAN GREEK "
    "GUJARATI GURMUKHI HANGUL HEBREW KANNADA KHMER LAO LATIN MALAYALAM MYANMAR ORIYA SINHALA "
    "TAMIL TELUGU THAANA THAI TIBETAN"
)

# Letters and digits that look like a Latin letter, after case folding.
_LOOKALIKES = str.maketrans(
    {
        **dict(zip("01358", "olesb", strict=True)),
        "i": "l",
        **dict(zip("абвеёкморстухіјѕԛԝнпгдьһԁԍ", "a6beekmopctyxljsqwhnrdbhdg", strict=True)),
        **dict(zip("αβεικνορτυχωγηζ", "abelkvoptuxwynz", strict=True)),
    }
)


def check_name(name: str) -> str:
    """The name, if anybody could have it. `ValueError` says what is wrong with it."""
    if not 1 <= len(name) <= MOST_CHARACTERS:
        raise ValueError(f"must have 1 to {MOST_CHARACTERS} characters")
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise ValueError("must be proper text")
    if unicodedata.normalize("NFKC", name) != name:
        raise ValueError("must be in the Unicode normal form NFKC")
    if not all(letter in _SIGNS or _is_letter_or_digit(letter) for letter in name):
        raise ValueError(f"may have letters, digits, blanks and the signs {_SIGNS.strip()} only")
    if not _is_letter_or_digit(name[0]) or name != name.strip() or "  " in name:
        raise ValueError("must begin with a letter or digit, with single blanks between words")
    alphabets = {_alphabet(letter) for letter in name if letter.isalpha()}
    if len(alphabets) > 1 or not alphabets <= set(_ALPHABETS.split()):
        raise ValueError("must have letters of one alphabet, one in common use")
    return name


def skeleton(name: str) -> str:
    """What is left of a name for the eye: equal for names that look alike."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(_plain(letter) for letter in folded if letter.isalnum())
    return plain.translate(_LOOKALIKES).replace("rn", "m").replace("vv", "w")


def check_not_ours(name: str) -> None:
    """`ArenaError` for a name that looks like one of our players or like the server itself."""
    seen = skeleton(name)
    ours = {skeleton(own) for own in (*players.names(), *_RESERVED, *_SHOWN)}
    if seen in ours or seen.startswith(skeleton(_PREFIX)):
        raise ArenaError("taken", "that name looks like one of the server's own")


def _plain(letter: str) -> str:
    """The usual letter that a Latin one like a dotless i or a small capital R stands for."""
    words = unicodedata.name(letter, "").split()
    usual = [word for word in words if len(word) == 1] if words[:1] == ["LATIN"] else []
    return usual[0].lower() if usual else letter


def _is_letter_or_digit(letter: str) -> bool:
    # Of combining marks only those that stand with a letter of their script, as in Hindi.
    kind = "" if letter in _FILLERS else unicodedata.category(letter)
    return kind in ("Lu", "Ll", "Lt", "Lo", "Nd", "Mc") or (kind == "Lm" and letter in "々ー")


def _alphabet(letter: str) -> str:
    script = unicodedata.name(letter, "unknown").split()[0]
    japanese = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"}
    return "EAST-ASIAN" if script in japanese else script
