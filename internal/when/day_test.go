package when

import (
	"encoding/json"
	"testing"
	"time"
)

func TestDayIsReadAndWrittenAsThreeNumbers(t *testing.T) {
	day := Day{2026, time.September, 6}
	raw, err := json.Marshal(map[string]Day{"a": day, "b": {}})
	if err != nil || string(raw) != `{"a":"2026-09-06","b":""}` {
		t.Errorf("got %s %v", raw, err)
	}
	for text, want := range map[string]Day{`"2026-09-06"`: day, `"2026-09-06T00:00:00-03:00"`: day, `""`: {}} {
		var got Day
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %v %v", text, got, err)
		}
	}
	for _, text := range []string{"2026-02-30", "2026-9-6", "06.09.2026", "", "2026-09-06x"} {
		if got, err := ParseDay(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestDaysAreCountedByTheCalendar(t *testing.T) {
	for _, c := range []struct {
		day    Day
		months int
		want   string
	}{
		{Day{2026, time.January, 31}, 1, "2026-02-28"},
		{Day{2024, time.February, 29}, 12, "2025-02-28"},
		{Day{2026, time.March, 31}, -13, "2025-02-28"},
	} {
		if got := c.day.AddMonths(c.months).String(); got != c.want {
			t.Errorf("%v and %d months is %s, want %s", c.day, c.months, got, c.want)
		}
	}
	if day := (Day{2026, time.November, 29}); day.Monday() != (Day{2026, time.November, 23}) ||
		day.Add(2).Since(day) != 2 || day.Compare(Day{}) <= 0 {
		t.Errorf("%v: its Monday is %v", day, day.Monday())
	}
}
