// Package when parses the time that a question refers to in natural language, in
// a dozen languages. Start at [In].
package when

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"lifehub/internal/text"
)

// Span is a range of days, from the start of its first day to the end of its
// last, exclusive. A zero side is unbounded; the zero Span means no time.
type Span struct{ From, To time.Time }

// IsZero reports whether the span is zero.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

// Meets reports whether two spans have a day in common.
func (s Span) Meets(other Span) bool {
	return (s.To.IsZero() || other.From.Before(s.To)) && (s.From.IsZero() || other.To.After(s.From))
}

// maxTimed is how many bytes of a text are examined for times.
const maxTimed = 2000

// Talk holds the times that a conversation has referred to. The zero value is a
// conversation without any.
type Talk struct {
	last  Span // time referred to before the last message
	tense int  // tense of the latest message that has one
}

// TalkOf collects the times in the user's messages, given in order.
func TalkOf(messages []string, today time.Time) (t Talk) {
	next := t
	for _, m := range messages {
		t = Talk{next.last, cmp.Or(readerOf(m, today).tense, t.tense)}
		if s, _ := t.In(m, today); !s.IsZero() {
			next.last = s
		}
	}
	return t
}

// In returns the span of time that a question refers to, and the question without
// the words for it. today is the day on which it is asked. The span is zero if
// the question names no time.
func In(question string, today time.Time) (s Span, rest string) { return Talk{}.In(question, today) }

// In is like the function In, for a question in a conversation, such as "and the
// week before?"
func (t Talk) In(question string, today time.Time) (s Span, rest string) {
	r := readerOf(question, today)
	r.last, r.tense = t.last, cmp.Or(r.tense, t.tense)
	for i := 0; i < len(r.kinds); i++ {
		it, ok := r.at(i, false)
		if !ok || inPath(question, it.start, it.end) {
			continue
		}
		it.Span = r.side(i, it)
		if joint := it.next; joint < len(r.kinds) && (r.kinds[joint] == 'J' || r.kinds[joint] == 'B' && r.tokens[joint].value == 1) {
			if last, ok := r.at(joint+1, true); ok {
				it.To, it.end = last.To, last.end
				for !it.From.Before(it.To) { // as in "from November to May"
					it.From = it.before()
				}
			}
		}
		return it.Span, question[:it.start] + " " + question[it.end:]
	}
	return Span{}, question
}

// Day reads a text that names one day and nothing else, such as "next Friday". ahead:
// a weekday alone is the next one, else the nearest.
func Day(text string, today time.Time, ahead bool) (day time.Time, ok bool) {
	if strings.Contains(text, ":") {
		return time.Time{}, false // a time of day would be lost
	}
	talk := Talk{}
	if ahead {
		talk.tense = 1
	}
	s, rest := talk.In(text, today)
	if s.IsZero() || !s.To.Equal(s.From.AddDate(0, 0, 1)) || strings.ContainsFunc(rest, isWordRune) {
		return time.Time{}, false
	}
	return s.From, true
}

// Due splits off the day at the end of a task, as in "call Ines by Friday": the task without it, and
// the day, which is today or ahead; the zero time if it ends with none.
func Due(task string, today time.Time) (rest string, day time.Time) {
	words := strings.Fields(task)
	for i := 1; i < len(words); i++ {
		if !strings.ContainsFunc(words[i-1], isWordRune) || !strings.ContainsFunc(words[i], isWordRune) {
			continue // a mark before a date is a field of its own
		}
		day, ok := Day(strings.Join(words[i:], " "), today, true)
		if !ok || !day.AddDate(0, 0, 1).After(today) {
			continue
		}
		rest = strings.Join(words[:i], " ")
		if !SaysNothing(strings.ToLower(words[i])) {
			rest = strings.TrimSuffix(rest, " due") // but "what is due on Friday" is the task's own
		}
		return strings.TrimRight(rest, " ,"), day
	}
	return task, time.Time{}
}

// readerOf returns a reader for the beginning of a text, with its tense.
func readerOf(question string, today time.Time) *reader {
	day := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, today.Location())
	question = question[:min(len(question), maxTimed)]
	if lower := strings.ToLower(question); len(lower) == len(question) {
		question = lower
	}
	r := newReader(question, day)
	r.readTense()
	return r
}

// before returns the same weekday a week earlier, or the same time a year
// earlier.
func (s said) before() time.Time {
	if s.unit == aDay && s.To.Sub(s.From) < 7*24*time.Hour && s.From.Sub(s.To) < 7*24*time.Hour {
		return s.From.AddDate(0, 0, -7)
	}
	return s.From.AddDate(-1, 0, 0)
}

// readTense determines whether the text refers to the past or the future, by
// words of the vocabulary and by verb forms.
func (r *reader) readTense() {
	past, future, aux, form := false, ahead.MatchString(r.text), false, false
	german := germanWords.MatchString(r.text) // German "was" is not a verb
	for i, t := range r.tokens {
		word := r.text[t.start:t.end]
		past = past || pastWords[word] && !(german && word == "was") || english.MatchString(word) && !futureWords[word] || t.kind == 'I' && t.value < 0 && strings.HasPrefix(r.kinds[i+1:], "?") // my last run
		future = future || futureWords[word]
		aux, form = aux || auxiliaries[word], form || participle.MatchString(word) && t.kind == '?'
	}
	if plain := notPast.ReplaceAllString(r.text, ""); strings.ContainsFunc(plain, text.Unspaced) {
		holds := func(words map[string]bool) bool {
			for word := range words {
				if text.Unspaced(firstRune(word)) && strings.Contains(plain, word) {
					return true
				}
			}
			return false
		}
		past, future = past || holds(pastWords), future || holds(futureWords)
	}
	if past = past || aux && form; past != future {
		r.tense = map[bool]int{true: -1, false: 1}[past]
	}
}

