package when

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// said is a time expression in a text: its days, their unit, and its range in
// bytes and tokens.
type said struct {
	Span
	unit       int
	start, end int
	next       int // index of the token after it
}

// rule parses a time expression whose token kinds match a pattern.
type rule struct {
	kinds *regexp.Regexp
	free  bool // applies only after a word that introduces a time: "march" alone is not a month
	read  func(r *reader, i, j int) (s Span, unit int, ok bool)
}

// rules are tried in order; more specific ones come first.
var rules = sync.OnceValue(func() (list []rule) {
	add := func(kinds string, read func(r *reader, i, j int) (Span, int, bool)) {
		bare, free := strings.CutPrefix(kinds, "!")
		list = append(list, rule{regexp.MustCompile("^(?:" + bare + ")"), free, read})
	}
	add(`d`, func(r *reader, i, _ int) (Span, int, bool) { return r.tokens[i].span, r.tokens[i].value, true })
	add(`[NO][JB][NO]M(?:p?[Yy])?|[NOR]p?M(?:p?[Yy])?|[Yy]?M[NO]Y?`, (*reader).dayOfMonth)
	add(`N*p?UG|OG|VN+p?U|N+UA|N+U`, (*reader).away)
	add(`!n|O`, (*reader).dayOfMonth)
	add(`D`, func(r *reader, i, _ int) (Span, int, bool) {
		return daysFrom(r.today.AddDate(0, 0, r.tokens[i].value), 1), aDay, true
	})
	add(`[IH]N+p?U|NIU|GNU`, (*reader).lastOrNext)
	add(`H`, func(r *reader, i, _ int) (Span, int, bool) {
		return Span{r.today.AddDate(0, 0, -r.tokens[i].value), r.today.AddDate(0, 0, 1)}, aDay, true
	})
	add(`(?:IU|UI)p?W|Wp?(?:IU|UI)`, (*reader).dayOfWeek)
	add(`IU|UI`, (*reader).step)
	add(`I?IW|WI`, (*reader).weekday)
	add(`!W`, (*reader).weekday)
	add(`!U`, (*reader).weekend)
	add(`[RO]U(?:p?[Yy])?|[Yy]?Q[Yy]?`, (*reader).quarter)
	add(`IS|SI|[Yy]S|Sp?[Yy]`, (*reader).season)
	add(`!S`, (*reader).season)
	add(`IF|FI|[Yy]F`, (*reader).feast)
	add(`!Fp?[Yy]|F`, (*reader).feast)
	add(`IM|MI|Mp?[Yy]|[Yy]p?M`, (*reader).month)
	add(`!M|UM`, (*reader).month)
	add(`y`, (*reader).aYear)
	add(`!U?Y`, (*reader).aYear)
	return list
})

// of returns the last token in [i, j) of one of the kinds; its kind is 0 if there
// is none.
func (r *reader) of(i, j int, kinds string) token {
	for ; j > i; j-- {
		if strings.IndexByte(kinds, r.kinds[j-1]) >= 0 {
			return r.tokens[j-1]
		}
	}
	return token{}
}

// at parses the time expression that starts at token i. free means that a
// preceding word introduces a time.
func (r *reader) at(i int, free bool) (it said, ok bool) {
	first := i
	for i < len(r.kinds) && (r.kinds[i] == 'p' || r.kinds[i] == 'J' && r.tokens[i].value == 1) {
		i++
	}
	if i == len(r.kinds) || r.kinds[i] == '?' || r.kinds[i] == '|' {
		return it, false
	}
	if it, ok = r.besides(i); !ok {
		if it, ok = r.partOf(i); !ok {
			it, ok = r.plain(i, free || r.isFree(i))
		}
	}
	for ok && r.tokens[it.next-1].unspaced {
		wider, more := r.suffixed(it)
		if !more {
			break
		}
		it = wider
	}
	it.start = r.tokens[first].start
	if ok {
		it.end = r.tokens[it.next-1].end
	}
	return it, ok
}

