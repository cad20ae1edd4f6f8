package when

import "testing"

// What looks like a time and is not read is named; other words are not.
func TestUnreadTimesAreNamed(t *testing.T) {
	today := Day{2026, 11, 25}
	for question, want := range map[string]string{
		"what did I do around harvest?":    "around harvest",
		"3 Tuesdays ago":                   "3 Tuesdays ago",
		"runs in week 60":                  "week 60",
		"31 February":                      "31 February",
		"what was on 45/13/2025":           "45/13/2025",
		"what was on 2026-99-99":           "2026-99-99",
		"how often did I run since we met": "since we met",
		"what did I do before the wedding": "before the wedding",
		"was war vor der Hochzeit":         "vor der Hochzeit",

		"who ran around the lake":        "",
		"what to check before the race":  "",
		"running around 10 days":         "",
		"3/4 cup of milk":                "",
		"the last commit":                "",
		"how do I get back":              "",
		"what did I do around Christmas": "",
		"what is in 12/10/2025.md":       "",
	} {
		if got := (Talk{}).Unread(question, today); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// The locale says whether 12/10/2025 is in October, unless another date of the question does.
func TestOrderOfDayAndMonth(t *testing.T) {
	for env, want := range map[string]order{
		"LC_ALL=en_US.UTF-8": monthFirst, "LC_TIME=de_DE.UTF-8": dayFirst, "LANG=en_GB": dayFirst,
		"LANG=C.UTF-8": monthFirst, "": monthFirst, "LANG=de": unknownOrder,
	} {
		getenv := func(name string) string {
			if len(env) > len(name) && env[:len(name)+1] == name+"=" {
				return env[len(name)+1:]
			}
			return ""
		}
		if got := orderIn(getenv, "linux"); got != want {
			t.Errorf("%s: %d, want %d", env, got, want)
		}
	}
	if got := orderIn(func(string) string { return "" }, "windows"); got != unknownOrder {
		t.Errorf("Windows without a locale: %d", got)
	}
	for text, want := range map[string]map[order]string{
		"12/10/2025":               {dayFirst: "2025-10-12", monthFirst: "2025-12-10", unknownOrder: ""},
		"10/20/25":                 {dayFirst: "2025-10-20", monthFirst: "2025-10-20", unknownOrder: "2025-10-20"},
		"12/10/2025 to 20/10/2025": {dayFirst: "2025-10-12", monthFirst: "2025-10-12", unknownOrder: "2025-10-12"},
	} {
		for in, day := range want {
			got := ""
			r := newReaderIn(text, Day{2026, 11, 25}, -1, in)
			if it, ok := r.at(0, 0); ok {
				got = it.From.String()
			}
			if got != day {
				t.Errorf("%s in order %d: %q, want %q", text, in, got, day)
			}
		}
	}
}
