package notes

import (
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"lifehub/internal/pattern"
	"lifehub/notes/task"
)

// date is the day a note is about, else the day it was last written; own
// reports whether the note says so itself.
func (n *Note) date() (day time.Time, own bool) {
	if day, ok := DateIn(n.Path); ok {
		return day, true
	}
	for _, key := range []string{"date", "created", "updated"} {
		if day, ok := frontDate(n.Front[key]); ok {
			return day, true
		}
	}
	return task.Midnight(n.ModTime.Local()), false
}

var (
	dayInName   = pattern.Lazy(`(?:^|\D)(\d{4})([-_.]?)(\d{2})([-_.]?)(\d{2})(?:\d{4}|\d{6})?(?:\D|$)`)
	weekInName  = pattern.Lazy(`(?:^|\D)(\d{4})-?[Ww](\d{2})(?:\D|$)`)
	monthInName = pattern.Lazy(`^(\d{4})[-_](\d{2})(?:[^-_\d]|$)`)
	dayInPath   = pattern.Lazy(`(?:^|/)(\d{4})/(?:\d{4}-)?(\d{2})/(\d{2})$`)
)

// DateIn finds the day that a note's path names, as local midnight: 2026-03-14,
// 2026_03_14, 20260314 or 202603141530 anywhere in the name; 2026-W11 for the
// Monday of that week; 2026-03 at its start for the first of the month; and
// the folders 2026/03/14.
func DateIn(name string) (time.Time, bool) {
	name = strings.TrimSuffix(name, path.Ext(name))
	base := path.Base(name)
	if m := dayInName.FindStringSubmatch(base); m != nil && m[2] == m[4] {
		if day, ok := makeDay(m[1], m[3], m[5]); ok {
			return day, true
		}
	}
	if m := weekInName.FindStringSubmatch(base); m != nil {
		if day, ok := mondayOf(m[1], m[2]); ok {
			return day, true
		}
	}
	if m := dayInPath.FindStringSubmatch(name); m != nil {
		return makeDay(m[1], m[2], m[3])
	}
	if m := monthInName.FindStringSubmatch(base); m != nil {
		return makeDay(m[1], m[2], "01")
	}
	return time.Time{}, false
}

// makeDay refuses what is no day of the calendar or of our times.
func makeDay(year, month, day string) (time.Time, bool) {
	t, err := time.ParseInLocation("2006-01-02", year+"-"+month+"-"+day, time.Local)
	if err != nil || t.Year() < 1900 || t.Year() > 2199 {
		return time.Time{}, false
	}
	return t, true
}

func mondayOf(year, week string) (time.Time, bool) {
	y, _ := strconv.Atoi(year)
	w, _ := strconv.Atoi(week)
	if y < 1900 || y > 2199 || w < 1 || w > 53 {
		return time.Time{}, false
	}
	fourth := time.Date(y, 1, 4, 0, 0, 0, 0, time.Local) // always in week 1
	monday := fourth.AddDate(0, 0, 7*(w-1)-(int(fourth.Weekday())+6)%7)
	if isoYear, isoWeek := monday.ISOWeek(); isoYear != y || isoWeek != w {
		return time.Time{}, false
	}
	return monday, true
}

// frontDate reads a date as front matter holds it: text, a date of TOML, or
// the milliseconds since 1970 that Dendron writes.
func frontDate(value any) (time.Time, bool) {
	switch v := value.(type) {
	case uint64:
		day := task.Midnight(time.UnixMilli(int64(min(v, math.MaxInt64))).Local())
		return day, 1980 <= day.Year() && day.Year() <= 2199
	case time.Time:
		return task.Midnight(v), !v.IsZero()
	case toml.LocalDate:
		return v.AsTime(time.Local), true
	case toml.LocalDateTime:
		return task.Midnight(v.AsTime(time.Local)), true
	case string:
		v = strings.Trim(strings.TrimSpace(v), `[]"'`)
		if len(v) < len("2006-01-02") {
			return time.Time{}, false
		}
		v = strings.NewReplacer("/", "-", ".", "-").Replace(v[:len("2006-01-02")])
		day, err := time.ParseInLocation("2006-01-02", v, time.Local)
		return day, err == nil
	}
	return time.Time{}, false
}
