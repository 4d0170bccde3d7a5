"""The verbs and the objects that each one takes; no grammar, no other words."""

from dataclasses import dataclass

from mt.text.phrasebook import english
from mt.text.phrasebook.nouns import Noun, select


@dataclass(frozen=True)
class Verb:
    """A verb in both languages; `infinitive` lacks the `si` of a reflexive verb."""

    en: str
    en_past: str
    en_participle: str
    infinitive: str
    reflexive: bool
    objects: tuple[Noun, ...]


_BUYABLE = "fruit food clothes pairs reading things instruments containers furniture vehicles"
_EATEN = (
    "apple orange pear egg carrot potato tomato sandwich cake biscuit pizza mushroom strawberry "
    "peach ice_cream bread rice meat fish cheese ham salad soup chocolate pasta honey"
)
_PORTABLE = "clothes reading things bag suitcase backpack box basket guitar violin flute"

# English base (with irregular past and participle after slashes), Italian, objects.
TRANSITIVE = f"""
    eat/ate/eaten | mangiare | {_EATEN}
    drink/drank/drunk | bere | drinks
    cook | cucinare | meat fish rice pasta potato mushroom egg soup
    buy/bought | comprare | {_BUYABLE}
    sell/sold | vendere | {_BUYABLE}
    read/read | leggere | reading
    write/wrote/written | scrivere | letter poem novel book song story
    see/saw/seen | vedere | people pets animals buildings outdoors nature towns film
    look at | guardare | photo painting map sea mountain lake river film watch mirror people
    look for | cercare | {_PORTABLE} pets people hotel restaurant pharmacy
    find/found | trovare | {_PORTABLE} pets hotel restaurant
    lose/lost | perdere | coat hat scarf key ticket umbrella watch phone ring bag map pen
    open | aprire | openings drawer suitcase box bottle letter wardrobe bag gift umbrella shop
    close | chiudere | openings drawer suitcase box bottle wardrobe bag umbrella book shop
    clean | pulire | rooms house table window car mirror carpet desk shelf garden bicycle
    wash | lavare | apple carrot tomato plate glass cup spoon clothes vehicles dog window
    wear/wore/worn | indossare | shirt coat hat jacket sweater scarf pairs ring watch
    forget/forgot/forgotten | dimenticare | {_PORTABLE} song story
    bring/brought | portare | fruit wine bread cheese water reading things guitar bag chair
    take/took/taken | prendere | transport umbrella key bag book suitcase coat jacket plate
    receive/received | ricevere | letter gift photo flower ticket newspaper answer book
    sing/sang/sung | cantare | song
    play | suonare | instruments
    listen to | ascoltare | song radio concert story professor singer teacher lesson
    help | aiutare | people kin
    meet/met | incontrare | people kin
    invite | invitare | people kin
    call | chiamare | people kin dog taxi
    thank | ringraziare | people kin
    greet | salutare | people kin
    wait for | aspettare | people transport letter answer
    visit | visitare | museum church castle theatre university towns island school
    break/broke/broken | rompere | glass plate cup mirror window lamp bottle watch chair toy phone
    repair | riparare | vehicles radio computer watch lamp door toy phone umbrella chair bridge
    paint | dipingere | door house chair nature flower castle church tree
    draw/drew/drawn | disegnare | pets animals flower house tree castle map bridge
    drive/drove/driven | guidare | car bus taxi lorry
    cut/cut | tagliare | bread cheese ham meat fruit
    choose/chose/chosen | scegliere | {_BUYABLE} hotel restaurant film
    use/used | usare | computer phone knife dictionary map pen pencil spoon radio lamp bicycle
    prepare | preparare | soup salad coffee tea cake sandwich pasta pizza lesson exam
    order | ordinare | pizza beer coffee tea sandwich ice_cream fish salad wine pasta
    finish | finire | reading sandwich soup lesson exam
    begin/began/begun | cominciare | lesson book novel letter meeting exam
    win/won | vincere | match
    build/built | costruire | house bridge boat castle hospital school stadium factory
    hide/hid/hidden | nascondere | key letter gift photo ring book notebook ticket chocolate
    understand/understood | capire | lesson question answer poem story book film
    explain | spiegare | lesson question answer poem story map film
"""
GIVING = f"""
    give/gave/given | dare | {_PORTABLE} fruit
    show/showed/shown | mostrare | {_PORTABLE} house garden
    send/sent | mandare | letter gift photo flower book ticket magazine newspaper
    lend/lent | prestare | reading umbrella pen pencil notebook vehicles guitar violin knife coat
    sell/sold | vendere | reading things vehicles clothes house
"""
PUTTING = "put/put | mettere | reading things fruit"
STAYING = """
    sleep/slept | dormire |
    work | lavorare |
    walk | camminare |
    run/ran/run | correre |
    dance | ballare |
    swim/swam/swum | nuotare |
    eat/ate/eaten | mangiare |
    read/read | leggere |
    sing/sang/sung | cantare |
    study | studiare |
    cry | piangere |
    laugh | ridere |
    travel | viaggiare |
"""
MOVING = """
    go/went/gone | andare |
    come/came/come | venire |
    return | tornare |
    arrive | arrivare |
    leave/left | partire |
    go out/went out/gone out | uscire |
    stay | rimanere |
    fall/fell/fallen | cadere |
    live | abitare |
    cost/cost | costare |
    become/became/become | diventare |
    speak/spoke/spoken | parlare |
    say/said | dire |
    have/had | avere |
    know/knew/known | conoscere |
    seem | sembrare |
"""
REFLEXIVE = """
    get up/got up | alzarsi |
    wake up/woke up/woken up | svegliarsi |
    get dressed/got dressed | vestirsi |
    fall asleep/fell asleep/fallen asleep | addormentarsi |
    have fun/had fun | divertirsi |
    get bored/got bored | annoiarsi |
    sit down/sat down | sedersi |
    rest | riposarsi |
    stop | fermarsi |
"""


