package agent

import (
	"strings"
	"unicode"
)

// smallWords tell languages with one alphabet apart: words of a question that
// the others do not have.
var smallWords = map[string]map[string]bool{
	"":   wordSet(`the what when where which who how is are was were did does do i my of and to it have has about for there this that with`),
	"de": wordSet(`der die das den dem ein eine was wann wo wer wie warum welche welcher welches ist sind war hat habe habe ich mein meine meinen meiner und nicht mit für über von zu bei im am es wir`),
	"fr": wordSet(`le la les un une des du est sont où quand qui que quoi quel quelle comment pourquoi je mon ma mes dans avec pour sur ai et ce cette combien`),
	"es": wordSet(`el la los las un una es son está dónde cuándo quién qué cuál cómo cuánto cuántos por mi mis yo y en con para sobre donde cuando`),
	"it": wordSet(`il lo la gli un una è sono dove quando chi che cosa quale come perché mio mia miei ho nel nella con per su di quanto quanti`),
	"pt": wordSet(`o os as um uma é são onde quando quem que qual como por meu minha meus eu e em com para sobre não quanto quantos`),
	"nl": wordSet(`de het een is zijn waar wanneer wie wat welke hoe waarom mijn ik en van met voor over heb heeft hoeveel`),
}

// languages in the order in which a tie is decided.
var languages = []string{"", "de", "fr", "es", "it", "pt", "nl"}

// languageOf guesses the language of a question, as in [doNotSayIn]; "" is
// English, and what cannot be told.
func languageOf(question string) string {
	const enough = 500 // bytes
	han := 0
	for i, r := range question {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.Is(unicode.Cyrillic, r):
			return "ru"
		}
		if i > enough {
			break
		}
	}
	if han > 1 {
		return "zh"
	}
	counts := map[string]int{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(question[:min(len(question), enough)]), func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, language := range languages {
			if smallWords[language][word] {
				counts[language]++
			}
		}
	}
	best := ""
	for _, language := range languages {
		if counts[language] > counts[best] {
			best = language
		}
	}
	return best
}