// plain parses a time that does not depend on another one.
func (r *reader) plain(i int, free bool) (it said, ok bool) {
	for _, rule := range rules() {
		end := len(rule.kinds.FindString(r.kinds[i:]))
		if end == 0 || rule.free && !free {
			continue
		}
		if it.Span, it.unit, ok = rule.read(r, i, i+end); ok {
			it.next = i + end
			return it, true
		}
	}
	return it, false
}

// isFree reports whether the word before a token, or the token's position, makes
// it a time.
func (r *reader) isFree(i int) bool {
	t, before := r.tokens[i], token{}
	if i > 0 {
		before = r.tokens[i-1]
	}
	side := strings.IndexByte("BAZ", before.kind) >= 0 || before.kind == 'J' && before.value == 1
	switch {
	case t.unspaced:
		return (t.kind != 'U' || t.value == aWeekend) && !strings.HasSuffix(r.text[:t.start], "每")
	case before.kind == 'p' && t.kind == 'U':
		return true
	case before.kind == 'p':
		return !strings.Contains(map[byte]string{'M': "2", 'S': "23", 'F': "3", 'n': "13", 'O': "13"}[t.kind], string(rune('0'+before.value)))
	case t.kind == 'U':
		return t.value == aWeekend && r.ends(i+1) && !side
	case t.kind == 'W' && !side: // "what did I do Monday?" and "Monday's run", but not "every Monday"
		alone := i == 0 || r.kinds[i-1] != '?' || !habit.MatchString(r.text[before.start:before.end])
		return alone && (r.ends(i+1) || t.possessive(r.text)) && !strings.HasSuffix(strings.TrimRight(r.text[:t.start], " "), " le")
	}
	return side
}

var habit = regexp.MustCompile(`^(?:every|each|jede[nrs]?|chaque|tous|cada|ogni)$`)

// possessive reports whether a word ends in 's.
func (t token) possessive(text string) bool {
	return strings.HasSuffix(text[t.start:t.end], "'s") || strings.HasSuffix(text[t.start:t.end], "’s")
}

// ends reports whether a sentence ends before a token.
func (r *reader) ends(i int) bool { return i >= len(r.kinds) || r.kinds[i] == '|' }

var (
	besideIt  = regexp.MustCompile(`^(?:I?N*[UW][BA]|v)`)
	followsUp = regexp.MustCompile(`^(?:I?N*U[BAGr]|r?IN?U|rN*U|UI|[GA]N*U|N?[BAGr])`)
	leaning   = regexp.MustCompile(`^(?:previous|prior|preceding|vorherig|précédente?|following|suivante?|上一)`)
	rankIn    = regexp.MustCompile(`^(?:[RIO]N*[UW]|N[RI]U)`)
	suffix    = regexp.MustCompile(`^(?:[RI]N*[UW]|[GBA]I?N*[UW])`)
)

// besides parses a time relative to another one, such as the day before
// Christmas. If the other one is not named, it is that of the previous question.
func (r *reader) besides(i int) (it said, ok bool) {
	if j := i + len(besideIt.FindString(r.kinds[i:])); j > i {
		side := r.of(i, j, "BAv")
		if other, found := r.at(j, true); found && (side.kind != 'B' || side.value == 0) && other.unit != 0 {
			it = r.shifted(other.Span, r.of(i, j, "UWv"), r.of(i, j, "N").value, side)
			it.next = other.next
			return it, true
		}
	}
	if u := r.tokens[i]; u.kind == 'U' && strings.HasPrefix(r.kinds[i+1:], "p") { // the week of 5 October
		if day, found := r.at(i+2, false); found && day.unit < u.value && u.value != aWeekend {
			return said{Span: steps(day.From, u.value, 0), unit: u.value, next: day.next}, day.unit != 0
		}
	}
	j := i + len(followsUp.FindString(r.kinds[i:]))
	if j == i || r.last.IsZero() || !r.ends(j) {
		return it, false
	}
	unit, side := r.of(i, j, "U"), r.of(i, j, "BAGrI")
	word := r.text[side.start:side.end]
	if again := r.kinds[i] == 'r' && j > i+1; side.kind == 'I' && !again && !leaning.MatchString(word) || unit.kind == 0 && i > 4 {
		return it, false
	}
	it = r.shifted(r.last, unit, r.of(i, j, "N").value, side)
	it.next = j
	return it, true
}

