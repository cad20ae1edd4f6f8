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

// span is a stretch of days: from its first day to before its last.
type span struct{ From, To time.Time }

func (s span) IsZero() bool { return s.From.IsZero() }

// saidTime is a time that a question speaks of, and where.
type saidTime struct {
	span
	unit       timeUnit
	start, end int // bytes of the question
}

// maxTimed is how much of a question is looked at for times, in bytes.
const maxTimed = 2000

// In finds the stretch of time that a question speaks of in plain
// words, and the question without them. today is the day it is asked. Zero:
// it speaks of none.
func In(text string, today time.Time) (s span, rest string) {
	day := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, today.Location())
	said := timesIn(text[:min(len(text), maxTimed)], day)
	if len(said) == 0 {
		return span{}, text
	}
	first := said[0]
	if last, ok := upTo(text[first.end:], day); ok {
		first.To, first.end = last.To, first.end+last.end
		for !first.From.Before(first.To) { // from November to May
			first.From = first.unit.before(first.From)
		}
	} else if isSince(text, first) && !first.From.After(day) {
		first.To = day.AddDate(0, 0, 1)
	}
	return first.span, text[:first.start] + " " + text[first.end:]
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
		if !t.spaced && !unspaced || t.unit >= givenDate && !digits {
			continue
		}
		where := t.find(question)
		if where == nil {
			continue
		}
		found := saidTime{unit: t.unit, start: where[0], end: where[1]}
		if slices.ContainsFunc(said, func(s saidTime) bool { return found.start < s.end && s.start < found.end }) {
			continue
		}
		parts := timeParts{}
		for i, name := range t.pattern.SubexpNames() {
			if name != "" && where[2*i] >= 0 {
				parts[name] = question[where[2*i]:where[2*i+1]]
			}
		}
		ok := false
		if found.span, ok = t.span(day, parts); ok {
			said = append(said, found)
		}
	}
	slices.SortFunc(said, func(a, b saidTime) int { return a.start - b.start })
	return said
}

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

var (
	timeJoint  = pattern.Lazy(`(?i)^\s*(?:and|to|until|till|through|und|bis|et|au|jusqu'en|jusqu'au|y|hasta|e|по|–|—|-|到|至|から)\s*(?:the |zum |den )?`)
	sinceWord  = pattern.Lazy(`(?i)(?:^|[^\pL\pN])(?:since|ever since|seit|depuis|desde|dal|sinds|sedan|с)\s+(?:the |dem |der |le |la |el )?$`)
	sinceInIt  = pattern.Lazy(`(?i)^(?:since|seit|depuis|desde|dal|sinds)\s`)
	sinceAfter = pattern.Lazy(`^(?:以来|以來|以后|以後|から|부터)`)
)

// isSince reports whether all the time from then on is meant.
func isSince(text string, said saidTime) bool {
	return sinceWord.MatchString(text[:said.start]) || sinceInIt.MatchString(text[said.start:said.end]) || sinceAfter.MatchString(text[said.end:])
}

// emptyWords say nothing of what is looked for, once the time is known: "what
// did I do yesterday" asks for the day itself.
var emptyWords = sync.OnceValue(func() map[string]bool {
	return wordSet("a about am an and any are at be been did do does done for from happen happened happening have i in is it " +
		"me my mine note notes of on our say says show tell that the there to was we were what when which who with write wrote written " +
		"went go day journal daily diary entry log " +
		"since between until till during through last " +
		"was habe ich gemacht war wir ist am im in der den dem mein meine notizen tagebuch hab hatte getan passiert los geschehen erlebt notiert geschrieben stand steht gab es seit bis " +
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