def _read(table: str) -> tuple[Verb, ...]:
    return tuple(_verb(*line.split("|")) for line in table.strip().splitlines())


def _verb(forms: str, it: str, nouns: str) -> Verb:
    base, *rest = forms.strip().split("/")
    past = rest[0] if rest else english.past(base)
    participle = rest[1] if len(rest) > 1 else past
    reflexive = it.strip().endswith("si")
    infinitive = it.strip().removesuffix("si") + "e" * reflexive
    return Verb(base, past, participle, infinitive, reflexive, select(nouns))


DEEDS = _read(TRANSITIVE)
# Over in a moment: not what one is doing now, or does every day.
SUDDEN = (
    "see", "find", "lose", "receive", "break", "win", "understand", "forget", "hide", "begin",
    "finish", "build", "meet",
)  # fmt: skip
UNWANTED = ("lose", "break", "forget", "receive", "hide")  # not what one wants to do
_DAILY = (
    "eat", "drink", "cook", "buy", "read", "write", "look at", "open", "close", "clean", "wash",
    "wear", "take", "play", "listen to", "help", "call", "wait for", "use", "prepare", "order",
)  # fmt: skip
_PLANNED = (
    "buy", "sell", "read", "write", "open", "visit", "call", "meet", "prepare", "see", "take",
    "wash", "invite", "repair", "choose", "clean",
)  # fmt: skip
SAME_PAST = ("read", "cut")  # `they read`: today or yesterday?
GIFTS = _read(GIVING)
PUT = _read(PUTTING)[0]
ACTIVITIES = _read(STAYING)
# A tense with forms of its own is used with these verbs only, so that each form is met often.
NOT_DAILY = tuple(v.en for v in DEEDS if v.en not in _DAILY)
NOT_PLANNED = (
    *(v.en for v in DEEDS if v.en not in _PLANNED),
    *("cry", "laugh", "run", "walk", "swim", "sing", "eat"),
)
ROUTINES = _read(REFLEXIVE)
_OTHERS = {verb.en: verb for verb in (*_read(MOVING), *ROUTINES, *DEEDS, *ACTIVITIES)}
MODALS = (
    Verb("want to", "wanted to", "wanted to", "volere", False, ()),
    Verb("can", "could", "", "potere", False, ()),
    Verb("must", "", "", "dovere", False, ()),
)
VERBS = tuple(dict.fromkeys((*DEEDS, *GIFTS, PUT, *ACTIVITIES, *_OTHERS.values(), *MODALS)))


EACH_OTHER = Verb("meet", "met", "met", "incontrare", True, ())
GAME = Verb("play", "played", "played", "giocare", False, ())
KNOW_THAT = Verb("know", "knew", "known", "sapere", False, ())


def verb(base: str) -> Verb:
    """The verb with this English base form: `verb("go")`."""
    return _OTHERS[base]
