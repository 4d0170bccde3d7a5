"""English names of languages, by their codes (ISO 639-1)."""

from __future__ import annotations

_NAMES = """
af Afrikaans|am Amharic|ar Arabic|az Azerbaijani|be Belarusian|bg Bulgarian|bn Bengali|br Breton
bs Bosnian|ca Catalan|co Corsican|cs Czech|cy Welsh|da Danish|de German|el Greek|en English
eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian|fi Finnish|fo Faroese|fr French
fy Frisian|ga Irish|gd Scottish Gaelic|gl Galician|gu Gujarati|ha Hausa|he Hebrew|hi Hindi
hr Croatian|ht Haitian Creole|hu Hungarian|hy Armenian|ia Interlingua|id Indonesian|ig Igbo
is Icelandic|it Italian|ja Japanese|jv Javanese|ka Georgian|kk Kazakh|km Khmer|kn Kannada
ko Korean|ku Kurdish|ky Kyrgyz|la Latin|lb Luxembourgish|lo Lao|lt Lithuanian|lv Latvian
mg Malagasy|mi Māori|mk Macedonian|ml Malayalam|mn Mongolian|mr Marathi|ms Malay|mt Maltese
my Burmese|nb Norwegian Bokmål|ne Nepali|nl Dutch|nn Norwegian Nynorsk|no Norwegian|oc Occitan
or Odia|pa Punjabi|pl Polish|ps Pashto|pt Portuguese|qu Quechua|rm Romansh|ro Romanian|ru Russian
rw Kinyarwanda|sc Sardinian|sd Sindhi|si Sinhala|sk Slovak|sl Slovenian|sn Shona|so Somali
sq Albanian|sr Serbian|su Sundanese|sv Swedish|sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai
tk Turkmen|tl Tagalog|tr Turkish|tt Tatar|ug Uyghur|uk Ukrainian|ur Urdu|uz Uzbek|vi Vietnamese
wa Walloon|xh Xhosa|yi Yiddish|yo Yoruba|zh Chinese|zu Zulu
"""
NAMES = dict(
    entry.split(" ", 1) for line in _NAMES.split("\n") for entry in line.split("|") if entry
)


def language_name(code: str) -> str:
    """The English name of a language; of one that is not in the list, its code.

    >>> language_name("pt"), language_name("pt-BR"), language_name("tlh")
    ('Portuguese', 'Portuguese (BR)', 'tlh')
    """
    base, _, region = code.replace("_", "-").partition("-")
    if (name := NAMES.get(base.lower())) is None:
        return code
    return f"{name} ({region})" if region else name
