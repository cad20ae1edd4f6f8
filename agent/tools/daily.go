package tools

import (
	"context"
	"path"
	"strings"
	"time"

	"lifehub/internal/when"
	"lifehub/notes"
)

// Daily is the location of daily notes. Empty fields are inferred from the
// existing notes.
type Daily struct {
	Folder  string // path in the vault; "": inferred, or "daily"
	Pattern string // path below Folder, as in 2006-01-02.md
}

// dailyLayouts are common names of daily notes, longest first.
var dailyLayouts = []string{
	"2006/01/2006-01-02", "2006/01-January/2006-01-02", "2006/2006-01/2006-01-02",
	"2006/01/02", "2006-01/2006-01-02", "2006/2006-01-02",
	"2006-01-02", "2006_01_02", "20060102", "02-01-2006",
}

// dailyTitles are common titles of daily notes.
var dailyTitles = []string{
	"2006-01-02",
	"Monday, 2 January 2006", "Monday 2 January 2006", "Monday, January 2, 2006",
	"2 January 2006", "January 2, 2006",
	"2006-01-02 Monday", "2006-01-02, Monday",
}

// dailies is a folder and layout of daily notes.
type dailies struct {
	folder *notes.Folder
	dir    string
	layout string
	ext    string
}

// dailyNote returns the location of today's daily note and the text that a new
// one starts with. The location is as configured, or like most existing daily
// notes, or in the folder "daily".
func (v vaults) dailyNote(ctx context.Context, set Daily, today time.Time) (folder *notes.Folder, name, fresh string, err error) {
	places, err := v.all(ctx)
	if err != nil {
		return nil, "", "", err
	}
	way, latest := findDailies(places, set)
	if way.folder == nil {
		way = dailies{folder: v()[0], dir: set.Folder, layout: set.Pattern}
		if way.layout == "" {
			way.layout = "2006-01-02"
		}
		if way.dir == "" && set.Pattern == "" {
			way.dir = "daily"
		}
	}
	if way.ext == "" && !strings.HasSuffix(strings.ToLower(way.layout), ".md") {
		way.ext = ".md"
	}
	name = path.Join(way.dir, today.Format(way.layout)+way.ext)
	name, _, err = way.folder.Spelled(name)
	return way.folder, name, dailyHead(ctx, latest, today), err
}

// DailyPath returns the path of today's daily note, which may not exist yet.
func DailyPath(ctx context.Context, folders func() []*notes.Folder, set Daily, today time.Time) (string, error) {
	folder, name, _, err := vaults(folders).dailyNote(ctx, set, today)
	if err != nil {
		return "", err
	}
	return PathOf(folders, folder, name), nil
}

// findDailies returns the most common layout of daily notes, and the latest
// note with it.
func findDailies(places []place, set Daily) (dailies, place) {
	type found struct {
		notes  int
		latest place
		day    when.Day
	}
	ways := map[dailies]*found{}
	var best dailies
	for _, p := range places {
		way, day, ok := dailyWay(p, set)
		if !ok {
			continue
		}
		f := ways[way]
		if f == nil {
			f = &found{}
			ways[way] = f
		}
		f.notes++
		if !day.Before(f.day) {
			f.latest, f.day = p, day
		}
		if b := ways[best]; b == nil || f.notes > b.notes || f.notes == b.notes && b.day.Before(f.day) {
			best = way
		}
	}
	if f := ways[best]; f != nil {
		return best, f.latest
	}
	return dailies{}, place{}
}

// dailyWay parses a note's path as that of a daily note.
func dailyWay(p place, set Daily) (way dailies, day when.Day, ok bool) {
	if notes.IsPaged(p.Entry.Path) {
		return dailies{}, when.Day{}, false
	}
	ext := path.Ext(p.Entry.Path)
	name := strings.TrimSuffix(p.Entry.Path, ext)
	layouts := dailyLayouts
	if set.Pattern != "" {
		layouts = []string{strings.TrimSuffix(set.Pattern, path.Ext(set.Pattern))}
	}
	for _, layout := range layouts {
		dir, rest := cutLast(name, strings.Count(layout, "/")+1)
		if set.Folder != "" && !notes.SameName(dir, path.Clean(set.Folder)) {
			continue
		}
		day, err := time.Parse(layout, rest)
		if err == nil && day.Format(layout) == rest {
			return dailies{p.folder, dir, layout, ext}, when.DayOf(day), true
		}
	}
	return dailies{}, when.Day{}, false
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

// dailyHead returns the heading of today's note if the latest daily note starts
// with its own date as heading, or if there is none; "" otherwise.
func dailyHead(ctx context.Context, latest place, today time.Time) string {
	if latest.folder == nil {
		return "# " + today.Format("2006-01-02") + "\n\n"
	}
	note, err := latest.read(ctx)
	if err != nil || len(note.Headings) == 0 || note.Headings[0].Level != 1 {
		return ""
	}
	for _, layout := range dailyTitles {
		if note.Headings[0].Text == note.Date.Format(layout) {
			return "# " + today.Format(layout) + "\n\n"
		}
	}
	return ""
}
