package tools

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"lifehub/internal/when"
	"lifehub/notes"
)

// Daily is the location of daily notes. If both fields are empty, it is Obsidian's; an
// empty field is inferred from the existing notes.
type Daily struct {
	Folder  string // path in the vault; "": inferred, or "daily"
	Pattern string // path below Folder, as in 2006-01-02.md
}

// dailies is a folder and style of daily notes.
type dailies struct {
	folder *notes.Folder
	dir    string
	style  when.Style
	ext    string
}

// dailyNote returns the location of today's daily note and the text that a new
// one starts with. The location is as configured, or like most existing daily
// notes, or in the folder "daily".
func (v vaults) dailyNote(ctx context.Context, set Daily, now time.Time) (folder *notes.Folder, name, fresh string, err error) {
	places, err := v.all(ctx)
	if err != nil {
		return nil, "", "", err
	}
	today := when.DayOf(now)
	way, latest := findDailies(places, set, today)
	if way.folder == nil {
		set = set.in(v()[0])
		way = dailies{folder: v()[0], dir: set.Folder, style: when.Style{Layout: set.Pattern}}
		if set == (Daily{}) {
			way.dir = "daily"
		}
		if set.Pattern == "" {
			way.style.Layout = time.DateOnly
		}
	}
	if way.ext == "" && !strings.HasSuffix(strings.ToLower(way.style.Layout), ".md") {
		way.ext = ".md"
	}
	name = path.Join(way.dir, way.style.Write(today)+way.ext)
	name, _, err = way.folder.Spelled(name)
	return way.folder, name, latest.head(ctx, today), err
}

// DailyPath returns the path of today's daily note, which may not exist yet.
func DailyPath(ctx context.Context, folders func() []*notes.Folder, set Daily, today time.Time) (string, error) {
	folder, name, _, err := vaults(folders).dailyNote(ctx, set, today)
	if err != nil {
		return "", err
	}
	return PathOf(folders, folder, name), nil
}

// in returns the setting for a folder: the user's, or else Obsidian's.
func (d Daily) in(folder *notes.Folder) Daily {
	if d != (Daily{}) {
		return d
	}
	dir, format := folder.ObsidianDaily()
	if layout := layoutOf(format); layout != "" {
		return Daily{dir, layout}
	}
	return d
}

// moment maps the elements of Moment's formats, in which Obsidian names days, to those of package time.
var moment = map[string]string{
	"YYYY": "2006", "YY": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "DD": "02", "D": "2",
	"dddd": "Monday", "ddd": "Mon",
}

// momentParts matches an element, a text in brackets, or what is between.
var momentParts = regexp.MustCompile(`YYYY|YY|M{1,4}|D+|d+|[A-Za-z]+|\[[^\]]*\]|[^A-Za-z\[]+`)

// layoutOf returns the layout of a format of Moment; "" if it has none.
func layoutOf(format string) (layout string) {
	day, want := when.Day{Year: 1999, Month: 12, Day: 31}, ""
	for _, part := range momentParts.FindAllString(format, -1) {
		element, known := moment[part]
		text := day.Format(element)
		if !known {
			element = strings.Trim(part, "[]")
			text = element
		}
		if !known && element == part && strings.ContainsFunc(part, unicode.IsLetter) {
			return ""
		}
		layout, want = layout+element, want+text
	}
	if day.Format(layout) != want { // a text that is an element, too
		return ""
	}
	return layout
}

// dailyPlace is a note whose name is a day.
type dailyPlace struct {
	place
	way dailies
	day when.Day
}

// lately is the number of days in which a journal that is kept has a note.
const lately = 30

// journal matches the names of folders of a journal.
var journal = regexp.MustCompile(`(?i)^(?:daily|daily notes|dailies|journals?|diary|tagebuch|diario)$`)