// shifted returns the span of n units before or after another one. Without a
// unit, its length is that of the other span.
func (r *reader) shifted(other Span, unit token, n int, side token) (it said) {
	n = max(n, 1)
	before := side.kind == 'B' || side.kind == 'G' || side.value < 0
	if before {
		n = -n
	}
	from, last := other.From, other.To.AddDate(0, 0, -1)
	edge := last
	if before {
		edge = from
	}
	switch {
	case unit.kind == 'W':
		it.Span, it.unit = daysFrom(nearDay(edge, unit.value, n), 1), aDay
	case unit.kind == 'v' || unit.kind == 'U' && unit.value == aDay:
		it.Span, it.unit = daysFrom(edge.AddDate(0, 0, n), 1), aDay
	case unit.kind == 'U' && unit.value == aWeek && before:
		it.Span, it.unit = daysFrom(edge.AddDate(0, 0, 7*n), 7), aWeek
	case unit.kind == 'U' && unit.value == aWeek:
		it.Span, it.unit = daysFrom(edge.AddDate(0, 0, 7*n-6), 7), aWeek
	case unit.kind == 'U' && unit.value == aWeekend:
		saturday := nearDay(edge, 6, n)
		if before && saturday.AddDate(0, 0, 2).After(from) {
			saturday = saturday.AddDate(0, 0, -7)
		}
		it.Span, it.unit = daysFrom(saturday, 2), aWeekend
	case unit.kind == 'U':
		it.Span, it.unit = steps(edge, unit.value, n), unit.value
	case from.Day() == 1 && other.To.Day() == 1:
		months := 12*(other.To.Year()-from.Year()) + int(other.To.Month()-from.Month())
		it.Span, it.unit = monthsFrom(from, from.Year(), int(from.Month())+n*months, months), aMonth
	default:
		days := int(other.To.Sub(from).Hours()+12) / 24
		it.Span, it.unit = daysFrom(from.AddDate(0, 0, n*days), days), aDay
	}
	return it
}

// partOf parses a part of a longer time, such as the first week of October.
func (r *reader) partOf(i int) (it said, ok bool) {
	j := i + len(rankIn.FindString(r.kinds[i:]))
	if j == i {
		return it, false
	}
	whole, found := r.at(j, j < len(r.kinds) && r.kinds[j] == 'M')
	if k := j + len(ofThis.FindString(r.kinds[j:])); !found && k > j { // of the year
		unit := r.tokens[k-1].value
		whole, found = said{Span: steps(r.today, unit, 0), unit: unit, next: k}, true
	}
	if part := r.tokens[j-1]; !found || part.kind == 'U' && whole.unit <= part.value || part.kind == 'W' && whole.unit <= aWeek {
		return it, false
	}
	it.Span, it.unit, ok = r.partIn(whole.Span, i, j-1, r.tokens[j-1])
	it.next = whole.next
	return it, ok
}

var ofThis = regexp.MustCompile(`^pU`)

