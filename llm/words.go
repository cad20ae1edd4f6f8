package llm

import (
	"iter"
	"maps"
	"strings"
	"unicode"
)

// words are the words of a text in lower case. Scripts without spaces come as
// pairs of neighbouring characters, and a lone character as itself.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var run []rune
		flush := func() bool {
			defer func() { run = run[:0] }()
			switch {
			case len(run) == 0:
				return true
			case !isCJK(run[0]) || len(run) == 1:
				return yield(string(run))
			}
			for i := 0; i+1 < len(run); i++ {
				if !yield(string(run[i : i+2])) {
					return false
				}
			}
			return true
		}
		for _, r := range text {
			wordly := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
			if len(run) > 0 && (!wordly || isCJK(r) != isCJK(run[0])) && !flush() {
				return
			}
			if wordly {
				run = append(run, unicode.ToLower(r))
			}
		}
		flush()
	}
}

// stem folds the endings that a question and a note differ in. It is rough on
// purpose: both sides go through it.
func stem(word string) string {
	n := len([]rune(word))
	for _, ending := range []string{"ings", "ing", "edly", "ies", "ied", "ed", "ly", "es", "en", "er", "s", "e", "y"} {
		if strings.HasSuffix(word, ending) && n-len(ending) >= 3 {
			root := strings.TrimSuffix(word, ending)
			if r := []rune(root); len(r) > 3 && r[len(r)-1] == r[len(r)-2] {
				root = string(r[:len(r)-1]) // running, planned
			}
			return root
		}
	}
	return word
}

func wordSet(lines ...string) map[string]bool {
	set := map[string]bool{}
	for _, line := range lines {
		for _, word := range strings.Fields(line) {
			set[word] = true
		}
	}
	return set
}

// stopWords are the words of a text's language that say nothing about what it
// is about.
func stopWords(text string) map[string]bool {
	if looksGerman(text) {
		return germanStops
	}
	return englishStops
}

var englishAsking = wordSet(
	"is are was were be been being am i me my mine myself you your yours we us our ours do does did done doing have has had having",
	"will would shall should can could might must ll ve re d s t m don doesn didn isn aren wasn weren",
	"what when where which who whom whose why how tell show give find say says said know please let get got")

var englishStops = union(englishAsking, wordSet(
	"a an the this that these those it its he him his she her hers they them their theirs may",
	"here there than then and or but if so as of at by for with about into onto to from in on off out up down over under again",
	"not no nor only just also too very any some all each more most other such own same"))

var germanAsking = wordSet(
	"wie was wer wo wann warum welche welcher welches ich du wir ihr mich dich sich mir dir uns euch",
	"mein meine meinen meinem meiner dein deine sein seine ist sind war waren bin bist hat habe haben hatte wird werden kann können soll muss",
	"bitte sag zeig gibt steht stehen")

var germanStops = union(germanAsking, wordSet(
	"der die das den dem des ein eine einen einem einer eines und oder aber wenn als er sie es mit von zu zum zur bei aus auf im am an für über nach vor",
	"nicht auch noch nur schon so da in denn doch"))

func union(a, b map[string]bool) map[string]bool {
	maps.Copy(b, a)
	return b
}

// looksGerman tells whether a text is German rather than English, by its small words.
func looksGerman(text string) bool {
	german, english := 0, 0
	const enough = 2 << 10 // bytes
	for word := range words(clipBytes(text, enough)) {
		switch inGerman, inEnglish := germanStops[word] || germanSigns[word], englishStops[word]; {
		case inGerman && !inEnglish:
			german++
		case inEnglish && !inGerman:
			english++
		}
	}
	return german > english
}

var germanSigns = wordSet("hallo danke moin guten tag morgen abend füge erstelle aufgabe aufgaben notiz notizen wetter hilfe erinnere")
