package when

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTimeExpressions(t *testing.T) {
	today := Day{2026, 3, 18} // a Wednesday
	cases := map[string]string{
		"what did I do yesterday":            "2026-03-17 2026-03-18",
		"today's plan":                       "2026-03-18 2026-03-19",
		"runs last week":                     "2026-03-09 2026-03-16",
		"this week's meals":                  "2026-03-16 2026-03-23",
		"what I spent in February":           "2026-02-01 2026-03-01",
		"the trip in October":                "2025-10-01 2025-11-01",
		"the trip in October 2023":           "2023-10-01 2023-11-01",
		"what did I read lately":             "2026-02-16 2026-03-19",
		"last month":                         "2026-02-01 2026-03-01",
		"this year's goals":                  "2026-01-01 2027-01-01",
		"3 days ago":                         "2026-03-15 2026-03-16",
		"notes of 2026-01-02":                "2026-01-02 2026-01-03",
		"was habe ich gestern gemacht":       "2026-03-17 2026-03-18",
		"what did I do on Thursday":          "2026-03-12 2026-03-13",
		"what happened on Wednesday":         "2026-03-11 2026-03-12",
		"was war am Montag":                  "2026-03-16 2026-03-17",
		"what did we do at the weekend":      "2026-03-14 2026-03-16",
		"last weekend's trip":                "2026-03-14 2026-03-16",
		"plans for this weekend":             "2026-03-21 2026-03-23",
		"what happened on 19 November 2025":  "2025-11-19 2025-11-20",
		"November 19th":                      "2025-11-19 2025-11-20",
		"the 3rd of March":                   "2026-03-03 2026-03-04",
		"mar 3":                              "2026-03-03 2026-03-04",
		"am 3. März":                         "2026-03-03 2026-03-04",
		"Eintrag vom 24.12.2025":             "2025-12-24 2025-12-25",
		"two weeks ago":                      "2026-03-01 2026-03-08",
		"vor drei Tagen":                     "2026-03-15 2026-03-16",
		"what I read in 2024":                "2024-01-01 2025-01-01",
		"week 42 of 2025":                    "2025-10-13 2025-10-20",
		"KW 42/2025":                         "2025-10-13 2025-10-20",
		"2025-W42":                           "2025-10-13 2025-10-20",
		"in 10/2025":                         "2025-10-01 2025-11-01",
		"on 20/10/2025":                      "2025-10-20 2025-10-21",
		"a fortnight ago":                    "2026-03-01 2026-03-08",
		"two fortnights ago":                 "2026-02-15 2026-02-22",
		"vor vierzehn Tagen":                 "2026-03-04 2026-03-05",
		"runs Monday to Tuesday":             "2026-03-16 2026-03-18",
		"January to March 2025":              "2025-01-01 2025-04-01",
		"2024 to 2025":                       "2024-01-01 2026-01-01",
		"October 12th to 14th":               "2025-10-12 2025-10-15",
		"between Christmas and New Year":     "2025-12-24 2026-01-02",
		"since Whitsun":                      "2025-06-08 2026-03-19",
		"around Easter 2025":                 "2025-04-18 2025-04-22",
		"music of the 1980s":                 "1980-01-01 1990-01-01",
		"31 February":                        "none",
		"every Monday":                       "none",
		"on Mondays I run":                   "none",
		"may I use tabs":                     "none",
		"how does march madness work":        "none",
		"the last commit":                    "none",
		"99999999999999999999 days ago":      "none",
		"an invalid date such as 2026-99-99": "none",
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			if got := daysIn(text, today); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// daysIn returns the time of a question as its first day and the day after its
// last.
func daysIn(text string, today Day) string {
	s, _ := In(text, today)
	if s.IsZero() {
		return "none"
	}
	return s.From.String() + " " + s.To.String()
}

// On a Sunday, last week is the week that is ending.
func TestLastWeekOnASunday(t *testing.T) {
	sunday := Day{2026, 11, 22}
	for text, want := range map[string]string{
		"what did I do last week":         "2026-11-16 2026-11-23",
		"was war letzte Woche":            "2026-11-16 2026-11-23",
		"what did I do this week":         "2026-11-16 2026-11-23",
		"the week before last":            "2026-11-09 2026-11-16",
		"what are my plans next week?":    "2026-11-23 2026-11-30",
		"what is due next month?":         "2026-12-01 2027-01-01",
		"was steht im nächsten Monat an?": "2026-12-01 2027-01-01",
		"races next year":                 "2027-01-01 2028-01-01",
	} {
		if got := daysIn(text, sunday); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Longer periods.
func TestLongerPeriods(t *testing.T) {
	today := Day{2026, 3, 18} // a Wednesday
	for text, want := range map[string]string{
		"what did I do the week before last": "2026-03-02 2026-03-09",
		"vorletzte Woche":                    "2026-03-02 2026-03-09",
		"the year before last":               "2024-01-01 2025-01-01",
		"a couple of days ago":               "2026-03-16 2026-03-17",
		"half a year ago":                    "2025-09-01 2025-10-01",
		"in the last three days":             "2026-03-15 2026-03-19",
		"over the past 2 weeks":              "2026-03-04 2026-03-19",
		"in den vergangenen zwei Wochen":     "2026-03-04 2026-03-19",
		"last night's dream":                 "2026-03-17 2026-03-18",
		"plans for this Friday":              "2026-03-20 2026-03-21",
		"next week":                          "2026-03-23 2026-03-30",
		"Tuesday’s meeting":                  "2026-03-17 2026-03-18",
		"on the 25th":                        "2026-02-25 2026-02-26",

		"since May":                           "2025-05-01 2026-03-19",
		"what have I read since last Tuesday": "2026-03-17 2026-03-19",
		"since 2024":                          "2024-01-01 2026-03-19",
		"seit letzter Woche":                  "2026-03-09 2026-03-19",
		"since the beginning of the year":     "2026-01-01 2026-03-19",
		"from January to February":            "2026-01-01 2026-03-01",
		"between March and May 2025":          "2025-03-01 2025-06-01",
		"between Monday and yesterday":        "2026-03-16 2026-03-18",
		"from Monday to Wednesday":            "2026-03-16 2026-03-19",
		"3 March–10 March":                    "2026-03-03 2026-03-11",
		"vom 5.1. bis 7.1.":                   "2026-01-05 2026-01-08",
		"from 2026-01-01 to 2026-02-01":       "2026-01-01 2026-02-02",

		"Q3":                    "2025-07-01 2025-10-01",
		"the Q1 2025 report":    "2025-01-01 2025-04-01",
		"2025-Q4":               "2025-10-01 2026-01-01",
		"third quarter of 2025": "2025-07-01 2025-10-01",
		"last quarter":          "2025-10-01 2026-01-01",
		"last summer":           "2025-06-01 2025-09-01",
		"Sommer 2024":           "2024-06-01 2024-09-01",
		"im letzten Winter":     "2025-12-01 2026-03-01",
		"this winter":           "2025-12-01 2026-03-01",
		"last March":            "2025-03-01 2025-04-01",
		"this March":            "2026-03-01 2026-04-01",
		"Jan 2025":              "2025-01-01 2025-02-01",
		"mid-February":          "2026-02-01 2026-03-01",
		"the last week of June": "2025-06-24 2025-07-01",
		"my notes from 2025-11": "2025-11-01 2025-12-01",

		"spring boot beans":    "none",
		"cat 2026-03-14.md":    "none",
		"see daily/2026-03-14": "none",
		"how do I fall asleep": "none",
		"mark my words":        "none",
		"5 days a week":        "none",
		"see section 3.2.":     "none",
		"hierarchies":          "none",
		"the year 2024 bug":    "none",
		"from a to b":          "none",
		"since when is it so":  "none",
	} {
		t.Run(text, func(t *testing.T) {
			if got := daysIn(text, today); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestTimeWordsTakeAnyText(t *testing.T) {
	pieces := []string{
		"since", "last", "3", "March", "–", "to", "2024", "days ago", "Q3", "上周", "月", "5", "İ",
		"between", "and", "Monday", ".", " ", "'s", "\xff",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		s, _ := In(text, Day{2026, 3, 18})
		if !s.IsZero() && !s.From.Before(s.To) {
			t.Errorf("%q is from %v to %v", text, s.From, s.To)
		}
	})
}

// Before, after and since a time, and holidays.
func TestPeriodsRelativeToATime(t *testing.T) {
	for _, c := range [][3]string{
		{"2026-11-22", "what did I do before Christmas?", "before 24 December"},
		{"2027-01-10", "what did I do before Christmas?", "before 24 December 2026"},
		{"2026-11-22", "what happened at Christmas", "24–26 December 2025"},
		{"2026-11-22", "what did we eat on Christmas Eve 2024", "24 December 2024"},
		{"2027-01-10", "after Christmas", "27 December 2026 – 10 January 2027"},
		{"2027-01-10", "Was habe ich vor Weihnachten gemacht?", "before 24 December 2026"},
		{"2027-01-10", "nach Weihnachten", "27 December 2026 – 10 January 2027"},
		{"2026-11-22", "before October", "before 1 October"},
		{"2026-11-22", "until last week", "before 16 November"},
		{"2026-11-22", "after 2026-11-01", "2–22 November"},
		{"2026-11-22", "was war vor zwei Wochen", "5–11 November"},
		{"2026-11-22", "vor dem Wochenende", "none"},
		{"2026-11-22", "the day before yesterday", "20 November"},
		{"2026-11-22", "the week before last", "9–15 November"},
		{"2026-11-22", "in October", "October"},
		{"2026-11-22", "no, 9–15 November", "9–15 November"},
		{"2026-11-22", "9-15 November 2025", "9–15 November 2025"},
		{"2026-11-22", "vom 9. bis 15. November", "9–15 November"},
		{"2026-11-22", "in October 2024", "October 2024"},
		{"2026-11-22", "last year", "2025"},
		{"2026-11-22", "last 10 days", "12–22 November"},
		{"2026-11-22", "since October", "1 October – 22 November"},
		{"2026-11-22", "Christmas cookies", "none"},
		{"2026-11-22", "before breakfast", "none"},
	} {
		got := wordsFor(t, c[1], c[0])
		if got != c[2] {
			t.Errorf("%s, on %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

func TestADayEndsATask(t *testing.T) {
	today := Day{2026, 11, 26} // a Thursday
	for task, want := range map[string]string{
		"call the plumber tomorrow":             "call the plumber | 2026-11-27",
		"Müll rausbringen bis Freitag":          "Müll rausbringen | 2026-11-27",
		"call Ines by Friday":                   "call Ines | 2026-11-27",
		"call Ines, next Monday":                "call Ines | 2026-11-30",
		"water the plants today":                "water the plants | 2026-11-26",
		"pay the rent due 2026-12-01":           "pay the rent | 2026-12-01",
		"renew the card on 3 December":          "renew the card | 2026-12-03",
		"Mutter anrufen am Freitag":             "Mutter anrufen | 2026-11-27",
		"pay the hotel in two weeks":            "pay the hotel | 2026-12-10",
		"TÜV machen in drei Monaten":            "TÜV machen | 2027-02-26",
		"answer in twelve days":                 "answer | 2026-12-08",
		"say what happened yesterday":           "say what happened yesterday | ",
		"read chapter 3":                        "read chapter 3 | ",
		"tomorrow":                              "tomorrow | ",
		"pay rent 📅 2026-12-01":                 "pay rent 📅 2026-12-01 | ",
		`water plants 🔁 every Sunday`:           `water plants 🔁 every Sunday | `,
		`call mum every second Sunday`:          `call mum every second Sunday | `,
		`call a week from friday`:               `call a week from friday | `,
		`submit a month from today`:             `submit a month from today | `,
		`read Catch 22 in May`:                  `read Catch 22 in May | `,
		`read "The Day After Tomorrow"`:         `read "The Day After Tomorrow" | `,
		`sing Monday or Tuesday`:                `sing Monday or Tuesday | `,
		`holiday from 1 December to 5 December`: `holiday from 1 December to 5 December | `,
		`pay rent (due tomorrow)`:               `pay rent (due tomorrow) | `,
		`gone since Friday`:                     `gone since Friday | `,
		`Müll raus jeden Montag`:                `Müll raus jeden Montag | `,
		`x 📅 2026-12-24 tomorrow`:               `x 📅 2026-12-24 tomorrow | `,
		`open Monday to Friday`:                 `open Monday to Friday | `,
		`visit the day before Christmas`:        "visit | 2026-12-23",
		`🔁 every month on the 3rd`:              `🔁 every month on the 3rd | `,
		"Miete zahlen bis spätestens Freitag":   "Miete zahlen | 2026-11-27",
		"order the Sunday roast tomorrow":       "order the Sunday roast | 2026-11-27",
		"Bericht für März bis Freitag":          "Bericht für März | 2026-11-27",
		"send the Q3 report until Friday":       "send the Q3 report | 2026-11-27",
		"Messe 1. bis 5. Dezember":              "Messe 1. bis 5. Dezember | ",
		"Zahnarzt am 3.12.":                     "Zahnarzt | 2026-12-03",
		"call Tom next week Friday":             "call Tom | 2026-12-04",
		"Buch zurück übernächsten Freitag":      "Buch zurück | 2026-12-04",
		"call the bank a week on Friday":        "call the bank a week on Friday | ",
		"water plants every other Monday":       "water plants every other Monday | ",
		"pay rent monthly on the 1st":           "pay rent monthly on the 1st | ",
		"Müll alle zwei Wochen am Montag":       "Müll alle zwei Wochen am Montag | ",
		"prepare the talk on Black Friday":      "prepare the talk on Black Friday | ",
		"Diät ab Montag":                        "Diät ab Montag | ",
		"reply to the mail from Friday":         "reply to the mail from Friday | ",
		"Protokoll der Sitzung vom 3.12.":       "Protokoll der Sitzung vom 3.12. | ",
		"tell Mia the party is on Friday":       "tell Mia the party is on Friday | ",
		"read Catch 22 tomorrow":                "read Catch 22 | 2026-11-27",
		"plan my week on Monday":                "plan my week | 2026-11-30",
		"return what is due on Friday":          "return what is due | 2026-11-27",
		"":                                      " | ",
	} {
		rest, day := Due(task, today)
		if got := rest + " | " + day.String(); got != want {
			t.Errorf("%q: got %q, want %q", task, got, want)
		}
	}
}

// A weekday alone is the last one in a question, the next in a task, else the nearest.
func TestWeekdayAlone(t *testing.T) {
	for _, c := range []struct {
		today, last, nearest, next Day
	}{
		{Day{2026, 11, 26}, Day{2026, 11, 20}, Day{2026, 11, 27}, Day{2026, 11, 27}}, // a Thursday
		{Day{2026, 11, 27}, Day{2026, 11, 20}, Day{2026, 11, 27}, Day{2026, 12, 4}},
		{Day{2026, 11, 30}, Day{2026, 11, 27}, Day{2026, 11, 27}, Day{2026, 12, 4}},
	} {
		asked, _ := In("on Friday", c.today)
		nearest, _ := DayIn("on Friday", c.today, false)
		next, _ := DayIn("Freitag", c.today, true)
		if asked.From != c.last || nearest != c.nearest || next != c.next {
			t.Errorf("on %s: %s, %s, %s", c.today, asked.From, nearest, next)
		}
	}
}

// Two times side by side are one, or it is not known which of them is meant.
func TestTimesSideBySide(t *testing.T) {
	for question, want := range map[string]string{
		"on Monday, 5 October 2026":        "2026-10-05",
		"am Samstag, den 7. November 2026": "2026-11-07",
		"on Friday the 13th":               "2026-11-13",
		"March of last year":               "2025-03-01",
		"last year in March":               "2025-03-01",
		"im März letzten Jahres":           "2025-03-01",
		"letzte Woche am Freitag":          "2026-11-20",
		"Monday last week":                 "2026-11-16",
		"letztes Weihnachten":              "2025-12-24",
		"last Christmas":                   "2025-12-24",
		"KW 42 letztes Jahr":               "2025-10-13",
		"Q3 last year":                     "2025-07-01",
		"heute vor einem Jahr":             "unread: heute vor einem Jahr",
		"yesterday a week ago":             "unread: yesterday a week ago",
		"on Sunday, 5 October 2026":        "unread: on Sunday, 5 October 2026",
	} {
		s, _ := In("what was it "+question, Day{2026, 11, 26})
		got := s.From.String()
		if s.IsZero() {
			got = "unread: " + Talk{}.Unread(question, Day{2026, 11, 26})
		}
		if got != want {
			t.Errorf("%q: %s, want %s", question, got, want)
		}
	}
}
