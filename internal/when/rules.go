package when

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// said is a time in a text: its days, their unit, and its range in bytes and tokens.
type said struct {
	Span
	unit       int // 0: about so long ago
	start, end int
	next       int // index of the token after it
}

// part is a run of tokens.
type part []token

// of returns the last token of one of the kinds; its kind is 0 if there is none.
func (p part) of(kinds string) token {
	for _, t := range slices.Backward(p) {
		if strings.IndexByte(kinds, t.kind) >= 0 {
			return t
		}
	}
	return token{}
}

// rule reads a time whose token kinds match a pattern.
type rule struct {
	kinds *regexp.Regexp
	after string // kinds of words that must be before it: "march" alone is not a month; "": none need to be
	read  func(r *reader, p part) (s Span, unit int, ok bool)
}

// Kinds of words before a time.
const (
	sides = "BVATZ"
	named = '=' // none, but a part of the time is named before it, or the start of its range
)

// rules are tried in order; more specific ones come first.
var rules = sync.OnceValue(func() []rule {
	of := func(kinds string) *regexp.Regexp {
		return regexp.MustCompile(`^(?:` + strings.ReplaceAll(kinds, "p", "[iof]") + `)`)
	}
	return []rule{
		{of(`d`), "", func(_ *reader, p part) (Span, int, bool) { return p[0].span, p[0].value, true }},
		{of(`[NO][JT][NO]M(?:p?Y)?|[NO]f?M(?:p?Y)?|M[NO]Y?`), "", (*reader).dayOfMonth}, // 3–9 March 2026
		{of(`n`), "o=" + sides, (*reader).dayOfMonth},                                   // am 5.1.
		{of(`O`), "o=" + sides, (*reader).dayAlone},                                     // on the 25th
		// three days ago, in three days
		{of(`N*UG|VN+U|iN+U`), "", (*reader).away},
		{of(`N+U`), "Z", (*reader).away},       // since three days ago
		{of(`D`), "", (*reader).relativeDay},   // yesterday
		{of(`IN+U|H`), "", (*reader).lastDays}, // the last ten days, lately
		// last week, the week before last
		{of(`[IR]U|U[BA]I|C`), "", (*reader).unit},
		{of(`UN(?:p?Y)?`), "", (*reader).weekNumber},     // week 42
		{of(`IW`), "", (*reader).weekday},                // next Friday
		{of(`W`), "iof=" + sides, (*reader).weekday},     // on Friday
		{of(`U`), "iof=", (*reader).weekend},             // at the weekend
		{of(`(?:Q|OU)(?:p?Y)?`), "", (*reader).quarter},  // Q3
		{of(`IS|Sp?Y`), "", (*reader).season},            // last summer
		{of(`S`), "i=" + sides, (*reader).season},        // in summer
		{of(`IF`), "", (*reader).feast},                  // last Christmas
		{of(`Fp?Y?`), "iof=" + sides, (*reader).feast},   // at Christmas
		{of(`IM|Mp?Y`), "", (*reader).month},             // last March, March 2026
		{of(`M`), "if=" + sides, (*reader).month},        // in March
		{of(`U?Y`), "iof=" + sides, (*reader).namedYear}, // in 2024
	}
})

// plain reads a time that does not depend on another one. before is the kind of the
// word before it.
func (r *reader) plain(i int, before byte) (it said, ok bool) {
	for _, rule := range rules() {
		end := i + len(rule.kinds.FindString(r.kinds[i:]))
		if end == i || rule.after != "" && strings.IndexByte(rule.after, before) < 0 {
			continue
		}
		if it.Span, it.unit, ok = rule.read(r, r.tokens[i:end]); ok {
			it.next = end
			return it, true
		}
	}
	return it, false
}

// at reads the time that starts at token i, if need be with prepositions. after is the
// kind of the word before it.
func (r *reader) at(i int, after byte) (it said, ok bool) {
	for first := i; i < len(r.kinds); i++ {
		alone := (r.ends(i+1) || r.tokens[i].possessive(r.text)) && after != 'E' && strings.IndexByte(sides, after) < 0
		if alone && strings.IndexByte("WU", r.kinds[i]) >= 0 {
			after = named // "what did I do Monday?" and "Monday's run", but not "every Monday"
		}
		if r.isRange(i) {
			after = named
		}
		if it, ok = r.besides(i); !ok {
			if it, ok = r.partOf(i); !ok {
				it, ok = r.plain(i, after)
			}
		}
		if ok {
			it.start, it.end = r.tokens[first].start, r.tokens[it.next-1].end
			return it, true
		}
		if after = r.kinds[i]; strings.IndexByte("iof", after) < 0 {
			break
		}
	}
	return it, false
}