// partIn returns the part of a span that tokens select, such as the first or the
// last ten days.
func (r *reader) partIn(whole Span, i, j int, part token) (s Span, unit int, ok bool) {
	rank, n := r.of(i, j, "RIO").value, max(1, r.of(i, j, "N").value)
	last := whole.To.AddDate(0, 0, -1)
	switch {
	case rank == 0:
		return s, 0, false
	case part.kind == 'W' || part.value == aWeekend:
		weekday, days := part.value, 1
		if part.kind == 'U' {
			weekday, days = 6, 2
		}
		if rank > 0 {
			s = daysFrom(nearDay(whole.From.AddDate(0, 0, -1), weekday, rank), days)
		} else {
			s = daysFrom(nearDay(whole.To.AddDate(0, 0, 1-days), weekday, rank), days)
		}
		return s, aDay, s.Meets(whole)
	case part.value == aDay || part.value == aWeek:
		days := n * map[int]int{aDay: 1, aWeek: 7}[part.value]
		if rank > 0 {
			s = daysFrom(whole.From.AddDate(0, 0, (rank-1)*days), days)
		} else {
			s = daysFrom(whole.To.AddDate(0, 0, rank*days), days)
		}
	case rank > 0:
		s = steps(whole.From, part.value, rank-1)
		s.To = steps(whole.From, part.value, rank-1+n-1).To
	default:
		s = Span{steps(last, part.value, rank+1-(n-1)).From, steps(last, part.value, rank+1).To}
	}
	return s, part.value, s.From.Before(whole.To) && whole.From.Before(s.To)
}

// suffixed parses a part that follows the longer time, as in scripts without
// spaces: 十月第一周, 圣诞节前一天.
func (r *reader) suffixed(whole said) (it said, ok bool) {
	j := whole.next + len(suffix.FindString(r.kinds[whole.next:]))
	if j == whole.next || !r.tokens[whole.next].unspaced {
		return it, false
	}
	part, side, n := r.tokens[j-1], r.tokens[whole.next], r.of(whole.next, j-1, "N").value
	switch {
	case part.kind == 'U' && whole.unit <= part.value && strings.IndexByte("RI", side.kind) >= 0:
		return it, false
	case strings.IndexByte("RI", side.kind) >= 0:
		it.Span, it.unit, ok = r.partIn(whole.Span, whole.next, j-1, part)
	case side.kind == 'G' && n > 1 && part.value < whole.unit: // the first days of it
		it.Span, it.unit, ok = Span{whole.From, daysFrom(whole.From, n*map[int]int{aDay: 1, aWeek: 7}[part.value]).To}, part.value, part.value <= aWeek
	default:
		it, ok = r.shifted(whole.Span, part, n, side), true
	}
	it.next = j
	return it, ok
}

// dayOfMonth parses a day or range of days of a month. If the month is not named,
// it is this month or the nearest one.
func (r *reader) dayOfMonth(i, j int) (s Span, unit int, ok bool) {
	t, month := r.of(i, j, "NOnR"), r.of(i, j, "M").value
	day := t.value
	if t.kind == 'n' {
		day, month = day%100, day/100
	}
	if month == 0 {
		if !t.unspaced && !r.isFree(i) || day > 31 {
			return s, 0, false
		}
		var months []Span
		for step := -2; step <= 2; step++ {
			first := monthsFrom(r.today, r.today.Year(), int(r.today.Month())+step, 1).From
			if found, exists := dateOf(first, first.Year(), int(first.Month()), day); exists {
				months = append(months, found)
			}
		}
		return r.choose(months, 0, false), aDay, len(months) > 0
	}
	s, ok = r.ofYear(i, j, func(year int) (Span, bool) { return dateOf(r.today, year, month, day) })
	if first := r.tokens[i]; ok && j-i > 3 && strings.IndexByte("NO", first.kind) >= 0 && strings.IndexByte("JB", r.kinds[i+1]) >= 0 && first.value <= day {
		s.From = s.From.AddDate(0, 0, first.value-day)
	}
	return s, aDay, ok
}

