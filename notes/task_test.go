package notes

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/internal/when"
)

func TestFieldsAreSeparatedFromTheText(t *testing.T) {
	for line, want := range map[string]Task{
		"- [ ] plain":                     {Text: "plain"},
		"- IN-PROGRESS sand":              {Text: "sand"},
		"- WAIT for it":                   {Text: "for it"},
		"* STARTED glue":                  {Text: "glue"},
		"- [ ] pay due:2026-12-01 rec:1w": {Text: "pay", Due: dayOf("2026-12-01"), Recurs: "1w"},
		"* [X] done ✅ 2026-01-02":         {Text: "done", Done: true, DoneOn: dayOf("2026-01-02")},
		"  + [/] half":                    {Text: "half"},
		"1) [-] not":                      {Text: "not", Cancelled: true},
		"- [ ]":                           {},
		"\t> - [ ] in a quote 🗓️ 2026-03-04":                                                                         {Text: "in a quote", Due: dayOf("2026-03-04")},
		"- [ ] a 📅2026-01-02 b ⏳ 2026-01-01 🛫 2025-12-31 ➕ 2025-12-01 🔺":                                             {Text: "a b", Due: dayOf("2026-01-02"), Scheduled: dayOf("2026-01-01"), Start: dayOf("2025-12-31"), Priority: "🔺"},
		"- [ ] pay [due:: 2026-01-02] (scheduled:: 2026-01-01) [repeat:: every month on the last] [priority:: high]": {Text: "pay", Due: dayOf("2026-01-02"), Scheduled: dayOf("2026-01-01"), Recurs: "every month on the last", Priority: "high"},
		"- [ ] pay due: 2026-01-02": {
			Text: "pay",
			Due:  dayOf("2026-01-02"),
		},
		"- [x] pay due:2026-01-02 done: 2026-01-03": {
			Text: "pay", Done: true,
			Due: dayOf("2026-01-02"), DoneOn: dayOf("2026-01-03"),
		},
		"- [ ] bins 🔁 every week on Tuesday 📅 2026-01-06 ^bins": {
			Text:   "bins",
			Recurs: "every week on Tuesday", Due: dayOf("2026-01-06"),
		},
		"- [ ] no day 📅 2026-02-31": {Text: "no day 📅 2026-02-31"},
		"- [ ] a\u00a0📅\u00a02026-01-02\u3000🔁\u202fevery\u00a0week ⏳\u200b2026-01-01": {
			Text: "a",
			Due:  dayOf("2026-01-02"), Scheduled: dayOf("2026-01-01"), Recurs: "every\u00a0week",
		},
		"- [ ] a [due:: [[2026-01-02]]] [scheduled:: 2026-01-01T10:00]": {
			Text: "a",
			Due:  dayOf("2026-01-02"), Scheduled: dayOf("2026-01-01"),
		},
		"- [ ] a [due:: [[x/2026-01-02|Fri]]] [start:: 2026-01-01 10:00Z]": {
			Text: "a",
			Due:  dayOf("2026-01-02"), Start: dayOf("2026-01-01"),
		},
		"- [ ] a [due:: [2 Jan](x/2026-01-02.md)] (start:: [2026-01-01](x))": {
			Text: "a",
			Due:  dayOf("2026-01-02"), Start: dayOf("2026-01-01"),
		},
		"- [ ] a @{2026-01-02} @@{10:00}": {
			Text: "a",
			Due:  dayOf("2026-01-02"),
		},
		"- [ ] a @{2026-01-02}": {
			Text: "a",
			Due:  dayOf("2026-01-02"),
		}, "- [ ] a @[[2026-01-02]] b": {Text: "a b", Due: dayOf("2026-01-02")},
		"- [ ] a (@2026-01-02 09:00)":          {Text: "a", Due: dayOf("2026-01-02")},
		"- [ ] a 📅 [[2026-01-02]]":             {Text: "a", Due: dayOf("2026-01-02")},
		"- [ ] a me@2026-01-02 [[2026-01-02]]": {Text: "a me@2026-01-02 [[2026-01-02]]"},
		"- [ ] a 🔁 every week on Mon-Fri 📅 2026-01-02 #b": {
			Text: "a #b", Due: dayOf("2026-01-02"),
			Recurs: "every week on Mon-Fri",
		},
		"- [ ] a 🔁 📅 2026-01-02":       {Text: "a", Due: dayOf("2026-01-02"), Recurs: "🔁"},
		"- [ ] a 🔁 every week (or so)": {Text: "a", Recurs: "every week (or so)"},
		"- TODO ring":                  {Text: "ring"},
		"- TODO [#A] ring DEADLINE: <2026-01-02 Fri ++1m>": {
			Text: "ring", Due: dayOf("2026-01-02"),
			Recurs: "every month", Priority: "A",
		},
		"\t- DOING [[Ada]] DEADLINE: <2026-03-14 Sat>": {Text: "[[Ada]]", Due: dayOf("2026-03-14")},
		"- DONE sow SCHEDULED: <2026-03-14 Sat 10:00>": {Text: "sow", Done: true, Scheduled: dayOf("2026-03-14")},
		"- CANCELED dig":                 {Text: "dig", Cancelled: true},
		"- [ ] ids 🆔 abc ⛔ d,e 🏁 delete": {Text: "ids"},
	} {
		want.Raw = line
		got, ok := ParseTasks(line)
		if !ok || got != want {
			t.Errorf("%s\n got %+v\nwant %+v", line, got, want)
		}
	}
	for _, line := range []string{
		"", "- x", "[ ] x", "- [] x", "- [ab] x", "-[ ] x", "- [ ](x)", "# - [ ] x",
		"text - [ ] x", "- [x]y",
	} {
		if task, ok := ParseTasks(line); ok {
			t.Errorf("%q is read as the task %+v", line, task)
		}
	}
}

