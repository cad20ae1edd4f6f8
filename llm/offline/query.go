package offline

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
)

// query returns the search query for a question: its content words and, for a
// follow-up, those of the preceding questions. If the question only names a time,
// instead is that time, which replaces the one in the preceding question.
func query(question string, history []llm.Message, today when.Day) (words string, instead when.Span) {
	var talk []string
	for _, m := range history {
		if m.Role == llm.User {
			talk = append(talk, m.Text)
		}
	}
	named, rest := when.TalkOf(talk, today).In(question, today)
	onlyTime := !named.IsZero() && saysNothing(rest)
	alone := onlyTime && !pointsBack(rest) // "last week" is a follow-up only if the previous question names a time, too
	before := ""
	for i, open := len(history)-1, refersBack(question, today); i >= 0 && open; i-- {
		if m := history[i]; m.Role == llm.User {
			message := text.Cut(m.Text, maxQuery/2)
			span, rest := when.In(message, today)
			if alone && span.IsZero() {
				break
			}
			if !named.IsZero() && !span.IsZero() {
				if onlyTime && (!asksForTime(m.Text, today) || !asksForTime(question, today)) {
					instead = named
				}
				message = rest // as in "and the week before last?"
			}
			before, open = message+" "+before, refersBack(message, today)
		}
	}
	if instead.IsZero() {
		before += question
	}
	return topic(text.Cut(before, maxQuery)), instead
}

// asksForTime reports whether a question names a time and nothing else.
func asksForTime(question string, today when.Day) bool {
	span, rest := when.In(question, today)
	return !span.IsZero() && saysNothing(rest)
}

// saysNothing reports whether words carry no content, such as those around a time, or a greeting.
func saysNothing(rest string) bool {
	for word := range content(rest) {
		if !when.SaysNothing(text.FoldedStem(word, "")) && !greetings[word] {
			return false
		}
	}
	return true
}

// content returns the content words of a text.
func content(question string) map[string]bool {
	in, found := text.Language(question), map[string]bool{}
	for word := range words(question) {
		if !text.StopWord(word, in) && !asking[word] {
			found[word] = true
		}
	}
	return found
}

// asking lists words that only ask about notes or frequency, and carry no
// content.
var asking = wordSet("note notes notiz notizen mention mentions write wrote written search look remind often oft")

// greetings are words of a message that asks for nothing.
var greetings = wordSet("hello hi hey thanks thank please help good morning evening hallo moin danke hilfe guten " +
	"morgen tag abend bonjour bonsoir salut merci aide hola gracias 你好 您好 谢谢 帮助 much great ok okay")

// topic returns a question without its question words. The question is returned
// unchanged if nothing else remains or if it contains a quotation. Words that
// name a time are retained ("in March", "this week").
func topic(question string) string {
	asks := questionWords[text.Language(question)]
	fields := strings.Fields(howMuch.ReplaceAllString(question, " "))
	kept := slices.DeleteFunc(slices.Clone(fields), func(field string) bool {
		for word := range words(field) {
			if !asks[word] && !asking[word] {
				return false
			}
		}
		return true
	})
	if len(kept) == 0 || strings.ContainsAny(question, `"“„«»「『`) {
		kept = strings.Fields(question)
	}
	return strings.TrimRight(strings.Join(kept, " "), " .?!…。？！")
}

// howMuch matches questions about an amount.
var howMuch = regexp.MustCompile(`(?i)\bhow (?:long|much|many|old|big|far)\b`)

// questionWords lists words that only form a question.
var questionWords = map[text.Lang]map[string]bool{
	"": wordSet(
		"is are was were be been being am i me my mine myself you your yours we us our ours do does did done doing "+
			"have has had having",
		"will would shall should can could might must ll ve re d s t m don doesn didn isn aren wasn weren",
		"what when where which who whom whose why how tell show give find say says said know please let get got"),
	"de": wordSet(
		"wie was wer wo wann warum welche welcher welches ich du wir ihr mich dich sich mir dir uns euch",
		"mein meine meinen meinem meiner dein deine sein seine ist sind war waren bin bist hat habe haben hatte wird "+
			"werden kann können soll muss",
		"bitte sag zeig gibt steht stehen"),
}

func wordSet(lines ...string) map[string]bool {
	set := map[string]bool{}
	for _, line := range lines {
		for word := range strings.FieldsSeq(line) {
			set[text.Fold(word)] = true
		}
	}
	return set
}

// words iterates over the folded words of a text.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range text.Words(s) {
			if !yield(text.Fold(w.Text)) {
				return
			}
		}
	}
}

// refersBack reports whether a question depends on the previous one: it has no
// content words, or few of them and a word that points back.
func refersBack(question string, today when.Day) bool {
	span, rest := when.In(question, today)
	return len(content(question)) == 0 || pointsBack(rest) || !span.IsZero() && len(slices.Collect(words(rest))) <= 1
}

// pointsBack reports whether a short question contains a word that points to the
// previous one. In "who is Ada, and when did I see her" it points to the part
// before "and".
func pointsBack(question string) bool {
	const few = 3
	about := content(question)
	first, named := true, false
	for word := range words(question) {
		switch {
		case len(about) > few || named && joining[word]:
			return false
		case pointing[word] || first && joining[word]:
			return true
		}
		first, named = false, named || about[word]
	}
	return false
}

var (
	pointing = wordSet("it its they them their theirs he him his she her hers that this these those there er ihn ihm " +
		"sie dies diese dieser")
	joining = wordSet("and but or also no und aber oder auch nein") // at the beginning
)
