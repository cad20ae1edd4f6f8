package when

import "testing"

// A question may refer to the time in the previous one.
func TestFollowUpsReferToThePreviousTime(t *testing.T) {
	today := Day{2026, 11, 25} // a Wednesday
	for _, c := range [][3]string{
		{"what did I do last week?", "and the week before?", "9–15 November"},
		{"Was habe ich letzte Woche gemacht?", "und die Woche davor?", "9–15 November"},
		{"what did I do last week?", "and the week after that?", "23–29 November"},
		{"where was I in October?", "what about the month before?", "September"},
		{"where was I in October?", "and the previous month?", "September"},
		{"where was I in October?", "and before?", "September"},
		{"Wo war ich im Oktober?", "und davor?", "September"},
		{"what happened on 5 October?", "and the day after?", "6 October"},
		{"what happened on 5 October?", "two days later?", "7 October"},
		{"what happened on 5 October?", "and what did I eat the day before?", "4 October"},
		{"what happened last year?", "and the year before?", "2024"},
		{"what did I do last week?", "and last month?", "October"},
		{"what did I do last week?", "and in winter?", "1 December 2025 – 28 February 2026"},
		{"how do I bake bread?", "and the week before?", "none"},
		{"what did I do last week?", "how do I write a test before the code?", "none"},
	} {
		got := "none"
		if s, _ := TalkOf([]string{c[0]}, today).In(c[1], today); !s.IsZero() {
			got = s.Words(today)
		}
		if got != c[2] {
			t.Errorf("%s %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