func TestDoneTaskIsTickedAndRecurs(t *testing.T) {
	for _, each := range []struct{ line, ticked, next string }{
		{"- [ ] a", "- [x] a ✅ 2026-10-07", ""},
		{"  * [/] a 📅 2026-10-01 ^id", "  * [x] a 📅 2026-10-01 ✅ 2026-10-07 ^id", ""},
		{"- [ ] a [due:: 2026-10-01]", "- [x] a [due:: 2026-10-01] [completion:: 2026-10-07]", ""},
		{"- [ ] a due: 2026-10-01", "- [x] a due: 2026-10-01 done: 2026-10-07", ""},
		{
			"> - [ ] a 🔁 every week 🛫 2026-09-28 📅 2026-10-01 🆔 x1 ^id",
			"> - [x] a 🔁 every week 🛫 2026-09-28 📅 2026-10-01 🆔 x1 ✅ 2026-10-07 ^id",
			"> - [ ] a 🔁 every week 🛫 2026-10-05 📅 2026-10-08",
		},
		{
			"- [ ] a [repeat:: every 2 days when done] [due:: 2026-10-01]",
			"- [x] a [repeat:: every 2 days when done] [due:: 2026-10-01] [completion:: 2026-10-07]",
			"- [ ] a [repeat:: every 2 days when done] [due:: 2026-10-09]",
		},
		{"- [ ] a 🔁 every day", "- [x] a 🔁 every day ✅ 2026-10-07", "- [ ] a 🔁 every day"},
		{
			"- [ ] early 🔁 every month on the 8th when done 📅 2026-10-08",
			"- [x] early 🔁 every month on the 8th when done 📅 2026-10-08 ✅ 2026-10-07",
			"- [ ] early 🔁 every month on the 8th when done 📅 2026-11-08",
		},
		{
			"- [ ] early 🔁 every week on Sunday when done ⏳ 2026-10-11",
			"- [x] early 🔁 every week on Sunday when done ⏳ 2026-10-11 ✅ 2026-10-07",
			"- [ ] early 🔁 every week on Sunday when done ⏳ 2026-10-18",
		},
		{"- [ ] a due:2026-10-01 rec:+1m", "- [x] a due:2026-10-01 rec:+1m done: 2026-10-07", ""},
		{"- [ ] a 🔁 whenever", "- [x] a 🔁 whenever ✅ 2026-10-07", ""},
	} {
		task, ok := ParseTasks(each.line)
		if !ok {
			t.Fatalf("%q is no task", each.line)
		}
		if got := task.Ticked(dayOf("2026-10-07")); got != each.ticked {
			t.Errorf("%s\n got %s\nwant %s", each.line, got, each.ticked)
		}
		if got, _ := task.Next(dayOf("2026-10-07"), when.Day{}); got.Raw != each.next {
			t.Errorf("%s\n got %s\nwant %s", each.line, got.Raw, each.next)
		}
	}
}

