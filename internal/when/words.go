package when

import (
	"strconv"
	"strings"
	"sync"
)

// vocabulary lists the words of times in English and German: a kind, the value of the
// first word and, after each bar, of the next one. An underscore stands for a space or
// hyphen, and a plus for the endings of a German adjective.
//
//	D a day from today     U a unit        N a number      O a rank      H recently: days        C the current unit
//	I last, this, next     R of two times  W M S F         weekday, month, season, feast
//	B before  V the same, and ago          A after         T until       Z since                 G ago
//	i in      o on         f of, from      J to, and       L or, ab, is    E every       X of the future         a skipped
//	K a number of weeks, in one word
const vocabulary = `
D -2 vorgestern|yesterday last_night gestern gestern_morgen gestern_abend|today tonight this_morning this_afternoon this_evening heute heute_morgen heute_abend|tomorrow morgen|übermorgen
U 1 day days tag tage tagen tages|week weeks woche wochen kw kalenderwoche|weekend weekends wochenende wochenendes|month months monat monate monaten monats|quarter quarters quartal quartals|year years jahr jahre jahren jahres|half_a_year half_year halben_jahr halbes_jahr
N 1 a one ein eine einem einer einen|two couple a_couple_of zwei|three few some drei paar several einige einigen|four vier|five fünf|six sechs|seven sieben|eight acht|nine neun|ten zehn|eleven elf|twelve zwölf|thirteen dreizehn|fourteen vierzehn|fifteen fünfzehn|sixteen sechzehn|seventeen siebzehn|eighteen achtzehn|nineteen neunzehn|twenty zwanzig
N 30 thirty dreißig
O 1 first erst+|second zweit+|third dritt+|fourth viert+|fifth fünft+
I -2 vorletzt+|last past letzt+ vergangen+ vorig+|this current dies+ aktuell+ laufend+|next coming upcoming this_coming nächst+ kommend+|übernächst+
R -1 previous prior preceding vorherig+ earlier davor zuvor früher
R 1 following folgend+ later danach darauf später
H 30 lately recently these_days of_late kürzlich neulich zuletzt in_letzter_zeit
C 6 beginning_of_the_year start_of_the_year jahresbeginn jahresanfang
M 1 january januar jan|february februar feb|march märz mar|april apr|may mai|june juni jun|july juli jul|august aug|september sep sept|october oktober oct okt|november nov|december dezember dec dez
W 0 sunday sonntag|monday montag|tuesday dienstag|wednesday mittwoch|thursday donnerstag|friday freitag|saturday samstag sonnabend
S 1 spring frühling frühjahr|summer sommer|autumn fall herbst|winter
F 0 easter ostern|christmas xmas weihnachten|christmas_eve heiligabend|christmas_day|halloween|new_year's_eve silvester|new_year new_year's_day neujahr|good_friday karfreitag|whitsun pentecost pfingsten|ascension ascension_day himmelfahrt christi_himmelfahrt
B 0 before
V 0 vor
A 0 after nach
T 0 until till bis no_later_than bis_spätestens spätestens
L 0 or oder ab starting re regarding wegen nicht is ist as
Z 0 since ever_since seit
G 0 ago|back
K 2 fortnight fortnights
i 0 in im over early mid late within anfang mitte ende start_of beginning_of end_of|around|during während
o 0 on at by am an vom zum zu über
f 0 of from for für between von zwischen des
J 0 to through|and und
E 0 every each jed+ alle daily weekly monthly yearly täglich wöchentlich monatlich jährlich
X 0 will shall plan plans planned planning due todo plane geplant fällig werde werden wird
a 0 the der die das den dem that guten_morgen am_morgen
`

// feasts are holidays: month, day, number of days. Those without a month are so many days from Easter.
var feasts = [][3]int{
	{0, -2, 4},
	{12, 24, 3},
	{12, 24, 1},
	{12, 25, 1},
	{10, 31, 1},
	{12, 31, 1},
	{1, 1, 1},
	{0, -2, 1},
	{0, 49, 2},
	{0, 39, 1},
}

// meaning is the meaning of a word in the vocabulary.
type meaning struct {
	kind  byte
	value int
}

// meanings maps all words of the vocabulary to their meanings.
var meanings = sync.OnceValue(func() map[string]meaning {
	all := map[string]meaning{}
	for line := range strings.Lines(strings.TrimSpace(vocabulary)) {
		kind, rest, _ := strings.Cut(line, " ")
		first, words, _ := strings.Cut(rest, " ")
		value, _ := strconv.Atoi(first) //nolint:errcheck // the vocabulary has numbers there
		for i, same := range strings.Split(words, "|") {
			for word := range strings.FieldsSeq(same) {
				word = strings.ReplaceAll(word, "_", " ")
				stem, inflected := strings.CutSuffix(word, "+")
				endings := []string{""}
				if inflected {
					endings = []string{"e", "en", "em", "er", "es"}
				}
				for _, ending := range endings {
					all[stem+ending] = meaning{kind[0], value + i}
				}
			}
		}
	}
	return all
})
