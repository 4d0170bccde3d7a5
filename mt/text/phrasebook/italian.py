"""Italian articles, contracted prepositions, plurals and adjective forms; no verbs, no lexicon."""

VOWELS = "aeiouàèéìòù"
_FUSED = {"a": "al", "di": "del", "da": "dal", "in": "nel", "su": "sul"}
_BELLO = {"il": "l", "lo": "llo", "l'": "ll'", "la": "lla", "i": "i", "gli": "gli", "le": "lle"}


def is_vowel(word: str) -> bool:
    """Whether the word begins with the sound of a vowel (an h is silent)."""
    return word.lower().removeprefix("h")[0] in VOWELS


def takes_lo(word: str) -> bool:
    """Whether a masculine word wants `lo`, `uno`, `gli`: s + consonant, z, gn, ps, pn, x, y."""
    word = word.lower()
    impure = word[0] == "s" and word[1] not in VOWELS
    return impure or word.startswith(("z", "gn", "ps", "pn", "x", "y"))


def definite(word: str, feminine: bool, plural: bool) -> str:
    """The definite article that goes before `word`: il, lo, l', la, i, gli, le."""
    if plural:
        return "le" if feminine else "gli" if takes_lo(word) or is_vowel(word) else "i"
    if is_vowel(word):
        return "l'"
    return "la" if feminine else "lo" if takes_lo(word) else "il"


def indefinite(word: str, feminine: bool) -> str:
    """The indefinite article that goes before `word`: un, uno, un', una."""
    if feminine:
        return "un'" if is_vowel(word) else "una"
    return "uno" if takes_lo(word) else "un"


def contract(preposition: str, article: str) -> str:
    """`a` + `il` -> `al`, `su` + `gli` -> `sugli`, `con` + `la` -> `con la`."""
    if preposition not in _FUSED:
        return f"{preposition} {article}"
    fused = _FUSED[preposition]
    if article == "il":
        return fused
    return fused[:-1] + article if article in ("i", "gli") else fused + article


def join(*words: str) -> str:
    """The words that are not empty, with a space between them but after an apostrophe."""
    text = ""
    for word in filter(None, words):
        text += word if not text or text.endswith("'") else " " + word
    return text


def with_preposition(preposition: str, phrase: str) -> str:
    """A phrase without article after a preposition: `ad Anna`, `a Roma`."""
    if preposition == "a" and phrase[0] in "aA":
        return f"ad {phrase}"
    return join(preposition, phrase)


def conjunction(following: str) -> str:
    """`e`, or `ed` before another e."""
    return "ed" if following[0] in "eE" else "e"


def plural(noun: str, feminine: bool) -> str:
    """The regular plural; words that stress a last vowel or end in a consonant do not change."""
    stem, ending = noun[:-1], noun[-1]
    if ending == "a" and feminine:
        if noun.endswith(("cia", "gia")):
            return (stem if noun[-4] in VOWELS else stem[:-1]) + "e"
        return stem + ("he" if stem[-1] in "cg" else "e")
    if ending == "o":
        if stem[-1] == "i":
            return stem
        return stem + ("hi" if stem[-1] in "cg" else "i")
    return stem + "i" if ending in "ae" else noun


def adjective(masculine: str, feminine: bool, plural_: bool, irregular_plural: str = "") -> str:
    """The form of a regular adjective (in -o, in -e, or unchanging) for a gender and number."""
    if feminine and masculine.endswith("o"):
        masculine = masculine[:-1] + "a"
    if not plural_:
        return masculine
    if irregular_plural and not feminine:
        return irregular_plural
    return masculine if masculine in ("blu", "rosa") else plural(masculine, feminine)


def before_noun(masculine: str, noun: str, feminine: bool, plural_: bool) -> str:
    """The form right before a noun: `bel`, `bell'`, `bei`, `begli`, `quello`, `buon`."""
    if masculine == "buono" and not feminine and not plural_:
        return "buono" if takes_lo(noun) else "buon"
    if masculine not in ("bello", "quello"):
        return adjective(masculine, feminine, plural_)
    return masculine[:-3] + _BELLO[definite(noun, feminine, plural_)]