func TestRecurrenceRulesGiveTheNextDay(t *testing.T) {
	for _, each := range []struct{ rule, from, want string }{
		{"every day", "2026-12-31", "2027-01-01"},
		{"every 3 days", "2026-02-27", "2026-03-02"},
		{"Every Week", "2026-10-01", "2026-10-08"},
		{"every other week", "2026-10-01", "2026-10-15"},
		{"every weekday", "2026-10-02", "2026-10-05"},
		{"every week on Monday, Thursday", "2026-10-01", "2026-10-05"},
		{"every 2 weeks on Monday and Friday", "2026-10-01", "2026-10-02"},
		{"every 2 weeks on Monday", "2026-10-01", "2026-10-12"},
		{"every tuesday", "2026-10-01", "2026-10-06"},
		{"every Mon, Sun", "2026-10-03", "2026-10-04"},
		{"every month", "2026-01-31", "2026-02-28"},
		{"every 3 months", "2026-11-30", "2027-02-28"},
		{"every month on the last", "2026-01-31", "2026-02-28"},
		{"every month on the 31st", "2026-01-31", "2026-03-31"},
		{"every month on the 25th", "2026-01-03", "2026-01-25"},
		{"every month on the 2nd Tuesday", "2026-10-13", "2026-11-10"},
		{"every month on the last Friday", "2026-10-01", "2026-10-30"},
		{"every year", "2028-02-29", "2029-02-28"},
		{"every January on the 4th", "2026-01-04", "2027-01-04"},
		{"every 0 days", "2026-01-01", ""},
		{"every month on the 32nd", "2026-01-01", ""},
		{"every february on the 30th", "2026-01-01", ""},
		{"every blue moon", "2026-01-01", ""},
		{"weekly", "2026-01-01", ""},
		{"every month on the 2nd last", "2026-11-29", "2026-12-30"},
		{"every month on the 1st, 15th and last", "2026-11-15", "2026-11-30"},
		{"every month on the 2nd last Friday", "2026-11-01", "2026-11-20"},
		{"every month on the 1st 2nd", "2026-11-29", ""},
		{"every week on Monday Friday", "2026-11-29", ""},
		{"", "2026-01-01", ""},
	} {
		var got string
		if rule, ok := parseRule(each.rule); ok {
			got = rule.after(dayOf(each.from)).String()
		}
		if got != each.want {
			t.Errorf("%q from %s: got %q, want %q", each.rule, each.from, got, each.want)
		}
	}
}

func TestTickedLineIsStillATask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"- ", "  * ", "> 1. "}).Draw(t, "item") + "[ ] " +
			rapid.StringMatching(`([a-zé東]{1,5} |📅 2026-\d\d-\d\d |🔁 every (day|week|month|2 weeks on Mon) |\[due:: `+
				`2026-0\d-1\d\] |⏫ ){0,6}`).Draw(t, "text")
		task, ok := ParseTasks(line)
		if !ok {
			t.Fatalf("%q is no task", line)
		}
		on := dayOf("2026-10-07").Add(rapid.IntRange(-400, 400).Draw(t, "days"))
		done, ok := ParseTasks(task.Ticked(on))
		if !ok || !done.Done || done.DoneOn != on || done.Text != task.Text || done.Due != task.Due {
			t.Errorf("%q ticked is %+v", line, done)
		}
		if next, ok := task.Next(on, when.Day{}); ok {
			if !next.Open() || next.Text != task.Text || next.Recurs != task.Recurs ||
				!task.Due.IsZero() && !task.Due.Before(next.Due) && !on.Before(next.Due) {
				t.Errorf("%q moves on to %q", line, next.Raw)
			}
		}
	})
}

