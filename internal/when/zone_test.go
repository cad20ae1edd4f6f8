package when

import (
	"testing"
	"time"
)

func TestZoneInTheFormOfPOSIX(t *testing.T) {
	summer := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for tz, want := range map[string]string{
		"JST-9": "JST 21:00", "CET-1CEST,M3.5.0,M10.5.0/3": "CEST 14:00", "<-03>3": "-03 09:00",
		":NZST-12NZDT,M9.5.0,M4.1.0/3": "NZST 00:00", "EST5EDT": "EDT 08:00", "Europe/Berlin": "", "UTC": "",
		"": "", "CET-1CEST,x": "",
	} {
		got := ""
		if zone := zoneOf(tz); zone != nil {
			got = summer.In(zone).Format("MST 15:04")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", tz, got, want)
		}
	}
}
