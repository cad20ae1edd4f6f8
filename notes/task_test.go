package notes

import (
	"testing"

	"pgregory.net/rapid"

	"lifehub/internal/when"
)

func TestFieldsAreSeparatedFromTheText(t *testing.T) {
	for line, want := range map[string]Task{
		"- [ ] plain":             {Text: "plain"},
		"* [X] done ✅ 2026-01-02": {Text: "done", Done: true, DoneOn: dayOf("2026-01-02")},
		"  + [/] half":            {Text: "half"},
		"1) [-] not":              {Text: "not", Cancelled: true},
		"- [ ]":                   {},
		"\t> - [ ] in a quote 🗓️ 2026-03-04":                                                                         {Text: "in a quote", Due: dayOf("2026-03-04")},
		"- [ ] a 📅2026-01-02 b ⏳ 2026-01-01 🛫 2025-12-31 ➕ 2025-12-01 🔺":                                             {Text: "a b", Due: dayOf("2026-01-02"), Scheduled: dayOf("2026-01-01"), Start: dayOf("2025-12-31"), Priority: "🔺"},
		"- [ ] pay [due:: 2026-01-02] (scheduled:: 2026-01-01) [repeat:: every month on the last] [priority:: high]": {Text: "pay", Due: dayOf("2026-01-02"), Scheduled: dayOf("2026-01-01"), Recurs: "every month on the last", Priority: "high"},
		"- [ ] pay due: 2026-01-02":                             {Text: "pay", Due: dayOf("2026-01-02")},
		"- [x] pay due:2026-01-02 done: 2026-01-03":             {Text: "pay", Done: true, Due: dayOf("2026-01-02"), DoneOn: dayOf("2026-01-03")},
		"- [ ] bins 🔁 every week on Tuesday 📅 2026-01-06 ^bins": {Text: "bins", Recurs: "every week on Tuesday", Due: dayOf("2026-01-06")},
		"- [ ] no day 📅 2026-02-31":                             {Text: "no day 📅 2026-02-31"},
		"- TODO ring":                                           {Text: "ring"},
		"\t- DOING [[Ada]] DEADLINE: <2026-03-14 Sat>":          {Text: "[[Ada]]", Due: dayOf("2026-03-14")},
		"- DONE sow SCHEDULED: <2026-03-14 Sat 10:00>":          {Text: "sow", Done: true, Scheduled: dayOf("2026-03-14")},
		"- CANCELED dig":                                        {Text: "dig", Cancelled: true},
		"- [ ] ids 🆔 abc ⛔ d,e 🏁 delete":                        {Text: "ids"},
	} {
		want.Raw = line
		got, ok := ParseTasks(line)
		if !ok || got != want {
			t.Errorf("%s\n got %+v\nwant %+v", line, got, want)
		}
	}
	for _, line := range []string{"", "- x", "[ ] x", "- [] x", "- [ab] x", "-[ ] x", "- [ ](x)", "# - [ ] x", "text - [ ] x", "- [x]y"} {
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
		line := rapid.SampledFrom([]string{"- ", "  * ", "> 1. "}).Draw(t, "item") + "[ ] " + rapid.StringMatching(`([a-zé東]{1,5} |📅 2026-\d\d-\d\d |🔁 every (day|week|month|2 weeks on Mon) |\[due:: 2026-0\d-1\d\] |⏫ ){0,6}`).Draw(t, "text")
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
			if !next.Open() || next.Text != task.Text || next.Recurs != task.Recurs || !task.Due.IsZero() && !task.Due.Before(next.Due) && !on.Before(next.Due) {
				t.Errorf("%q moves on to %q", line, next.Raw)
			}
		}
	})
}

func TestMayHoldAnyNeedsACheckbox(t *testing.T) {
	for raw, want := range map[string]bool{
		"- [ ] a": true, "1. [x] a": true, "- [é] a": true, "\xff\xfe-\x00 \x00[\x00 \x00]\x00": true, "\xfe\xff\x00-\x00 \x00[\x00x\x00]": true,
		"": false, "a [longer link](b.md) and [[another]]": false, "[]": false,
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
