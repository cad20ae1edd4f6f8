package rag

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// A note's words are stemmed by the rules of its own language, told by its
// small words, or its script; those of a note in a language that is not here or
// in none that shows, by those of English. A question is too short to tell: its words
// are looked for in the form that each language of the vault gives them. So a
// vault of English notes is searched as if there were no other language.

// language is a code of ISO 639-1; "": English, or not known.
type language string

// longestWord bounds a word, in bytes; what is longer is not stemmed.
const longestWord = 64

// stemmers are the Snowball project's.
var stemmers = map[language]func(*snowballstem.Env) bool{
	"": english.Stem, "ar": arabic.Stem, "da": danish.Stem, "de": german.Stem, "es": spanish.Stem, "fi": finnish.Stem, "fr": french.Stem, "hu": hungarian.Stem, "it": italian.Stem,
	"nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem, "sv": swedish.Stem,
	"tr": turkish.Stem,
}

// stem reduces a word to what its forms have in common.
func (l language) stem(word string) string {
	if len(word) > longestWord {
		return fold(word)
	}
	// Accents count for the endings, except in English, and are left out by
	// many who type.
	if word = strings.ToLower(word); l == "" {
		word = fold(word)
	}
	env := snowballstem.NewEnv(word)
	stemmers[l](env)
	if stemmed := fold(env.Current()); stemmed != "" {
		return stemmed
	}
	return fold(word)
}

// smallWords are the most frequent words of each language that mean little by
// themselves. They are indexed at their first use: a start does not pay for it.
var smallWords = sync.OnceValue(func() map[string]uint32 {
	return indexWords(map[language]string{
		"":   "the of and to in is that for it as was with be by on not he his but at are this have from or had an they which you were her all she there would their we him been has when who will more no if out so what up its about into than them can only other some could these two may then do first any my now such like our over even most me after also did many before must through back where much your way well should because each just those how too does here get make need use",
		"ar": "من في على إلى عن مع هذا هذه ذلك تلك التي الذي الذين أن إن كان كانت لم لن لا ما هل قد كل بعد قبل عند حتى أو ثم لكن هو هي هم نحن أنا أنت بين غير منذ إذا كما حيث أي ليس",
		"da": "og i at det en den til er som på de med han af for ikke der var mig sig men et har om vi min havde ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind når være dog noget ville jo deres efter ned skulle denne end dette mit også under have dig anden hende mine alt meget sit sine hvis din nogle hos blive mange ad bliver hendes været jer sådan",
		"de": "der die das und in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde wenn ich kann schon dieser wir sehr mich mir dann unter doch eines seine seiner ihre ihr ihrer beim muss gegen vom diese dies wieder keine alle können immer hatte waren wurden zwischen dieses damit auf ohne bin bist hier",
		"es": "de la que el en y los del se las por un para con no una su al lo como más pero sus le ya este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra otros ese eso ante ellos esto antes algunos unos yo otro otras otra él tanto esa estos mucho nada muchos cual poco ella estar estas mi tú son está fue era es han ha ser",
		"fi": "ja on ei se että oli en hän mutta ovat kuin myös joka sen minä niin ole tai jos nyt mitä vain olen kun ne sitä sekä jo mukaan voi siitä hänen ollut olisi kaikki joita joiden siinä tämä tämän sitten vielä ovat olla me te he minun sinä mikä miten missä mukana kanssa jälkeen ennen",
		"fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec son sa ses aux ou mais comme on nous vous ils elle cette leur été être fait ont tout même aussi ces entre très sans où deux peut bien depuis après avant si dont je mon ma mes tu ton ta tes leurs était c'est n'est d'un d'une qu'il j'ai cela lui quand quel quelle",
		"hu": "a az és hogy nem is egy de ez meg volt csak ha már van mint azt még vagy el ki akkor minden mert fel kell le itt én ezt olyan igen be ami aki lesz nincs majd azonban amely pedig között után által szerint illetve lehet ezek azok sem így során",
		"it": "di e il la che in un a per è una sono con non le si da del i della al come nel lo dei gli alla più anche ma su ha delle questo ci dal o se nella suo era sua tra dalla degli fra ai mi cui essere perché ho quando molto dopo prima stato tutti quello tutto ancora loro noi io lui lei questa alle sul sulla dell'anno c'è",
		"nl": "de van het een en in is dat op te zijn met voor niet aan er om die ook als dan maar bij of uit door naar hij wordt heeft ik werd je nog was worden deze over zo kan tot al geen ze hebben meer men zou wat we onder mijn wel haar hun had veel moet tegen zich dit kunnen zonder toch waar na hoe me mij ons wij jij u toen hier omdat",
		"no": "og i det på som en et til er av for at med de den har ikke om var jeg ble men han vi seg fra ved ut etter kan også hun skal så da hadde eller opp der over være nå mot vil man blir alle noe når sin mer under enn bare hva meg mye bli noen før ha dette du dem andre selv hvor mellom mange denne sier sitt",
		"pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos seus quem nas me esse eles você essa num nem suas meu às minha numa pelos elas qual nós lhe deles são está foi era é ser tem há",
		"ro": "și de în a la cu care pe nu un o din se este sunt mai pentru că să al ca ce dar lui fi sau ale au prin fost după această acest cum am între ei ea îi îl le lor despre fără când unde foarte tot doar fiind către astfel iar noi eu",
		"ru": "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас вам ведь там потом себя ничего ей может они тут где есть надо ней для мы их чем была сам чтоб без чего раз тоже под будет это этот того потому какой здесь один мой тем чтобы при через эти нас про которые который также после",
		"tr": "bir ve bu için ile çok daha olarak olan gibi sonra kadar ne ya da ama değil var yok ben sen biz siz onlar her şey mi mı ki en o şu hem hiç nasıl neden çünkü ise göre bana sana beni seni bunu onu bizim benim",
		"sv": "och i att det som en på är av för med den till de inte om ett har men var jag sig från vi så kan när han nu även eller ut hade år ska skall vid sin efter över man där också under upp blev mot då hon mycket bara kommer vara alla dem vad bli blir få hur mellan sina denna någon detta utan ju mig min här dig du oss era",
	})
})

