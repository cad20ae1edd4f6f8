package testenv

import (
	"testing"
	"time"

	"lifehub/internal/when"
)

// zones change their clocks at midnight or at another hour, by an hour or less, twice a year or never, or skipped a
// day.
var zones = []string{
	"America/Santiago", "America/Havana", "Atlantic/Azores", "Africa/Cairo", "Asia/Beirut",
	"America/Asuncion", "Asia/Tehran",
	"Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kiritimati", "America/Los_Angeles", "UTC",
}

// InEachZone runs a test in each of twelve time zones, with the days around each change of its clock in the years
// from one to before another. It sets time.Local, so the test must not be parallel.
func InEachZone(t *testing.T, from, before int, test func(t *testing.T, days []when.Day)) {
	t.Helper()
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Skip(err)
		}
		time.Local = zone
		days := []when.Day{{Year: from, Month: time.November, Day: 20}}
		for at := time.Date(from, 1, 1, 0, 0, 0, 0, zone); ; {
			if _, at = at.ZoneBounds(); at.IsZero() || at.Year() >= before {
				break
			}
			for d := -1; d <= 1; d++ {
				days = append(days, when.DayOf(at).Add(d))
			}
		}
		t.Run(name, func(t *testing.T) { test(t, days) })
	}
}