// whole reads the time that starts at token i, together with one that follows it at once: Monday of last week, March of
// last year. One of them is named within the other; if neither is, the time is zero, since it is not known which of
// them is meant.
func (r *reader) whole(i int, after byte) (it said, ok bool) {
	it, ok = r.at(i, after)
	alone := ok
	if !ok && after != 'E' && !r.ends(i) && strings.IndexByte("WMSF", r.kinds[i]) >= 0 {
		it, ok = r.at(i, named)
	}
	if !ok || r.ends(it.next) || it.From.IsZero() || it.To.IsZero() {
		return it, alone
	}
	next, touches := r.at(it.next, named)
	if !touches || next.From.IsZero() || next.To.IsZero() {
		return it, alone
	}
	both := said{start: it.start, end: next.end, next: next.next, unit: min(max(it.unit, aDay), max(next.unit, aDay))}
	if both.Span, ok = r.in(i, it, next); !ok {
		both.Span, _ = r.in(it.next, next, it)
	}
	return both, alone || !both.Span.IsZero()
}

// in returns the days of part, which starts at token i, that are of another time. A part that has a name is the last
// one of it there.
func (r *reader) in(i int, part, whole said) (Span, bool) {
	for strings.IndexByte("iof", r.kinds[i]) >= 0 {
		i++
	}
	of := *r
	of.toward, of.year = -1, 0
	for _, of.today = range []Day{whole.To.Add(-1), whole.To} {
		if strings.IndexByte("WMSFnNOUQ", r.kinds[i]) >= 0 && part.days() <= whole.days() {
			part, _ = of.at(i, named)
		}
		if part.Meets(whole.Span) && !part.From.IsZero() && !part.To.IsZero() {
			return part.within(whole.Span), true
		}
	}
	return Span{}, false
}

// isRange reports whether a token begins a range of two weekdays, months, seasons or years: Monday to Friday.
func (r *reader) isRange(i int) bool {
	return i+2 < len(r.kinds) && strings.IndexByte("WMSY", r.kinds[i]) >= 0 && r.kinds[i+2] == r.kinds[i] &&
		(r.kinds[i+1] == 'T' || r.kinds[i+1] == 'J' && r.tokens[i+1].value == 0)
}

// before returns the kind of the word before a token; 0: none.
func (r *reader) before(i int) byte {
	if i == 0 {
		return 0
	}
	return r.kinds[i-1]
}

// ends reports whether a sentence ends before a token.
func (r *reader) ends(i int) bool { return i >= len(r.kinds) || r.kinds[i] == '|' }

var (
	beside    = regexp.MustCompile(`^I?N*[UW][BVA]`)
	followsUp = regexp.MustCompile(`^(?:N*U[BVAR]|RU|[BVAR])`)
	rankIn    = regexp.MustCompile(`^[IO]N*[UW]`)
)

// besides reads a time relative to another one, such as the day before Christmas. If
// the other one is not named, it is that of the previous question.
func (r *reader) besides(i int) (it said, ok bool) {
	if j := i + len(beside.FindString(r.kinds[i:])); j > i {
		nearest := *r
		nearest.toward = 0
		if other, found := nearest.at(j, r.kinds[j-1]); found && other.unit != 0 {
			it = shifted(other.Span, r.tokens[i:j])
			it.next = other.next
			return it, true
		}
	}
	if kind := r.kinds[i:]; strings.HasPrefix(kind, "Uf") { // the week of 5 October
		u := r.tokens[i].value
		if day, found := r.at(i+1, 0); found && 0 < day.unit && day.unit < u && u != aWeekend {
			return said{Span: steps(day.From, u, 0), unit: u, next: day.next}, true
		}
	}
	j := i + len(followsUp.FindString(r.kinds[i:]))
	if j == i || r.last.IsZero() || !r.ends(j) || j == i+1 && i > 4 {
		return it, false
	}
	it = shifted(r.last, r.tokens[i:j])
	it.next = j
	return it, true
}