// indexWords tells in which languages a word is small, a bit for each.
func indexWords(lists map[language]string) map[string]uint32 {
	index := map[string]uint32{}
	for i, l := range languages {
		for word := range strings.FieldsSeq(lists[l]) {
			if utf8.RuneCountInString(word) > 1 { // a letter may be anything
				index[word] |= 1 << i
			}
		}
	}
	return index
}

// languages are all of them in a fixed order, English first.
var languages = [...]language{"", "ar", "da", "de", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ro", "ru", "sv", "tr"}

const (
	// languageBytes of a note are enough to tell its language.
	languageBytes = 8 << 10
	// leastKinds different small words must be found, twice as many in all as
	// of English, and be one word of leastShare: a note of names, code or English
	// with a foreign quote stays with English.
	leastKinds = 3
	leastShare = 10
)

// languageOf tells the language of a note by its small words.
func languageOf(text string) language {
	if len(text) > languageBytes {
		text = text[:languageBytes]
	}
	small := countSmallWords(text)
	best := 1
	for i := range small.counts[1:] {
		if small.counts[1+i] > small.counts[best] {
			best = 1 + i
		}
	}
	if n := small.counts[best]; small.kinds[best] < leastKinds || n < 2*small.counts[0] || n*leastShare < small.words {
		return scriptOf(text)
	}
	return languages[best]
}

// scriptOf tells the language of a text too short to show small words by its
// script: most of what is written in it.
func scriptOf(text string) language {
	letters, cyrillic, arabic := 0, 0, 0
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
			continue
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
		case unicode.Is(unicode.Arabic, r):
			arabic++
		}
		letters++
	}
	switch {
	case 2*cyrillic > letters:
		return "ru"
	case 2*arabic > letters:
		return "ar"
	}
	return ""
}

// isForeign tells whether a question is in another language than the notes:
// it holds no small word that is English alone, and more of a language that
// no note is in than words that English has, too.
func isForeign(question string, spoken []language) bool {
	small := countSmallWords(question)
	most := 0
	for i := range languages {
		most = max(most, small.counts[i])
	}
	if small.english > 0 || most <= small.counts[0] {
		return false
	}
	for i, l := range languages {
		if small.counts[i] == most && slices.Contains(spoken, l) {
			return false
		}
	}
	return true
}

// smallCounts are the small words of a text.
type smallCounts struct {
	words   int                 // all words of the text
	counts  [len(languages)]int // those that are small in a language
	kinds   [len(languages)]int // how many different ones
	english int                 // those that are small in English alone
}

func countSmallWords(text string) smallCounts {
	var c smallCounts
	small, seen := smallWords(), map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '\'' && !wordRune(r) }) {
		c.words++
		word = strings.ToLower(word)
		in := small[word]
		if in == 1 {
			c.english++
		}
		for i := 0; in != 0; i, in = i+1, in>>1 {
			c.counts[i] += int(in & 1)
			if !seen[word] {
				c.kinds[i] += int(in & 1)
			}
		}
		seen[word] = true
	}
	return c
}
