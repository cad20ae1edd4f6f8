package text

import (
	"math/bits"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Lang is an ISO 639-1 code; empty means English or unknown.
type Lang string

// languages lists the supported languages in a fixed order, English first.
var languages = [...]Lang{"", "ar", "da", "de", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ro", "ru", "sv", "tr"}

// stopWords maps the most frequent words of each language, including question
// words, to a bit set of languages. It is built on first use. For English and
// German it excludes words that restrict a statement (all, only, before).
var stopWords = sync.OnceValue(func() map[string]uint32 {
	lists := map[Lang]string{
		"": "the of and to in is that for it as was with be by on not he his but at are this have from or had an " +
			"they which you were her she there would their we him been has when who will no if so what its about " +
			"into than them can could these may then do my now such our me also did must where your should just " +
			"those how too does here get s being am i mine myself yours us ours done doing having shall " +
			"might ll ve re d t m don doesn didn isn aren wasn weren whom whose why tell show give find " +
			"say says said know please let got a hers theirs onto nor very while",
		"ar": "من في على إلى عن مع هذا هذه ذلك تلك التي الذي الذين أن إن كان كانت لم لن لا ما هل قد كل بعد قبل عند " +
			"حتى أو ثم لكن هو هي هم نحن أنا أنت بين غير منذ إذا كما حيث أي ليس",
		"da": "og i at det en den til er som på de med han af for ikke der var mig sig men et har om vi min havde " +
			"ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne " +
			"ind når være dog noget ville jo deres efter ned skulle denne end dette mit også under have dig " +
			"anden hende mine alt meget sit sine hvis din nogle hos blive mange ad bliver hendes været jer sådan",
		"de": "der die das und in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden " +
			"aus er hat dass sie wird bei einer um am sind wie einem einen so zum war haben nur oder aber zur bis " +
			"durch man sein wurde wenn ich kann schon dieser wir sehr mich mir dann doch eines seine seiner ihre " +
			"ihr ihrer beim muss vom diese dies keine können hatte waren wurden dieses damit ohne bin bist " +
			"hier was wer wo wann warum welche welcher welches du dich dir uns euch mein meine meinen " +
			"meinem meiner dein deine habe soll bitte sag zeig gibt steht stehen da denn deinen",
		"es": "de la que el en y los del se las por un para con no una su al lo como más pero sus le ya este sí " +
			"porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos " +
			"uno les ni contra otros ese eso ante ellos esto antes algunos unos yo otro otras otra él tanto esa " +
			"estos mucho nada muchos cual poco ella estar estas mi tú son está fue era es han ha ser dónde " +
			"cuándo quién qué cuál cómo cuánto cuántos mis",
		"fi": "ja on ei se että oli en hän mutta ovat kuin myös joka sen minä niin ole tai jos nyt mitä vain olen " +
			"kun ne sitä sekä jo mukaan voi siitä hänen ollut olisi kaikki joita joiden siinä tämä tämän sitten " +
			"vielä olla me te he minun sinä mikä miten missä mukana kanssa jälkeen ennen",
		"fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec " +
			"son sa ses aux ou mais comme on nous vous ils elle cette leur été être fait ont tout même aussi ces " +
			"entre très sans où deux peut bien depuis après avant si dont je mon ma mes tu ton ta tes leurs " +
			"était cela lui quand quel quelle quoi comment pourquoi ai combien qu",
		"hu": "a az és hogy nem is egy de ez meg volt csak ha már van mint azt még vagy el ki akkor minden mert fel " +
			"kell le itt én ezt olyan igen be ami aki lesz nincs majd azonban amely pedig között után által szerint " +
			"illetve lehet ezek azok sem így során",
		"it": "di e il la che in un a per è una sono con non le si da del i della al come nel lo dei gli alla più " +
			"anche ma su ha delle questo ci dal o se nella suo era sua tra dalla degli fra ai mi cui essere perché " +
			"ho quando molto dopo prima stato tutti quello tutto ancora loro noi io lui lei questa alle sul " +
			"sulla dove chi cosa quale mio mia miei quanto quanti",
		"nl": "de van het een en in is dat op te zijn met voor niet aan er om die ook als dan maar bij of uit door " +
			"naar hij wordt heeft ik werd je nog was worden deze over zo kan tot al geen ze hebben meer men zou wat " +
			"we onder mijn wel haar hun had veel moet tegen zich dit kunnen zonder toch waar na hoe me mij ons " +
			"wij jij u toen hier omdat wanneer wie welke waarom heb hoeveel",
		"no": "og i det på som en et til er av for at med de den har ikke om var jeg ble men han vi seg fra ved ut " +
			"etter kan også hun skal så da hadde eller opp der over være nå mot vil man blir alle noe når sin mer " +
			"under enn bare hva meg mye bli noen før ha dette du dem andre selv hvor mellom mange denne sier sitt",
		"pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua " +
			"ou quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos seus quem nas me " +
			"esse eles você essa num nem suas meu às minha numa pelos elas qual nós lhe deles são está foi era é " +
			"ser tem há onde meus sobre quanto quantos",
		"ro": "și de în a la cu care pe nu un o din se este sunt mai pentru că să al ca ce dar lui fi sau ale au " +
			"prin fost după această acest cum am între ei ea îi îl le lor despre fără când unde foarte tot doar " +
			"fiind către astfel iar noi eu",
		"ru": "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было " +
			"вот от меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас вам ведь там " +
			"потом себя ничего ей может они тут где есть надо ней для мы их чем была сам чтоб без чего раз тоже " +
			"под будет это этот того потому какой здесь один мой тем чтобы при через эти нас про которые " +
			"который также после",
		"tr": "bir ve bu için ile çok daha olarak olan gibi sonra kadar ne ya da ama değil var yok ben sen biz siz " +
			"onlar her şey mi mı ki en o şu hem hiç nasıl neden çünkü ise göre bana sana beni seni bunu onu bizim benim",
		"sv": "och i att det som en på är av för med den till de inte om ett har men var jag sig från vi så kan när " +
			"han nu även eller ut hade år ska skall vid sin efter över man där också under upp blev mot då hon " +
			"mycket bara kommer vara alla dem vad bli blir få hur mellan sina denna någon detta utan ju mig min " +
			"här dig du oss era",
	}
	index := map[string]uint32{}
	for i, l := range languages {
		for word := range strings.FieldsSeq(lists[l]) {
			index[word] |= 1 << i
			index[Fold(word)] |= 1 << i
		}
	}
	return index
})

// StopWord reports whether a word, in lower case or folded, is a stop word of a
// language.
func StopWord(word string, in Lang) bool {
	bits := stopWords()[word]
	if bits == 0 {
		return false
	}
	for i, l := range languages {
		if l == in {
			return bits>>i&1 == 1
		}
	}
	return false
}

const (
	// languageBytes is how much of a text is examined to detect its language.
	languageBytes = 8 << 10
	// A text is not in English if it contains at least leastKinds different stop
	// words of another language, twice as many in total as English ones, and one
	// per leastShare words. Other texts, such as names, code or English with a
	// foreign quotation, count as English.
	leastKinds = 2
	leastShare = 10
)

// Language returns the language of a text, determined by its stop words or, if it
// is too short to contain any, by its script.
func Language(s string) Lang {
	if all := Languages(s); len(all) > 0 {
		return all[0]
	}
	return scriptOf(s)
}

// Languages returns the languages with the most stop words in a text, several if
// they are too similar to tell apart. It returns nil for English and if the
// language is unclear.
func Languages(s string) (all []Lang) {
	if len(s) > languageBytes {
		s = s[:languageBytes]
	}
	words, most := 0, 0
	var counts, kinds [len(languages)]int
	stops, seen := stopWords(), map[string]bool{}
	for w := range Words(s) {
		words++
		// single characters occur in many languages
		if _, size := utf8.DecodeRuneInString(w.Text); size == len(w.Text) {
			continue
		}
		word := strings.ToLower(w.Text)
		in := stops[word]
		if in == 0 {
			continue
		}
		known := seen[word]
		if !known {
			seen[word] = true
		}
		for ; in != 0; in &= in - 1 {
			i := bits.TrailingZeros32(in)
			counts[i]++
			if !known {
				kinds[i]++
			}
		}
	}
	for i := range languages[1:] {
		most = max(most, counts[1+i])
	}
	if most < 2*counts[0] || most*leastShare < words {
		return nil
	}
	for i, l := range languages {
		if l != "" && counts[i] == most && kinds[i] >= leastKinds {
			all = append(all, l)
		}
	}
	return all
}

// Latin reports whether most letters of a text are Latin.
func Latin(s string) bool {
	letters, latin := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
		if unicode.Is(unicode.Latin, r) {
			latin++
		}
	}
	return 2*latin > letters
}

// scriptOf returns the language if most letters of a text are of a script used by
// only one language.
func scriptOf(s string) Lang {
	letters, cyrillic, arabic := 0, 0, 0
	for _, r := range s {
		if r < utf8.RuneSelf {
			if lower := r | 0x20; 'a' <= lower && lower <= 'z' {
				letters++
			}
			continue
		}
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