// shifted returns the time of n units before or after another one, as the tokens say.
// Without a unit, it is as long as the other.
func shifted(other Span, p part) (it said) {
	side, unit, n := p.of("BVAR"), p.of("UW"), max(1, p.of("N").value)
	edge := other.To.Add(-1)
	if side.kind == 'B' || side.kind == 'V' || side.value < 0 {
		edge, n = other.From, -n
	}
	it.unit = unit.value
	switch {
	case unit.kind == 'W':
		it.Span, it.unit = days(nearDay(edge, unit.value, n), 1), aDay
	case unit.kind == 0 && other.From.Day == 1 && other.To.Day == 1:
		length := 12*(other.To.Year-other.From.Year) + int(other.To.Month-other.From.Month)
		it.Span, it.unit = months(other.From.Year, int(other.From.Month)+n*length, length), aMonth
	case unit.kind == 0:
		it.Span, it.unit = days(other.From.Add(n*other.days()), other.days()), aDay
	case unit.value == aWeek && n < 0:
		it.Span = days(edge.Add(7*n), 7)
	case unit.value == aWeek:
		it.Span = days(edge.Add(7*n-6), 7)
	case unit.value == aWeekend:
		it.Span = days(nearDay(edge.Add(min(0, cmp.Compare(n, 0))), 6, n), 2)
	default:
		it.Span = steps(edge, unit.value, n)
	}
	return it
}

// partOf reads a part of a longer time, such as the first week of October.
func (r *reader) partOf(i int) (it said, ok bool) {
	j := i + len(rankIn.FindString(r.kinds[i:]))
	if j == i {
		return it, false
	}
	whole, found := r.at(j, named)
	if !found || whole.unit == 0 {
		return it, false
	}
	it.next = whole.next
	it.Span, it.unit, ok = partIn(whole, r.tokens[i:j])
	return it, ok
}

// partIn returns the part of a time that tokens select, such as the first or the last
// ten days.
func partIn(whole said, p part) (s Span, unit int, ok bool) {
	rank, n, piece := p.of("IO").value, max(1, p.of("N").value), p[len(p)-1]
	weekday, length, unit := piece.value, n, aDay
	switch {
	case rank == 0 || p[0].kind == 'I' && rank > 0:
		return s, 0, false
	case piece.kind == 'U' && whole.unit <= piece.value || whole.unit <= aWeek:
		return s, 0, false
	case piece.kind == 'U' && piece.value == aWeekend:
		weekday, length = 6, 2
		fallthrough
	case piece.kind == 'W':
		length = min(length, 2)
		if s = days(nearDay(whole.To.Add(1-length), weekday, rank), length); rank > 0 {
			s = days(nearDay(whole.From.Add(-1), weekday, rank), length)
		}
	case piece.value <= aWeek:
		if unit = piece.value; unit == aWeek {
			length *= 7
		}
		if s = days(whole.To.Add(rank*length), length); rank > 0 {
			s = days(whole.From.Add((rank-1)*length), length)
		}
	case rank > 0:
		unit = piece.value
		s = Span{steps(whole.From, unit, rank-1).From, steps(whole.From, unit, rank+n-2).To}
	default:
		unit = piece.value
		last := whole.To.Add(-1)
		s = Span{steps(last, unit, rank-n+2).From, steps(last, unit, rank+1).To}
	}
	return s, unit, s.Meets(whole.Span)
}

// side returns the time itself or, depending on the word before its first token, the
// period before, after or since it.
func (r *reader) side(i int, it said) said {
	word, again, tomorrow := r.before(i), *r, r.today.Add(1)
	if strings.IndexByte(sides, word) < 0 || it.unit == 0 && word != 'Z' {
		return it
	}
	if again.toward = 0; word == 'Z' {
		again.toward = -1
	}
	if other, ok := again.whole(i, word); ok {
		it = other
	}
	switch {
	case word == 'Z' && it.From.Before(tomorrow):
		it.To = tomorrow
	case word == 'A' && it.To.Before(tomorrow):
		it.From, it.To = it.To, tomorrow
	case word == 'A':
		it.From, it.To = it.To, Day{}
	case word != 'Z':
		it.From, it.To = Day{}, it.From
	}
	return it
}