// findDailies returns how the daily notes of these days are named, and the latest note with such a name. One of today
// is the journal, or else a folder with the name of one, or else that with the most notes lately, or ever. A single old
// note is no journal.
func findDailies(places []place, set Daily, today when.Day) (dailies, dailyPlace) {
	type found struct {
		today         bool // one is of today
		notes, recent int
		rank          int // how unlikely it is for their names, the lower, the likelier
		latest        dailyPlace
	}
	ways, sets := map[dailies]*found{}, map[*notes.Folder]Daily{}
	var order []*found
	for _, p := range places {
		if _, known := sets[p.folder]; !known {
			sets[p.folder] = set.in(p.folder)
		}
		for rank, daily := range dailyWays(p, sets[p.folder]) {
			f := ways[daily.way]
			if f == nil {
				f = &found{latest: daily}
				ways[daily.way], order = f, append(order, f)
			}
			f.notes, f.rank = f.notes+1, f.rank+rank
			if off := daily.day.Since(today); max(off, -off) <= lately {
				f.recent++
			}
			f.today = f.today || daily.day == today
			if !daily.day.Before(f.latest.day) {
				f.latest = daily
			}
		}
	}
	order = slices.DeleteFunc(order, func(f *found) bool { return set == (Daily{}) && f.notes == 1 && f.recent == 0 })
	if len(order) == 0 {
		return dailies{}, dailyPlace{}
	}
	kept := func(f *found) int {
		switch {
		case f.today:
			return 2
		case f.recent > 0 && journal.MatchString(path.Base(f.latest.way.dir)):
			return 1
		}
		return 0
	}
	best := slices.MaxFunc(order, func(a, b *found) int {
		return cmp.Or(kept(a)-kept(b), a.recent-b.recent, a.notes-b.notes, b.rank-a.rank,
			a.latest.day.Compare(b.latest.day))
	})
	return best.latest.way, best.latest
}

// deepestDaily is the most parts of a path that name its day.
const deepestDaily = 4

// dailyWays returns the ways in which a path is that of a daily note, the likeliest first.
func dailyWays(p place, set Daily) (ways []dailyPlace) {
	if notes.Writable(p.Entry.Path) != nil {
		return nil
	}
	ext := path.Ext(p.Entry.Path)
	name := strings.TrimSuffix(p.Entry.Path, ext)
	for parts := min(strings.Count(name, "/")+1, deepestDaily); parts > 0; parts-- {
		dir, rest := cutLast(name, parts)
		if set.Folder != "" && !notes.SameName(path.Clean(dir), path.Clean(set.Folder)) {
			continue
		}
		add := func(day when.Day, styles ...when.Style) {
			for _, style := range styles {
				ways = append(ways, dailyPlace{p, dailies{p.folder, dir, style, ext}, day})
			}
		}
		day, _ := notes.DateIn(rest + ext)
		if set.Pattern == "" {
			add(day, day.Styles(rest)...)
			if other := (when.Day{Year: day.Year, Month: time.Month(day.Day), Day: int(day.Month)}); day.Day <= 12 &&
				other != day { // 05-11 is 11-05 elsewhere
				add(other, other.Styles(rest)...)
			}
			continue
		}
		layout := set.Pattern
		if notes.IsNote(layout) {
			layout = strings.TrimSuffix(layout, path.Ext(layout))
		}
		if t, err := time.Parse(layout, rest); err == nil {
			day = when.DayOf(t)
		}
		for _, style := range []when.Style{{Layout: layout}, {Layout: layout, German: true}} {
			if style.Write(day) == rest {
				add(day, style)
			}
		}
	}
	return ways
}

// cutLast splits off the last parts of a path.
func cutLast(name string, parts int) (dir, rest string) {
	at := len(name)
	for range parts {
		if at = strings.LastIndexByte(name[:max(at, 0)], '/'); at < 0 {
			return "", name
		}
	}
	return name[:at], name[at+1:]
}

// head returns the heading of today's note if the latest daily note starts
// with its own date as heading, or if there is none; "" otherwise.
func (p dailyPlace) head(ctx context.Context, today when.Day) string {
	if p.folder == nil {
		return "# " + today.String() + "\n\n"
	}
	note, err := p.read(ctx)
	if err != nil || len(note.Headings) == 0 || note.Headings[0].Level != 1 {
		return ""
	}
	if styles := p.day.Styles(note.Headings[0].Text); len(styles) > 0 {
		return "# " + styles[0].Write(today) + "\n\n"
	}
	return ""
}
