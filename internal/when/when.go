// Package when parses the time that a question refers to, in English and German, and
// dates in figures in any language. Start at [In].
package when

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/text"
)

// maxTimed is how many bytes of a text are examined for times.
const maxTimed = 2000

// Talk holds the time that a conversation has referred to. The zero value is a
// conversation without any.
type Talk struct{ last Span }

// TalkOf collects the times in the user's earlier messages, given in order.
func TalkOf(earlier []string, today Day) (t Talk) {
	for _, m := range earlier {
		if s, _ := t.In(m, today); !s.IsZero() {
			t.last = s
		}
	}
	return t
}

// In returns the span of time that a question refers to, and the question without
// the words for it. today is the day on which it is asked. The span is zero if
// the question names no time. A time without a year or week, such as "in March", is
// the last one, or the next if the question says "will", "plan" or the like.
func In(question string, today Day) (s Span, rest string) { return Talk{}.In(question, today) }

// In is like the function In, for a question in a conversation, such as "and the
// week before?"
func (t Talk) In(question string, today Day) (s Span, rest string) {
	return t.in(question, today, -1, false)
}

func (t Talk) in(question string, today Day, toward int, toDay bool) (s Span, rest string) {
	it, ok := t.read(question, today, toward, toDay)
	if !ok || it.Span.IsZero() {
		return Span{}, question
	}
	return it.Span, question[:it.start] + " " + question[it.end:]
}

// read reads the first time in a question.
func (t Talk) read(question string, today Day, toward int, toDay bool) (it said, ok bool) {
	start := question[:min(len(question), maxTimed)]
	if lower := strings.ToLower(start); len(lower) == len(start) {
		start = lower
	}
	r := newReader(start, today, toward)
	r.last, r.toDay = t.last, toDay
	for i := range r.tokens {
		it, ok = r.whole(i, r.before(i))
		if ok && !inPath(question, it.start, it.end) {
			return r.until(r.side(i, it)), true
		}
	}
	return said{}, false
}

// DayIn reads a text that names one day and nothing else, such as "next Friday". A
// weekday or date alone is the nearest one, or with ahead the next. A count of weeks or
// months is exact.
func DayIn(text string, today Day, ahead bool) (day Day, ok bool) {
	if strings.Contains(text, ":") {
		return Day{}, false // a time of day would be lost
	}
	toward := 0
	if ahead {
		toward = 1
	}
	s, rest := Talk{}.in(text, today, toward, true)
	if s.From.IsZero() || s.To != s.From.Add(1) || strings.ContainsFunc(rest, isWordRune) {
		return Day{}, false
	}
	return s.From, true
}

// Due splits off the day at the end of a task, as in "call Ines by Friday": the task without it, and
// the day, which is today or ahead; the zero Day if it ends with none. A task whose last words are only a part
// of what it says of time, or of words in quotation marks or brackets, stays as it is.
func Due(task string, today Day) (rest string, day Day) {
	lower := strings.ToLower(task)
	if len(lower) != len(task) {
		return task, Day{}
	}
	r := newReader(lower, today, 1)
	for at := range task {
		if strings.IndexFunc(task[at:], isWordRune) != 0 || at == 0 || task[at-1] != ' ' {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(task[:at], " ,"))
		day, ok := DayIn(task[at:], today, true)
		if !ok || day.Before(today) {
			continue
		}
		n, end := 0, at
		for n < len(r.tokens) && r.tokens[n].end <= at {
			n++
		}
		kinds := r.kinds[:n]
		if strings.HasSuffix(kinds, "T") && n > 1 { // until Friday
			n--
			kinds, end = kinds[:n]+"T", r.tokens[n].start
		}
		if !isWordRune(before) || ofATime.MatchString(kinds+" "+r.kinds[len(kinds):]) ||
			strings.HasPrefix(lower[at:], "vom ") || strings.ContainsAny(task[at:], `"“”„«»()[]`) {
			return task, Day{}
		}
		rest = article.ReplaceAllString(task[:end], "")
		if word, _, _ := strings.Cut(lower[at:], " "); !SaysNothing(word) {
			rest = strings.TrimSuffix(rest, " due") // but "what is due on Friday" is the task's own
		}
		return strings.TrimRight(rest, " ,"), day
	}
	return task, Day{}
}

// article matches the end of what is before a day, with the article of "the day after Christmas".
var article = regexp.MustCompile(`(?i)(?: (?:the|der|die|das|den|dem))? *$`)

// ofATime matches the kinds of the tokens before a day and those of the day, if it is a part of a longer time: every
// other Friday, since Friday, Thursday or Friday, from Monday to Friday, a week on Friday, a mail from Friday, on Good
// Friday.
var ofATime = regexp.MustCompile(`(?:[BVAZJLIRKGHCiofdnxWD]|E[NO]*[UM]?|(?:[dnWDNO]|[NO]M)T) | f|NU o|E\? W|[iof]\? W`)

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

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// emptyWords carry no content once the time is known: "what did I do yesterday"
// asks for the day itself.
var emptyWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq("a about am an and any are at be been did do does done for from happen " +
		"happened happening have i in is it " +
		"me my mine note notes of on our say says show tell that the there to was we were what when which who with " +
		"write wrote written " +
		"went go day journal daily diary entry log " +
		"no rather instead since between before after until till during through last " +
		"was habe ich gemacht war wir ist am im in der den dem mein meine notizen tagebuch hab hatte getan passiert " +
		"los geschehen " +
		"erlebt notiert geschrieben stand steht gab es seit bis vor nach") {
		set[text.FoldedStem(word, "")] = true
	}
	return set
})

// SaysNothing reports whether a folded word carries no content once the time is
// known.
func SaysNothing(word string) bool { return emptyWords()[word] }