var (
	germanWords = regexp.MustCompile(`(?:^| )(?:ich|wir|ihr|am|im|der|die|das|ist|sind|steht|stehen|habe|haben|hat|gibt|werde|wird|werden)(?: |$)`)
	ahead       = regexp.MustCompile(`(?:^| )(?:steht|stehen) .* an\W*$`)
	notPast     = regexp.MustCompile(`过去|過去|不过|为了|了解`)
	english     = regexp.MustCompile(`^\pL{2,}[^e]ed$`) // but not "need"
	participle  = regexp.MustCompile(`^(?:\pL{2,3}|\pL*)ge\pL{2,}(?:t|en)$|^(?:be|ver|er|ent|zer|unter|über)\pL{2,}(?:t|en)$|iert$|^(?:\pL+[éi]e?s?|fait|dit|vu|pris|mis|lu|bu|eu|écrit|couru|venu|reçu)$`)
)

// inPath reports whether a part of a text belongs to a file name or URL, which is
// no time expression: daily/2026-03-14.md.
func inPath(text string, start, end int) bool {
	before, after := text[strings.LastIndexAny(text[:start], " \t\n")+1:start], text[end:]
	if space := strings.IndexAny(after, " \t\n"); space >= 0 {
		after = after[:space]
	}
	return folder.MatchString(before) || fileEnding.MatchString(after)
}

var folder, fileEnding = regexp.MustCompile(`\pL.*/`), regexp.MustCompile(`^\S*\.\pL`)

// side returns the time itself or, depending on the word before its first token
// (or after it, in a script without spaces), the period before, after or since
// it. That word takes precedence over the tense in selecting the year.
func (r *reader) side(i int, it said) Span {
	var word token
	switch {
	case i > 0 && strings.IndexByte("BAZ", r.kinds[i-1]) >= 0:
		word = r.tokens[i-1]
	case it.next < len(r.kinds) && strings.IndexByte("GBAZ", r.kinds[it.next]) >= 0 && r.tokens[it.next].unspaced:
		word = r.tokens[it.next]
	default:
		return it.Span
	}
	again := *r
	if again.tense = map[byte]int{'Z': -1, 'A': -1}[word.kind]; word.kind == 'A' && r.tense > 0 {
		again.tense = 1
	}
	if it2, ok := again.at(i, true); ok {
		it = it2
	}
	tomorrow := r.today.AddDate(0, 0, 1)
	switch {
	case word.kind == 'B' && it.unit == 0: // as in "vor drei Tagen"
		return it.Span
	case word.kind == 'Z' && !it.From.After(r.today):
		return Span{it.From, tomorrow}
	case word.kind == 'A' && it.To.Before(tomorrow):
		return Span{it.To, tomorrow}
	case word.kind == 'A':
		return Span{From: it.To}
	case word.kind == 'Z':
		return it.Span
	}
	return Span{To: it.From}
}

// emptyWords carry no content once the time is known: "what did I do yesterday"
// asks for the day itself.
var emptyWords = sync.OnceValue(func() map[string]bool {
	return wordSet("a about am an and any are at be been did do does done for from happen happened happening have i in is it " +
		"me my mine note notes of on our say says show tell that the there to was we were what when which who with write wrote written " +
		"went go day journal daily diary entry log " +
		"no rather instead since between before after until till during through last " +
		"was habe ich gemacht war wir ist am im in der den dem mein meine notizen tagebuch hab hatte getan passiert los geschehen erlebt notiert geschrieben stand steht gab es seit bis vor nach " +
		"que qu quoi quelle est ce ai je j fait s'est passé passe s depuis en le la les qué que hice hicimos pasó desde el cosa ho fatto è successo что я мы делал делала делали было случилось с в")
})

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[text.FoldedStem(word, "")] = true
	}
	return set
}

// SaysNothing reports whether a folded word carries no content once the time is
// known.
func SaysNothing(word string) bool {
	if emptyWords()[word] || strings.ContainsAny(word, "做什么何") {
		return true
	}
	first, _ := utf8.DecodeRuneInString(word)
	return text.Unspaced(first) && strings.Trim(word, "我你他们了什么麼事情有的吗呢过過写寫记記发發生都在是しまたか私は") == ""
}

// Words describes the span as a person would on the day today: "16–22 November".
func (s Span) Words(today time.Time) string {
	const day, month = "2 January", "January"
	year := func(t time.Time) string {
		if t.Year() == today.Year() {
			return ""
		}
		return t.Format(" 2006")
	}
	last := s.To.AddDate(0, 0, -1)
	switch from := s.From; {
	case s.To.IsZero():
		return "since " + from.Format(day) + year(from)
	case from.IsZero():
		return "before " + s.To.Format(day) + year(s.To)
	case from.Equal(last):
		return from.Format(day) + year(from)
	case from.YearDay() == 1 && from.AddDate(1, 0, 0).Equal(s.To):
		return from.Format("2006")
	case from.Day() == 1 && from.AddDate(0, 1, 0).Equal(s.To):
		return from.Format(month) + year(from)
	case from.Year() == last.Year() && from.Month() == last.Month():
		return from.Format("2") + "–" + last.Format(day) + year(last)
	default:
		if from.Year() != last.Year() {
			return from.Format(day+" 2006") + " – " + last.Format(day+" 2006")
		}
		return from.Format(day) + " – " + last.Format(day) + year(last)
	}
}