// ofYear returns a yearly time in the year that is named, or else in the one that
// [reader.choose] selects.
func (r *reader) ofYear(i, j int, of func(year int) (Span, bool)) (Span, bool) {
	if year := cmp.Or(r.of(i, j, "Yy").value, r.year); year != 0 {
		return of(year)
	}
	var all []Span
	for year := r.today.Year() - 2; year <= r.today.Year()+2; year++ {
		if s, ok := of(year); ok {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return Span{}, false
	}
	which := r.of(i, j, "I")
	if k := slices.IndexFunc(all, func(s Span) bool { return s.From.Year() == r.today.Year() }); which.kind != 0 && which.value == 0 && k >= 0 && r.of(i, j, "S").kind == 0 {
		if r.tense < 0 && all[k].From.After(r.today) {
			k--
		}
		return all[max(k, 0)], true
	}
	return r.choose(all, which.value, false), true
}

// choose selects one of several spans. If which is negative, it selects the last
// one that is over, and if positive, the next; otherwise, depending on the tense,
// the last or next one that has begun, or else the nearest. With notToday, a past
// or future tense excludes today.
func (r *reader) choose(all []Span, which int, notToday bool) Span {
	begun := func(s Span) bool { return !s.From.After(r.today) && !(notToday && s.From.Equal(r.today)) }
	left := func(s Span) bool { return s.To.After(r.today) && !(notToday && s.From.Equal(r.today)) }
	switch {
	case which < 0:
		begun = func(s Span) bool { return !s.To.After(r.today) }
		fallthrough
	case which == 0 && r.tense < 0:
		for _, s := range slices.Backward(all) {
			if begun(s) {
				return s
			}
		}
	case which > 0:
		left = func(s Span) bool { return s.From.After(r.today) }
		fallthrough
	case r.tense > 0:
		for _, s := range all {
			if left(s) {
				return s
			}
		}
	}
	return slices.MinFunc(all, func(a, b Span) int { return cmp.Compare(r.distance(a), r.distance(b)) })
}

// distance returns how far a span is from today.
func (r *reader) distance(s Span) time.Duration {
	return max(0, s.From.Sub(r.today), r.today.AddDate(0, 0, 1).Sub(s.To))
}

// dayOfWeek parses a weekday of last week or another week.
func (r *reader) dayOfWeek(i, j int) (Span, int, bool) {
	week, _, ok := r.step(i, j)
	return daysFrom(week.From.AddDate(0, 0, (r.of(i, j, "W").value+6)%7), 1), aDay, ok && r.of(i, j, "U").value == aWeek
}

// away parses a number of units ago or from now.
func (r *reader) away(i, j int) (s Span, unit int, ok bool) {
	n, sign, ahead := max(1, r.of(i, j, "NO").value), -1, false
	unit = cmp.Or(r.of(i, j, "U").value, aDay)
	switch before := r.tokens[max(0, i-1)]; {
	case r.of(i, j, "A").kind != 0:
		if ahead = r.of(i, j, "A").unspaced; !ahead {
			return s, 0, false
		}
	case r.of(i, j, "GV").kind != 0:
		if g := r.of(i, j, "G"); g.kind != 0 && r.of(i, j, "NO").kind == 0 && unit != halfYear {
			return s, 0, false
		}
	case i > 0 && before.kind == 'Z':
	case i > 0 && before.kind == 'B' && r.text[before.start:before.end] == "vor":
	case i > 0 && before.kind == 'p' && inFuture.MatchString(r.text[before.start:before.end]) && r.tense >= 0:
		ahead = true
	default:
		return s, 0, false
	}
	if ahead {
		sign = 1
	}
	at := away(r.today, sign*n, unit)
	return at, 0, n <= tenYears
}

var inFuture = regexp.MustCompile(`^(?:in|dans|через)$`)

// lastOrNext parses the last or next n units, which include today.
func (r *reader) lastOrNext(i, j int) (s Span, unit int, ok bool) {
	n, which, u := r.of(i, j, "N"), r.of(i, j, "I"), r.of(i, j, "U")
	if n.value > tenYears || which.kind == 0 && r.of(i, j, "G").kind != 0 && n.value == 1 {
		return s, 0, false
	}
	if n.value == 1 && u.unspaced && which.kind == 'I' { // 上一周
		return r.step(i, j)
	}
	far := away(r.today, -n.value, u.value)
	ahead := which.kind == 'I' && which.value > 0
	if ahead {
		far = away(r.today, n.value, u.value)
	}
	middle := far.From.AddDate(0, 0, int(far.To.Sub(far.From).Hours())/48)
	if u.value == aYear {
		middle = far.From.AddDate(0, 3, 0)
	}
	if ahead {
		return Span{r.today, middle.AddDate(0, 0, 1)}, u.value, true
	}
	return Span{middle, r.today.AddDate(0, 0, 1)}, u.value, true
}

// step parses a week, month or other unit relative to the current one.
func (r *reader) step(i, j int) (Span, int, bool) {
	n, unit := r.of(i, j, "I").value, r.of(i, j, "U").value
	switch {
	case unit == aDay || unit == halfYear:
		return Span{}, 0, false
	case unit == aWeekend && n != 0:
		all := r.weekends()
		s := r.choose(all, n, false)
		return daysFrom(s.From.AddDate(0, 0, 7*(n-cmp.Compare(n, 0))), 2), unit, true
	case unit == aWeekend:
		s := steps(r.today, aWeekend, 0)
		if r.tense < 0 && s.From.After(r.today) {
			s = steps(r.today, aWeekend, -1)
		}
		return s, unit, true
	case unit == aWeek && n < 0 && r.today.Weekday() == time.Sunday:
		n++ // on a Sunday, "last week" in retrospect means the week that is ending
	}
	return steps(r.today, unit, n), unit, true
}

// weekends returns the weekends around today.
func (r *reader) weekends() (all []Span) {
	for n := -2; n <= 2; n++ {
		all = append(all, steps(r.today, aWeekend, n))
	}
	return all
}

// weekend parses a weekend without further qualification: at the weekend.
func (r *reader) weekend(i, j int) (Span, int, bool) {
	return r.choose(r.weekends(), 0, false), aWeekend, r.tokens[j-1].value == aWeekend
}

// weekday parses a weekday. 上周一 is the one of last week; "last Monday" is the
// most recent one.
func (r *reader) weekday(i, j int) (Span, int, bool) {
	day, which := r.of(i, j, "W"), r.of(i, j, "I")
	ofWeek := func(n int) Span { return daysFrom(steps(r.today, aWeek, n).From.AddDate(0, 0, (day.value+6)%7), 1) }
	if which.kind != 0 && (day.unspaced || which.value == 0) {
		s := ofWeek(which.value)
		if which.value == 0 && r.tense < 0 && s.From.After(r.today) {
			s = ofWeek(-1)
		}
		return s, aDay, true
	}
	all := []Span{ofWeek(-2), ofWeek(-1), ofWeek(0), ofWeek(1), ofWeek(2)}
	return r.choose(all, which.value, true), aDay, true
}

func (r *reader) quarter(i, j int) (Span, int, bool) {
	n := r.of(i, j, "QRO").value
	s, ok := r.months(i, j, 3*n-2, 3)
	u := r.of(i, j, "U")
	return s, aQuarter, ok && n >= 1 && n <= 4 && (u.kind == 0 || u.value == aQuarter)
}

func (r *reader) season(i, j int) (Span, int, bool) {
	s, ok := r.months(i, j, 3*r.of(i, j, "S").value, 3)
	return s, aQuarter, ok
}

func (r *reader) month(i, j int) (Span, int, bool) {
	u := r.of(i, j, "U")
	s, ok := r.months(i, j, r.of(i, j, "M").value, 1)
	return s, aMonth, ok && (u.kind == 0 || u.value == aMonth)
}

// months returns a yearly span of n months from the given month.
func (r *reader) months(i, j, month, n int) (Span, bool) {
	return r.ofYear(i, j, func(year int) (Span, bool) { return monthsFrom(r.today, year, month, n), true })
}

func (r *reader) feast(i, j int) (Span, int, bool) {
	at := feasts[r.of(i, j, "F").value]
	s, ok := r.ofYear(i, j, func(year int) (Span, bool) {
		s, ok := dateOf(r.today, year, at[0], at[1])
		return daysFrom(s.From, at[2]), ok
	})
	return s, aDay, ok
}

func (r *reader) aYear(i, j int) (Span, int, bool) {
	u := r.of(i, j, "U")
	return yearOf(r.today, r.of(i, j, "Yy").value), aYear, u.kind == 0 || u.value == aYear
}