// until reads the end of a range, as in "from November to May", whose start is it.
func (r *reader) until(it said) said {
	if it.From.IsZero() || it.To.IsZero() || it.next == len(r.kinds) || strings.IndexByte("JT", r.kinds[it.next]) < 0 {
		return it
	}
	other := *r
	if strings.HasPrefix(r.kinds[it.next+1:], "W") && r.toward < 0 {
		other.today = r.today.Add(1) // from Monday to Wednesday, on a Wednesday
	}
	end, ok := other.whole(it.next+1, named)
	if day, alone := r.sameMonth(it, it.next+1); alone {
		end, ok = day, true
	}
	if !ok {
		return it
	}
	it.To, it.end = end.To, end.end
	for !it.From.Before(it.To) { // the same weekday a week earlier, or the same time a year earlier
		if it.unit == aDay && it.From.Number()-it.To.Number() < 7 {
			it.From = it.From.Add(-7)
		} else {
			it.From = DayOf(it.From.utc().AddDate(-1, 0, 0))
		}
	}
	return it
}

// sameMonth reads a day alone that ends a range of days, as in "October 12th to 14th".
func (r *reader) sameMonth(from said, i int) (it said, ok bool) {
	if from.unit != aDay || i >= len(r.kinds) || strings.IndexByte("NO", r.kinds[i]) < 0 ||
		i+1 < len(r.kinds) && strings.IndexByte("MUiofW", r.kinds[i+1]) >= 0 {
		return it, false
	}
	it.Span, ok = date(from.From.Year, int(from.From.Month), r.tokens[i].value)
	it.unit, it.end, it.next = aDay, r.tokens[i].end, i+1
	return it, ok && from.From.Before(it.From)
}

// choose selects one of several spans in order: the last that is over, one of this year,
// or the next, as which says, or else the last that has begun, the next that is not over,
// or the nearest.
func (r *reader) choose(all []Span, which token) Span {
	named, tomorrow := which.kind != 0, r.today.Add(1)
	begun := func(s Span) bool { return s.From.Before(tomorrow) }
	over := func(s Span) bool { return s.To.Before(tomorrow) }
	first := -1
	switch {
	case named && which.value == 0:
		all = slices.DeleteFunc(all, func(s Span) bool {
			return s.From.Year != r.today.Year &&
				s.To.Add(-1).Year != r.today.Year
		})
	case named && which.value < 0:
		first = slices.IndexFunc(all, func(s Span) bool { return !over(s) }) - 1
	case named:
		first = slices.IndexFunc(all, func(s Span) bool { return !begun(s) })
	case r.toward < 0:
		first = slices.IndexFunc(all, func(s Span) bool { return !begun(s) }) - 1
	case r.toward > 0:
		first = slices.IndexFunc(all, func(s Span) bool { return !over(s) })
	}
	if first >= 0 {
		return all[first]
	}
	return slices.MinFunc(all, func(a, b Span) int { return cmp.Compare(r.distance(a), r.distance(b)) })
}

// distance returns how many days a span is from today.
func (r *reader) distance(s Span) int64 {
	return max(0, s.From.Number()-r.today.Number(), r.today.Number()+1-s.To.Number())
}

