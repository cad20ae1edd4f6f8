package search

import (
	"cmp"
	"context"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/files"
	"lifehub/internal/when"
	"lifehub/rag/passage"
	"lifehub/rag/words"
)

const (
	// dateBoost is added to the score, of at most 1, of a passage of the time in the
	// question. Many questions contain a time by chance, so it does not decide.
	dateBoost = 0.25
	// shortBoost replaces it for a time of at most a week: passages of another week do
	// not answer "where did I run last week", whatever their words.
	shortBoost = 1
	// onlyBoost replaces it if the question is nothing but a time.
	onlyBoost = 1.5
	// maxOfTime bounds the passages of a time if all are asked for.
	maxOfTime = 2000
	// undatedShare multiplies the score of a passage without a date if a filter asks
	// for a time.
	undatedShare = 0.5
)

// MaxListed is the maximum number of notes of a time that are listed: a month of days.
const MaxListed = 31

// askedTime is the time in a query.
type askedTime struct {
	Span        when.Span
	from, until int64 // days since 1970; until is exclusive
	filter      bool  // a filter, which passages of this time and those without a date match
	only        bool  // the query has only the time
}

// short reports whether the time is a week at most.
func (t askedTime) short() bool { return t.until-t.from <= 7 }

// time returns the time in a query's filters or else in its words.
func (q Query) time() askedTime {
	span, rest := q.Talk.In(q.Text, q.today())
	if q.timed() {
		span = q.filtered()
	}
	t := timeOf(span)
	t.filter, t.only = q.timed(), isOnlyTime(rest)
	return t
}

// timed reports whether a query filters by time.
func (q Query) timed() bool { return !q.After.IsZero() || !q.Before.IsZero() }

// bounded reports whether the query asks for all notes of the time.
func (t askedTime) bounded() bool {
	return !t.Span.From.IsZero() && !t.Span.To.IsZero() && (t.only || t.filter)
}

func timeOf(span when.Span) askedTime {
	t := askedTime{Span: span, until: math.MaxInt32}
	if !t.Span.From.IsZero() {
		t.from = t.Span.From.Number()
	}
	if !t.Span.To.IsZero() {
		t.until = t.Span.To.Number()
	}
	return t
}

// isOnlyTime reports whether the rest of a question without its time has no
// content.
func isOnlyTime(rest string) bool {
	for _, t := range words.Terms(rest, "") {
		if !when.SaysNothing(t.Text) {
			return false
		}
	}
	return true
}

// A date is of a time if it begins in it and is not longer. So a date of a week that
// begins in November is of November, but not the other way round.
const (
	ofTime   = `d.day >= ? AND d.day < ? AND d.until - d.day <= ?`
	passages = `dates d JOIN passages p ON p.note = d.note AND p.line <= d.end_line AND p.end_line >= d.line
		JOIN notes n ON n.id = d.note`
)

func (t askedTime) args() []any { return []any{t.from, t.until, t.until - t.from} }

// byDate boosts the passages of the time that is asked for and, if it is a filter,
// removes those of other times.
func (s *search) byDate(ctx context.Context, found map[int64]*candidate) error {
	if s.time.Span.IsZero() {
		return nil
	}
	if s.time.only || s.time.short() || s.time.bounded() {
		if err := s.addNewest(ctx, found); err != nil {
			return err
		}
	}
	if err := s.datesOf(ctx, found); err != nil {
		return err
	}
	for id, c := range found {
		switch c.dated = c.days.of; {
		case c.boost > 0:
		case c.days.of && s.time.short():
			c.boost = shortBoost
		case c.days.of:
			c.boost = dateBoost
		case s.time.filter && c.days.other && !c.days.around:
			delete(found, id)
		}
	}
	return nil
}

// dropTime counts the notes of the time. If there are none and the time is in words,
// these are searched for like others.
func (s *search) dropTime(ctx context.Context) error {
	if s.time.Span.IsZero() {
		return nil
	}
	err := s.notesOfTime(ctx)
	s.ofTime.Only, s.ofTime.ByDate = s.time.only || s.time.filter, s.time.bounded()
	// whatever its words, a note of last week answers "where did I run last week"
	s.dated = (s.time.only || s.time.short()) && s.ofTime.Notes > 0
	if err != nil || s.ofTime.Notes > 0 || s.time.filter {
		return err
	}
	if s.undated = s.time.only; s.undated {
		s.words, err = readWords(ctx, s.db, numbers.ReplaceAllString(s.query.Text, "")) // which are in many notes
	}
	s.time = askedTime{}
	return err
}

var numbers = regexp.MustCompile(`\d+`)