// The lines below a task of Logseq hold its dates, and move on in place.
func TestPlannedDatesBelowATaskMoveOn(t *testing.T) {
	text := "- TODO one\n  id:: 1\n  :LOGBOOK:\n  CLOCK: [2026-10-01 Thu 10:00:00]\n  :END:\n  SCHEDULED: " +
		"<2026-10-01 Thu 10:30 .+1w/2w>\n" +
		"- NOW two\nDEADLINE: <2026-10-01 Do ++1m -3d>\n- a\n\t- TODO three\n\t  SCHEDULED: <2026-10-01 Thu +1y>\n\t " +
		" DEADLINE: <2026-10-05 Mon>\n\t\t- TODO four\n\n- TODO five\n  SCHEDULED: <2026-10-01 Thu .+4h>\n"
	n := Parse(Entry{Path: "a.md"}, []byte(text))
	var got []string
	for _, task := range n.Tasks {
		next, ok := task.Next(dayOf("2026-10-07"), when.Day{})
		got = append(got, fmt.Sprint(task.Text, " ", task.Due, " ", task.Scheduled, " ", task.Recurs, " ", ok,
			" ", next.Raw, next.Below))
	}
	same(t, "tasks", got, []string{
		"one  2026-10-01 every week true - TODO one\n  id:: 1\n  :LOGBOOK:\n  CLOCK: [2026-10-01 Thu 10:00:00]\n  " +
			":END:\n  SCHEDULED: <2026-10-14 Wed 10:30 .+1w/2w>",
		"two 2026-10-01  every month true - LATER two\nDEADLINE: <2026-11-01 Sun ++1m -3d>",
		"three 2026-10-05 2026-10-01 every year true \t- TODO three\n\t  SCHEDULED: <2027-10-01 Fri +1y>\n\t  " +
			"DEADLINE: <2026-10-05 Mon>",
		"four    false ",
		"five  2026-10-01 .+4h false ",
	})
}

// Only dates, weekdays, the state and what is the done one's own are changed.
func TestRewritingATaskKeepsEveryOtherByte(t *testing.T) {
	changed := regexp.MustCompile(`\d{4}-\d{2}-\d{2}( [A-Z][a-z]{2})?|^(\s*[-*] )(?:\[.\]|[A-Z]+)`)
	mask := func(s string) string { return changed.ReplaceAllString(s, "$2*") }
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"- [ ]", "* [/]", "  - TODO", "- NOW"}).Draw(t, "item")
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			line += rapid.SampledFrom([]string{" ", "\u00a0", "  ", "\t", "\u3000"}).Draw(t,
				"space") + rapid.SampledFrom([]string{
				"é東", "📅 2026-01-02", "[due:: [[2026-01-02|x]]]", "(start::2026-01-02T10:00)", "due: 2026-01-02",
				"@{2026-01-02}", "🔁 every week", "#tag", "⏫", "2026-01-02", "**b**",
				"SCHEDULED: <2026-01-02 Fri 10:00 .+1w>",
			}).Draw(t, "part")
		}
		below := rapid.SampledFrom([]string{"", "\n  text 2026-01-02\n  DEADLINE: <2026-01-02 Fri ++1d -2d>"}).Draw(t,
			"below")
		task, ok := ParseTasks(line + below)
		if !ok {
			t.Fatalf("%q is no task", line)
		}
		on := dayOf("2026-10-07")
		ticked := regexp.MustCompile(` (✅ 2026-10-07|\[completion:: 2026-10-07\]|done: `+
			`2026-10-07)$`).ReplaceAllString(task.Ticked(on), "")
		if got, want := mask(ticked), mask(strings.TrimRightFunc(line, isBlank)); got != want {
			t.Fatalf("%q is ticked as %q", line, task.Ticked(on))
		}
		if next, ok := task.Next(on, when.Day{}); ok && strings.TrimRightFunc(mask(next.Raw),
			isBlank) != strings.TrimRightFunc(mask(line), isBlank) || mask(next.Below) != mask(task.Below) && ok {
			t.Fatalf("%q moves on to %q", line+below, next.Raw+next.Below)
		}
	})
}

func TestMayHoldAnyNeedsACheckbox(t *testing.T) {
	for raw, want := range map[string]bool{
		"- [ ] a": true, "- WAIT a": true, "* IN-PROGRESS a": true, "1. [x] a": true, "- [é] a": true,
		"\xff\xfe-\x00 \x00[\x00 \x00]\x00": true,
		"\xfe\xff\x00-\x00 \x00[\x00x\x00]": true,
		"":                                  false, "a [longer link](b.md) and [[another]]": false, "[]": false,
	} {
		if got := MayHoldAny([]byte(raw)); got != want {
			t.Errorf("%q: got %v, want %v", raw, got, want)
		}
	}
}

func dayOf(text string) when.Day {
	d, err := when.ParseDay(text)
	if err != nil {
		panic(err)
	}
	return d
}