// yearly returns a yearly time in the year that is named, or else in the one that
// [reader.choose] selects.
func (r *reader) yearly(p part, in func(year int) (Span, bool)) (Span, bool) {
	if year := cmp.Or(p.of("Y").value, r.year); year != 0 {
		return in(year)
	}
	var all []Span
	for year := r.today.Year - 2; year <= r.today.Year+2; year++ {
		if s, ok := in(year); ok {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return Span{}, false
	}
	return r.choose(all, p.of("I")), true
}

func (r *reader) relativeDay(p part) (Span, int, bool) {
	return days(r.today.Add(p[0].value), 1), aDay, true
}

func (r *reader) dayOfMonth(p part) (Span, int, bool) {
	last, month := p.of("NOn").value, p.of("M").value
	if p[0].kind == 'n' {
		last, month = last%100, last/100
	}
	s, ok := r.yearly(p, func(year int) (Span, bool) { return date(year, month, last) })
	if first := p[0].value; ok && len(p) > 3 && (p[1].kind == 'J' || p[1].kind == 'T') && first <= last {
		s.From = s.From.Add(first - last)
	}
	return s, aDay, ok
}

func (r *reader) dayAlone(p part) (Span, int, bool) {
	var all []Span
	for step := -2; step <= 2; step++ {
		first := months(r.today.Year, int(r.today.Month)+step, 1).From
		if s, ok := date(first.Year, int(first.Month), p[0].value); ok {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return Span{}, 0, false
	}
	return r.choose(all, token{}), aDay, true
}

func (r *reader) away(p part) (Span, int, bool) {
	n, unit := p.of("N"), p.of("U").value
	if n.kind == 0 && unit != halfYear || p[0].kind == 'i' && p[0].value > 0 {
		return Span{}, 0, false // "around ten days" is a length
	}
	count := -max(1, n.value)
	if p[0].kind == 'i' {
		count = -count
	}
	around := away(r.today, count, unit)
	if r.toDay && unit != halfYear {
		return days(around.From.Add(around.days()/2), 1), aDay, true
	}
	return around, 0, true
}

// lastDays reads the last or next n units, which include today.
func (r *reader) lastDays(p part) (Span, int, bool) {
	which, n, u := p.of("I").value, p.of("N").value, p.of("U").value
	if p[0].kind == 'H' {
		which, n, u = -1, p[0].value, aDay
	}
	far := away(r.today, cmp.Compare(which, 0)*n, u)
	middle := far.From.Add(far.days() / 2)
	if which > 0 {
		return Span{r.today, middle.Add(1)}, u, true
	}
	return Span{middle, r.today.Add(1)}, u, which < 0
}

// unit reads a week, month or other unit relative to the current one.
func (r *reader) unit(p part) (Span, int, bool) {
	n, unit := p.of("IR").value, p.of("UC").value
	if p.of("BA").kind != 0 { // the week before last
		n *= 2
	}
	switch {
	case unit == aDay || unit == halfYear || p.of("B").kind != 0 && n > 0 || p.of("A").kind != 0 && n < 0:
		return Span{}, 0, false
	case unit == aWeekend:
		return r.weekends(n), unit, true
	case unit == aWeek && n < 0 && int(r.today.Weekday()) == 0:
		n++ // on a Sunday, "last week" in retrospect means the week that is ending
	}
	return steps(r.today, unit, n), unit, true
}

func (r *reader) weekend(p part) (Span, int, bool) {
	return r.weekends(0), aWeekend, p[0].value == aWeekend
}

// weekends returns the nth weekend before or after today; 0: the last that has begun,
// the next that is not over, or the nearest.
func (r *reader) weekends(n int) Span {
	after := r.today
	switch {
	case n < 0:
		after = after.Add(-1)
	case n == 0 && r.toward < 0:
		after, n = after.Add(1), -1
	case n == 0:
		after, n = after.Add(-5+3*r.toward), 1
	}
	return days(nearDay(after, 6, n), 2)
}

func (r *reader) weekNumber(p part) (s Span, unit int, ok bool) {
	n, year := p[1].value, cmp.Or(p.of("Y").value, r.today.Year)
	if p[0].value == aWeek {
		s, ok = Week(year, n)
	}
	return s, aWeek, ok
}

// weekday reads a weekday: this one is of this week, and the last or next is not today.
func (r *reader) weekday(p part) (Span, int, bool) {
	weekday, which := p.of("W").value, p.of("I")
	day, n := r.today, which.value
	switch {
	case which.kind != 0 && n == 0:
		day, n = day.Monday().Add(-1), 1
	case which.kind == 0 && r.toward == 0: // the nearest
		day, n = day.Add(-4), 1
	case which.kind == 0:
		n = r.toward
	}
	return days(nearDay(day, weekday, n), 1), aDay, true
}

func (r *reader) quarter(p part) (Span, int, bool) {
	n, u := p[0].value, p.of("U")
	s, unit, ok := r.monthsIn(p, 3*n-2, 3, aQuarter)
	return s, unit, ok && n <= 4 && (u.kind == 0 || u.value == aQuarter)
}

func (r *reader) season(p part) (Span, int, bool) {
	return r.monthsIn(p, 3*p.of("S").value, 3, aQuarter)
}

func (r *reader) month(p part) (Span, int, bool) {
	return r.monthsIn(p, p.of("M").value, 1, aMonth)
}

func (r *reader) monthsIn(p part, month, n, unit int) (Span, int, bool) {
	s, ok := r.yearly(p, func(year int) (Span, bool) { return months(year, month, n), true })
	return s, unit, ok
}

func (r *reader) feast(p part) (Span, int, bool) {
	at := feasts[p.of("F").value]
	s, ok := r.yearly(p, func(year int) (Span, bool) {
		if at[0] == 0 {
			return days(easter(year).Add(at[1]), at[2]), true
		}
		s, ok := date(year, at[0], at[1])
		return days(s.From, at[2]), ok
	})
	return s, aDay, ok
}

func (r *reader) namedYear(p part) (Span, int, bool) {
	u := p.of("U")
	return months(p.of("Y").value, 1, 12), aYear, u.kind == 0 || u.value == aYear
}
