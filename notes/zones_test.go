package notes

import (
	"fmt"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/internal/when"
)

// A day is the same for every reader and writer, whatever the clock does on it.
func TestDayIsTheSameInEveryZone(t *testing.T) {
	testenv.InEachZone(t, 2011, 2013, func(t *testing.T, days []when.Day) {
		for _, day := range days {
			for _, style := range []DateStyle{Emoji, Dataview, Plain} {
				line := "- [ ] a 🔁 every day " + style.Due(day)
				task, _ := ParseTasks(line)
				next, _ := task.Next(day, when.Day{})
				done, _ := ParseTasks(task.Ticked(day))
				if task.Due != day || next.Due != day.Add(1) || done.DoneOn != day {
					t.Fatalf("%s is due on %v, comes again on %v and is done on %v", line,
						task.Due, next.Due, done.DoneOn)
				}
			}
			for repeat, want := range map[string]when.Day{"+1w": day.Add(7), "++1d": day.Add(1), ".+2d": day.Add(2)} {
				task, _ := ParseTasks(fmt.Sprintf("%s\n  SCHEDULED: <%s %s>", StateLine("a", day),
					day.Format("2006-01-02 Mon"), repeat))
				if next, ok := task.Next(day, when.Day{}); !ok || task.Due != day ||
					next.Scheduled != want || next.Due != day {
					t.Fatalf("%s moves on by %s to %v and %v", day, repeat, next.Scheduled, next.Due)
				}
			}
			for path, text := range map[string]string{
				day.String() + ".md": "", "journals/" + day.Format("2006_01_02") + ".md": "",
				"a.md": "---\ndate: " + day.String() + "\n---\n",
				"b.md": "+++\ndate = " + day.String() + "\n+++\n",
				"c.md": "---\ncreated: " + day.String() + "T00:00:00\n---\n",
			} {
				n := Parse(Entry{Path: path}, []byte(text+"\nText\n"))
				if n.Date != day || len(n.Dates) == 0 || n.Dates[0].Span != (when.Span{From: day, To: day.Add(1)}) {
					t.Fatalf("%s %q is of %v, %v", path, text, n.Date, n.Dates)
				}
			}
			if begins := day.Begins(); when.DayOf(begins) != day && when.DayOf(begins) != day.Add(1) ||
				when.DayOf(begins.Add(-time.Nanosecond)) == day {
				t.Fatalf("%v begins at %v", day, begins)
			}
		}
	})
}

// The Obsidian rules give the day after, a week after, a month after, in every zone.
func TestRuleMovesByWholeDaysInEveryZone(t *testing.T) {
	testenv.InEachZone(t, 2011, 2013, func(t *testing.T, days []when.Day) {
		for _, day := range days {
			for rule, want := range map[string]when.Day{
				"every week": day.Add(7), "every 3 days": day.Add(3),
				"every month": day.AddMonths(1), "every year": day.AddMonths(12),
			} {
				if r, ok := parseRule(rule); !ok || r.after(day) != want {
					t.Fatalf("%s after %v is %v, not %v", rule, day, r.after(day), want)
				}
			}
		}
	})
}
