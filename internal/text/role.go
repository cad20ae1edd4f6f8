package text

import (
	"regexp"
	"strings"
	"sync"
)

// Role is a function that a word has in a sentence.
type Role uint16

const (
	Saying       Role = 1 << iota // as in "the note says", which carries no content
	Narrowing                     // common, but changes the meaning
	Negation                      // negates or retracts a statement
	Hedge                         // weakens a statement
	Abbreviation                  // is followed by a full stop that does not end a sentence
)

var roles = sync.OnceValue(func() map[string]Role {
	index := map[string]Role{}
	for role, words := range map[Role]string{
		Saying: `
			according per as note notes noted mention mentions mentioned state states stated said say says write writes wrote written
			laut notiz notizen`,
		Narrowing: `can may must now or than kann können muss soll oder bis durch`,
		Negation: `
			not no never none nor neither nobody nothing nowhere without except unlike instead cannot cant dont doesnt didnt isnt arent wasnt werent
			wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt aint non hardly barely scarcely seldom rarely few false wrong untrue myth incorrect cancelled canceled
			obsolete outdated rejected denied refuted stop avoid
			nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne außer statt kaum selten wenige falsch abgesagt
			ne pas jamais rien aucun aucune sans sauf ni nunca jamás nada nadie ningún ninguna ninguno sin salvo excepto tampoco
			niente nulla nessuno nessuna senza tranne né não ninguém nenhum nenhuma sem exceto nem
			niet geen nooit niets zonder behalve inte ingen inget inga aldrig utan ikke değil hiç
			не нет ни никогда ничего никто нельзя без кроме لا ليس ليست لم لن غير بدون
			不 没 無 无 未 非 勿 莫 否 別 别 禁 ❌ ✗ ✘ 🚫`,
		Hedge: `
			if unless maybe perhaps might could would should supposedly allegedly probably almost nearly only solely merely just
			whether wonder wonders think thinks thought believe believes believed doubt doubts guess guesses hope hopes hoped claim claims claimed pretend pretends suppose imagine dream dreamt dreamed rumour rumor
			falls sofern wenn ob glaubt glaube meint vermutet hofft vielleicht sollte könnte würde angeblich wahrscheinlich nur behauptet geträumt traum gerücht
			si pense croit quizás cree forse crede talvez acha если возможно кажется думает
			如 若 或 吗`,
		Abbreviation: `dr mr mrs ms prof st no nr vs e.g i.e ca approx bzw usw z.b d.h u.a etc jr sr`,
	} {
		for word := range strings.FieldsSeq(words) {
			index[word] |= role
		}
	}
	return index
})

// Is reports whether a word in lower case has any of the given roles.
func Is(word string, in Role) bool { return roles()[word]&in != 0 }

// NegatesWithin reports whether a text contains a Japanese or Korean word with a
// negative ending.
func NegatesWithin(s string) bool { return negatedEnding.MatchString(s) }

var negatedEnding = regexp.MustCompile(`な(?:い|く|かっ|ければ)|ません|ずに|않|못|없|아니|지 ?마`)
