// Package when finds the time that a question speaks of in plain words, in a
// dozen languages. Start at [In].
package when

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// Span is a stretch of days: from its first day to before its last. A side
// that is zero has no bound; both are: it is none.
type Span struct{ From, To time.Time }

// IsZero reports whether it is no time at all.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

// Meets reports whether two stretches share a day.
func (s Span) Meets(other Span) bool {
	return (s.To.IsZero() || other.From.Before(s.To)) && (s.From.IsZero() || other.To.After(s.From))
}

// saidTime is a time that a question speaks of, and where.
type saidTime struct {
	Span
	unit       timeUnit
	start, end int // bytes of the question
}

// maxTimed is how much of a question is looked at for times, in bytes.
const maxTimed = 2000

// In finds the stretch of time that a question speaks of in plain
// words, and the question without them. today is the day it is asked. Zero:
// it speaks of none.
func In(text string, today time.Time) (s Span, rest string) {
	day := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, today.Location())
	said := timesIn(text[:min(len(text), maxTimed)], day)
	if len(said) == 0 {
		return Span{}, text
	}
	first := said[0]
	if last, ok := upTo(text[first.end:], day); ok {
		first.To, first.end = last.To, first.end+last.end
		for !first.From.Before(first.To) { // from November to May
			first.From = first.unit.before(first.From)
		}
	} else {
		first.Span = first.side(text, day)
	}
	return first.Span, text[:first.start] + " " + text[first.end:]
}

// before is the same day of the week before, or of the year.
func (u timeUnit) before(day time.Time) time.Time {
	if u == aWeekday {
		return day.AddDate(0, 0, -7)
	}
	return day.AddDate(-1, 0, 0)
}

// timesIn finds all times of a text, in order. Where two ways to read one
// overlap, the one that stands first in the table is meant.
func timesIn(question string, day time.Time) (said []saidTime) {
	if lower := strings.ToLower(question); len(lower) == len(question) {
		question = lower
	}
	unspaced, digits := strings.ContainsFunc(question, text.Unspaced), strings.ContainsAny(question, "0123456789")
	for _, t := range plainTimes() {
		if !t.spaced && !unspaced || t.unit >= dayOfMonth && !digits {
			continue
		}
		where := t.find(question)
		if where == nil || inPath(question, where[0], where[1]) {
			continue
		}
		found := saidTime{unit: t.unit, start: where[0], end: where[1]}
		if slices.ContainsFunc(said, func(s saidTime) bool { return found.start < s.end && s.start < found.end }) {
			continue
		}
		ok := false
		if found.Span, ok = t.span(day, t.parts(question, where)); ok {
			said = append(said, found)
		}
	}
	slices.SortFunc(said, func(a, b saidTime) int { return a.start - b.start })
	return said
}

// inPath reports whether a part of a text is in the name of a file or the
// address of a page: daily/2026-03-14.md speaks of no time.
func inPath(text string, start, end int) bool {
	before, after := text[strings.LastIndexAny(text[:start], " \t\n")+1:start], text[end:]
	if space := strings.IndexAny(after, " \t\n"); space >= 0 {
		after = after[:space]
	}
	return folder.MatchString(before) || fileEnding.MatchString(after)
}

var folder, fileEnding = pattern.Lazy(`\pL.*/`), pattern.Lazy(`^\S*\.\pL`)

// upTo is the time at which a stretch ends, where the text that follows the
// time at which it begins says so: "from March" to May.
func upTo(rest string, day time.Time) (last saidTime, ok bool) {
	joint := len(timeJoint.FindString(rest))
	if joint == 0 {
		return last, false
	}
	rest = rest[joint:min(len(rest), joint+maxTimed)]
	for _, before := range []string{"", "in ", "on ", "am "} { // a month or a weekday needs no such word here
		if found := timesIn(before+rest, day); len(found) > 0 && found[0].start <= len(before) {
			found[0].end += joint - len(before)
			return found[0], true
		}
	}
	return last, false
}

var timeJoint = pattern.Lazy(`(?i)^\s*(?:and|to|until|till|through|und|bis|et|au|jusqu'en|jusqu'au|y|hasta|e|по|–|—|-|到|至|から)\s*(?:the |zum |den )?`)

// The sides of a time that may be meant, by the words before and after it.
const (
	sinceWords  = `since|ever since|seit|depuis|desde|dal|sinds|sedan|с`
	sinceAfter  = `以来|以來|から|부터`
	beforeWords = `before|until|till|vor|bis|avant|jusqu['’](?:à|en|au)|antes de|hasta|prima d[ei]|prima del|voor|до|перед`
	beforeAfter = `的?之?前|以前|の前|まで|전|까지`
	afterWords  = `after|nach|après|después de|dopo|после`
	afterAfter  = `的?之?[后後]|以[后後]|の後|후`

	aWordStarts = `(?i)(?:^|[^\pL\pN])(?:`
	anArticle   = `)\s+(?:the |dem |der |den |le |la |el )?$`
)

var (
	sinceIt  = side{pattern.Lazy(aWordStarts + sinceWords + anArticle), pattern.Lazy(`(?i)^(?:` + sinceWords + `)\s`), pattern.Lazy(`^(?:` + sinceAfter + `)`)}
	beforeIt = side{pattern.Lazy(aWordStarts + beforeWords + anArticle), pattern.Lazy(`(?i)^(?:` + beforeWords + `)\s`), pattern.Lazy(`^(?:` + beforeAfter + `)`)}
	afterIt  = side{pattern.Lazy(aWordStarts + afterWords + anArticle), pattern.Lazy(`(?i)^(?:` + afterWords + `)\s`), pattern.Lazy(`^(?:` + afterAfter + `)`)}
)

// side is one of them: its words before a time, as the first of it, and after it.
type side struct{ before, first, after pattern.Pattern }

// of reports whether this side of a time is meant.
func (s side) of(text string, said saidTime) bool {
	return s.before.MatchString(text[:said.start]) || said.unit != ago && s.first.MatchString(text[said.start:said.end]) || s.after.MatchString(text[said.end:])
}

// side is the time itself, or all before, after or since it.
func (said saidTime) side(text string, day time.Time) Span {
	tomorrow := day.AddDate(0, 0, 1)
	switch {
	case sinceIt.of(text, said) && !said.From.After(day):
		return Span{said.From, tomorrow}
	case beforeIt.of(text, said):
		if next := said.From.AddDate(1, 0, 0); said.unit == feastDay && next.Sub(day) < day.Sub(said.From) {
			return Span{To: next} // before the one that comes
		}
		return Span{To: said.From}
	case afterIt.of(text, said) && !said.To.After(day):
		return Span{said.To, tomorrow}
	}
	return said.Span
}

// emptyWords say nothing of what is looked for, once the time is known: "what
// did I do yesterday" asks for the day itself.
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

// SaysNothing reports whether a folded word says nothing of what is looked for,
// once the time is known.
func SaysNothing(word string) bool {
	if emptyWords()[word] || strings.ContainsAny(word, "做什么何") {
		return true
	}
	first, _ := utf8.DecodeRuneInString(word)
	return text.Unspaced(first) && strings.Trim(word, "我你他们了什么麼事情有的吗呢过過写寫记記发發生都在是しまたか私は") == ""
}

// Words names the stretch as a person would on a day: "16–22 November".
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
