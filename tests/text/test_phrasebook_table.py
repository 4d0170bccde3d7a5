"""Sentences checked by hand, some of each pattern: what the grammar must say in Italian."""

from mt.text.phrasebook.patterns import PATTERNS

# Pattern, then English and Italian by turns.
CHECKED = """
thing_is
    The phone is useful.
    Il telefono è utile.
    The newspapers are boring.
    I giornali sono noiosi.
thing_is_not
    Their socks are not brown.
    Le loro calze non sono marroni.
thing_is_both
    The computer is slow and expensive.
    Il computer è lento e costoso.
thing_was
    Yesterday evening the park was crowded.
    Ieri sera il parco era affollato.
faster_than
    The boots are dirtier than the gloves.
    Gli stivali sono più sporchi dei guanti.
    The school is more modern than the hospital.
    La scuola è più moderna dell'ospedale.
the_oldest
    This is the smallest theatre in Venice.
    Questo è il teatro più piccolo di Venezia.
this_is_a
    This is a car.
    Questa è una macchina.
this_thing_is
    That garden is very quiet.
    Quel giardino è molto tranquillo.
    Those boots are very comfortable.
    Quegli stivali sono molto comodi.
is_mine
    This hat is yours.
    Questo cappello è tuo.
    That umbrella is mine.
    Quell'ombrello è mio.
annas_bag
    The farmer's suitcase is black.
    La valigia del contadino è nera.
    My uncle's car is fast.
    La macchina di mio zio è veloce.
what_a
    What small markets!
    Che piccoli mercati!
    What a beautiful tree!
    Che bell'albero!
    What beautiful stadiums!
    Che begli stadi!
costs
    The modern desk costs ten euros.
    La scrivania moderna costa dieci euro.
beautiful_but
    The theatre is beautiful, but it is too big.
    Il teatro è bello, ma è troppo grande.
person_is
    Your father is too shy.
    Tuo padre è troppo timido.
person_was
    Yesterday evening he was ill.
    Ieri sera era malato.
person_seems
    Mr. Romano seems intelligent.
    Il signor Romano sembra intelligente.
taller_than
    Mrs. Ferrari is kinder than the woman.
    La signora Ferrari è più gentile della donna.
as_tall_as
    Davide is as kind as the doctor.
    Davide è gentile come il medico.
the_tallest
    Paolo is the shyest boy in the class.
    Paolo è il ragazzo più timido della classe.
profession
    Matteo is a painter.
    Matteo è pittore.
becomes
    Our cousin wants to become a doctor.
    Nostro cugino vuole diventare medico.
aged
    Her son is ten years old.
    Suo figlio ha dieci anni.
feels
    The student is in a hurry.
    Lo studente ha fretta.
looks
    Sara has blue eyes.
    Sara ha gli occhi azzurri.
likes
    Paolo does not like juice.
    A Paolo non piace il succo.
    Matteo does not like eggs.
    A Matteo non piacciono le uova.
    Anna likes pizza.
    Ad Anna piace la pizza.
likes_to
    Giulia likes to swim in the lake.
    A Giulia piace nuotare nel lago.
why_is
    Why are Chiara and Roberto tired?
    Perché Chiara e Roberto sono stanchi?
birthday
    Our neighbour's birthday is in July.
    Il compleanno del nostro vicino è a luglio.
near
    The small lake is behind the hospital.
    Il piccolo lago è dietro l'ospedale.
    The lake is near the museum.
    Il lago è vicino al museo.
between
    The house is between the station and the garden.
    La casa è tra la stazione e il giardino.
thing_in
    The expensive umbrellas are in the drawer.
    Gli ombrelli costosi sono nel cassetto.
    The keys are in the bag.
    Le chiavi sono nella borsa.
there_is
    There is a book on the sofa.
    C'è un libro sul divano.
there_are
    There are six flowers under the table.
    Ci sono sei fiori sotto il tavolo.
    There are two scarves under the bed.
    Ci sono due sciarpe sotto il letto.
there_is_no
    There is no meat at the restaurant.
    Non c'è carne al ristorante.
is_there
    Is there a library opposite the supermarket?
    C'è una biblioteca di fronte al supermercato?
city_has
    In Turin there are many ancient castles.
    A Torino ci sono molti castelli antichi.
animals_are
    In the forest there are many foxes.
    Nel bosco ci sono molte volpi.
where_is
    Where is your mirror?
    Dov'è il tuo specchio?
    Where are our backpacks?
    Dove sono i nostri zaini?
    Where is my mother?
    Dov'è mia madre?
goes
    Your brother goes to school every Thursday.
    Tuo fratello va a scuola ogni giovedì.
went
    On Tuesday the lawyers went to Naples by bus.
    Martedì gli avvocati sono andati a Napoli in autobus.
will_go
    Tomorrow evening the policeman will go to church.
    Domani sera il poliziotto andrà in chiesa.
season
    In summer Mr. Bianchi often goes to Italy.
    D'estate il signor Bianchi va spesso in Italia.
comes_from
    Mrs. Ricci comes from England.
    La signora Ricci viene dall'Inghilterra.
lives_in
    The waitresses live in Milan.
    Le cameriere abitano a Milano.
lives_near
    Mr. Conti lives in a house near the forest.
    Il signor Conti abita in una casa vicino al bosco.
    I live in a small house near the sea.
    Abito in una piccola casa vicino al mare.
from_to
    Yesterday morning Elena walked from the hotel to the factory.
    Ieri mattina Elena ha camminato dall'albergo alla fabbrica.
fell
    The pen fell from the desk.
    La penna è caduta dalla scrivania.
habit
    I always wash an apple.
    Lavo sempre una mela.
every_day
    Every morning the woman closes three books.
    Ogni mattina la donna chiude tre libri.
now
    The chef is selling a book.
    Il cuoco sta vendendo un libro.
    The chefs are driving a black car.
    I cuochi stanno guidando una macchina nera.
yesterday
    Yesterday evening Paolo travelled by plane.
    Ieri sera Paolo ha viaggiato in aereo.
    Yesterday my sister walked in the mountains.
    Ieri mia sorella ha camminato in montagna.
did_not
    The tourist did not cook the rice.
    Il turista non ha cucinato il riso.
already
    Maria and Davide have just sung the song.
    Maria e Davide hanno appena cantato la canzone.
never
    We have never drunk juice.
    Non abbiamo mai bevuto succo.
tomorrow
    Tomorrow morning Mrs. Ricci will see the park.
    Domani mattina la signora Ricci vedrà il parco.
does_not
    Mr. Conti does not eat rice.
    Il signor Conti non mangia riso.
modal
    We can wear the new shoes.
    Possiamo indossare le nuove scarpe.
    They must order a cup of coffee.
    Devono ordinare una tazza di caffè.
modal_not
    His brother does not want to choose the French restaurant.
    Suo fratello non vuole scegliere il ristorante francese.
routine
    Every day the dentist gets up at seven o'clock.
    Ogni giorno il dentista si alza alle sette.
wants_to_get_up
    Tomorrow Sara wants to wake up at five o'clock.
    Domani Sara vuole svegliarsi alle cinque.
had_fun
    Yesterday morning we fell asleep at home.
    Ieri mattina ci siamo addormentati a casa.
wants_to_rest
    The farmer wants to rest tomorrow morning.
    Il contadino vuole riposarsi domani mattina.
sat_down
    His sister sat down on the carpet.
    Sua sorella si è seduta sul tappeto.
stopped
    Our brother stopped in front of the hospital.
    Nostro fratello si è fermato davanti all'ospedale.
met
    Yesterday morning Maria and Marco met at the hotel.
    Ieri mattina Maria e Marco si sono incontrati in albergo.
arrived
    Pietro left at half past eight.
    Pietro è partito alle otto e mezza.
    The girls returned at one o'clock.
    Le ragazze sono tornate all'una.
opens
    On Sunday the museum closes at four o'clock.
    Domenica il museo chiude alle quattro.
gives
    Yesterday evening I lent my new newspaper to the lawyers.
    Ieri sera ho prestato il mio nuovo giornale agli avvocati.
gave_me
    Your neighbour showed you an expensive glass.
    Il tuo vicino ti ha mostrato un bicchiere costoso.
    The psychologist gave me a mirror.
    Lo psicologo mi ha dato uno specchio.
knows_her
    Your cousin always calls me.
    Tuo cugino mi chiama sempre.
saw_them
    Yesterday evening the lawyers met him at the restaurant.
    Ieri sera gli avvocati l'hanno incontrato al ristorante.
    Yesterday I met her at the station.
    Ieri l'ho incontrata alla stazione.
saw_animal
    Last year we saw a mouse in the forest.
    L'anno scorso abbiamo visto un topo nel bosco.
wants_to_help
    She must call them.
    Deve chiamarli.
speaks
    She speaks Italian well.
    Parla bene l'italiano.
has
    Your sister has many rabbits.
    Tua sorella ha molti conigli.
has_no
    Luca does not have a basket.
    Luca non ha un cesto.
knows
    Her friend does not know the actress.
    Il suo amico non conosce l'attrice.
plays
    Their sister plays chess every Friday.
    La loro sorella gioca a scacchi ogni venerdì.
manner
    The engineer is working badly.
    L'ingegnere sta lavorando male.
times
    Your brother has repaired this boat twice.
    Tuo fratello ha riparato questa barca due volte.
puts
    Yesterday evening Sara put the lemon on the table.
    Ieri sera Sara ha messo il limone sul tavolo.
animal_does
    The horses are sleeping in the garden.
    I cavalli stanno dormendo in giardino.
with_friend
    Giulia is dancing with Francesca.
    Giulia sta ballando con Francesca.
do_you_have
    Does Mrs. Romano have a beautiful coat?
    La signora Romano ha un bel cappotto?
does_she
    Does Sara buy some fish every morning?
    Sara compra del pesce ogni mattina?
did_she
    Did your daughter eat a good cake?
    Tua figlia ha mangiato una buona torta?
is_she
    Are you travelling by bus?
    Stai viaggiando in autobus?
can_you
    Can you bring the lemon, please?
    Puoi portare il limone, per favore?
what_reading
    What are the lawyers preparing?
    Che cosa stanno preparando gli avvocati?
what_did
    What did your grandmother look at?
    Che cosa ha guardato tua nonna?
who_did
    Who painted the new house?
    Chi ha dipinto la nuova casa?
who_wants
    Who wants to buy the black coat?
    Chi vuole comprare il cappotto nero?
when_does
    What time does the ship leave?
    A che ora parte la nave?
where_does
    Where does Mrs. Ferrari work?
    Dove lavora la signora Ferrari?
how_much
    How much does this watch cost?
    Quanto costa questo orologio?
how_many
    How many sandwiches did you eat?
    Quanti panini hai mangiato?
whose
    Whose knife is this?
    Di chi è questo coltello?
colour
    What colour is the tie?
    Di che colore è la cravatta?
order
    Sara, wash the hat!
    Sara, lava il cappello!
order_children
    Children, do not hide the books!
    Bambini, non nascondete i libri!
    Children, open the window!
    Bambini, aprite la finestra!
lets
    Let's work in the library!
    Lavoriamo in biblioteca!
sir
    Do you want some salad, sir?
    Vuole dell'insalata, signore?
polite_can
    Can you close the small suitcase, Mrs. Ferrari?
    Può chiudere la piccola valigia, signora Ferrari?
polite_have
    Mrs. Bianchi, do you have the dictionary?
    Signora Bianchi, ha il dizionario?
all_of_you
    Boys, did you explain a short lesson?
    Ragazzi, avete spiegato una lezione breve?
would_like
    I would like some fish, please.
    Vorrei del pesce, per favore.
shopping
    We would like a kilo of tomatoes, please.
    Vorremmo un chilo di pomodori, per favore.
glad_because
    They are sad because they forgot a fork.
    Sono tristi perché hanno dimenticato una forchetta.
tired_because
    Their uncle is tired because he danced all day.
    Il loro zio è stanco perché ha ballato tutto il giorno.
needs_because
    The psychologist is eating the biscuit because he is hungry.
    Lo psicologo sta mangiando il biscotto perché ha fame.
two_do
    Your father is dancing on the beach and the man is sleeping in the mountains.
    Tuo padre sta ballando in spiaggia e l'uomo sta dormendo in montagna.
while_doing
    While the nurse was swimming in the sea, your son was using some phones.
    Mentre l'infermiera nuotava nel mare, tuo figlio usava alcuni telefoni.
when_came
    When the dentist arrived at the market, it was snowing.
    Quando il dentista è arrivato al mercato, nevicava.
if_rains
    If it is windy tomorrow, the professor will stay in the mountains.
    Se domani ci sarà vento, il professore rimarrà in montagna.
if_tired
    If you are thirsty, you can drink some tea.
    Se hai sete, puoi bere del tè.
before_doing
    Before going out, Matteo repaired a bridge.
    Prima di uscire, Matteo ha riparato un ponte.
who_is
    The girl who is eating the sandwich is her daughter.
    La ragazza che sta mangiando il panino è sua figlia.
that_i_bought
    The spoons that the journalist found are expensive.
    I cucchiai che il giornalista ha trovato sono costosi.
and_ate_it
    Yesterday Laura found the computers and sold them.
    Ieri Laura ha trovato i computer e li ha venduti.
    Yesterday my mother bought the shoes and wore them.
    Ieri mia madre ha comprato le scarpe e le ha indossate.
cold_so
    It was cold, so Maria went to the station.
    Faceva freddo, quindi Maria è andata alla stazione.
says_that
    My cousin says that the soup is salty.
    Mio cugino dice che la zuppa è salata.
knows_that
    I know that Mrs. Rossi laughed at home.
    So che la signora Rossi ha riso a casa.
wants_but
    Pietro wants to draw the small snakes, but he must work next week.
    Pietro vuole disegnare i piccoli serpenti, ma deve lavorare la settimana prossima.
weather
    Today it is snowing in Naples.
    Oggi nevica a Napoli.
event
    On Saturday the concert begins at one o'clock.
    Sabato il concerto comincia all'una.
"""


def checked() -> list[tuple[str, str, str]]:
    """(pattern, English, Italian) for every pair."""
    rows, pattern, english = [], "", ""
    for line in CHECKED.strip().splitlines():
        if not line.startswith(" "):
            pattern = line
        elif not english:
            english = line.strip()
        else:
            rows.append((pattern, english, line.strip()))
            english = ""
    return rows


def test_every_pattern_has_a_checked_sentence() -> None:
    assert {pattern for pattern, _, _ in checked()} == {pattern.__name__ for pattern in PATTERNS}


def test_there_are_enough_of_them_and_none_twice() -> None:
    rows = checked()
    assert len(rows) >= 130
    assert len({english for _, english, _ in rows}) == len(rows)