// notesOfTime counts the user's own notes of the time, and lists them if the query is
// nothing but the time.
func (s *search) notesOfTime(ctx context.Context) error {
	query, args := s.filtered(`SELECT n.path, min(d.day) FROM dates d JOIN notes n ON n.id = d.note WHERE NOT n.outside
		AND `+ofTime, s.time.args())
	s.ofTime = when.Found{Days: s.time.Span.Words(s.query.today()), From: s.time.Span.From.String()}
	if !s.time.Span.To.IsZero() {
		s.ofTime.To = s.time.Span.To.Add(-1).String()
	}
	for scan := range files.Rows(ctx, s.db, query+` GROUP BY n.id ORDER BY 2, n.path`, args...) {
		var path string
		var day int64
		if err := scan(&path, &day); err != nil {
			return err
		}
		if s.ofTime.Notes++; s.time.only {
			s.ofTime.List = append(s.ofTime.List, when.Entry{Date: words.Day(day), Path: path, Vault: s.in.Dir})
		}
	}
	s.ofTime.List = s.ofTime.List[max(0, len(s.ofTime.List)-MaxListed):]
	return nil
}

// filtered restricts a query of notes n to those that match the filter.
func (s *search) filtered(query string, args []any) (string, []any) {
	if s.filter.notes == "" {
		return query, args
	}
	return query + ` AND n.id` + inList, append(args, s.list)
}

// addNewest adds the newest passages of the time to the candidates. If the query is
// nothing but a time, they are in this order.
func (s *search) addNewest(ctx context.Context, found map[int64]*candidate) error {
	limit := nearCandidates
	if s.query.Room > 0 {
		limit = maxOfTime
	}
	query, args := s.filtered(`SELECT p.id FROM `+passages+` WHERE `+ofTime, s.time.args())
	boost := onlyBoost
	for scan := range files.Rows(ctx, s.db, query+` GROUP BY p.id ORDER BY max(d.day) DESC, p.id LIMIT ?`,
		append(args, limit)...) {
		var id int64
		if err := scan(&id); err != nil {
			return err
		}
		if found[id] == nil {
			found[id] = &candidate{id: id}
		}
		if s.time.only {
			found[id].boost = boost
			boost -= 1e-4
		}
	}
	return nil
}

// passageDays compares the dates of a passage with the time that is asked for.
type passageDays struct {
	of, around, other bool  // some are of it, some overlap it, some do neither
	first             int64 // the first day that is of it
	line, endLine     int   // the lines that are of it
}

// datesOf reads the dates of candidates.
func (s *search) datesOf(ctx context.Context, found map[int64]*candidate) error {
	for ids := range slices.Chunk(slices.Collect(maps.Keys(found)), 500) {
		args := make([]any, len(ids))
		for i, id := range ids {
			args[i] = id
		}
		for scan := range files.Rows(ctx, s.db, `SELECT p.id, d.day, d.until, max(d.line, p.line), min(d.end_line,
			p.end_line)
			FROM `+passages+` WHERE p.id IN (`+marks(len(ids))+`)`, args...) {
			var id, day, until int64
			var line, endLine int
			if err := scan(&id, &day, &until, &line, &endLine); err != nil {
				return err
			}
			d := &found[id].days
			switch t := s.time; {
			case day >= t.from && day < t.until && until-day <= t.until-t.from:
				if !d.of {
					d.first, d.line, d.endLine = day, line, endLine
				}
				d.of, d.first, d.line, d.endLine = true, min(d.first, day), min(d.line, line), max(d.endLine, endLine)
			case day < t.until && until > t.from:
				d.around = true
			default:
				d.other = true
			}
		}
	}
	return nil
}

// day returns the date that a passage is shown with; own is that of its note.
func (d passageDays) day(own string) string {
	if d.of {
		return words.Day(d.first)
	}
	return own
}

// Arrange sorts passages, best first, and truncates them to the number asked for. A
// search for all notes of a time returns as many passages of that time as there is room
// for, newest first, and sets t.Shown to the number of their notes.
func Arrange(passages []Passage, q Query, t *when.Found) []Passage {
	slices.SortStableFunc(passages, func(a, b Passage) int { return cmp.Compare(b.Score, a.Score) })
	if t == nil || !t.ByDate {
		return passages[:min(len(passages), q.AtMost())]
	}
	chosen, room, shown := []Passage{}, q.Room, map[string]bool{}
	for _, p := range passages {
		if p.Dated && q.Room > 0 {
			if room -= passage.EstimateTokens(p.Text); room < 0 && len(chosen) > 0 {
				continue
			}
		} else if len(chosen) >= q.AtMost() {
			continue
		}
		if chosen = append(chosen, p); p.Dated && !p.Untrusted {
			shown[p.Vault+"/"+p.Path] = true
		}
	}
	slices.SortStableFunc(chosen, func(a, b Passage) int {
		switch {
		case a.Dated != b.Dated && a.Dated:
			return -1
		case a.Dated != b.Dated:
			return 1
		case !a.Dated:
			return 0
		}
		return cmp.Or(strings.Compare(b.Date, a.Date), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	t.Shown = len(shown)
	return chosen
}
