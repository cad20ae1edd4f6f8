package notes

import "testing"

func TestDateInFindsTheDayInAName(t *testing.T) {
	for name, want := range map[string]string{
		"2026-03-14.md": "2026-03-14", "journals/2026_03_14.md": "2026-03-14", "20260314.md": "2026-03-14",
		"202603141530 zettel.md": "2026-03-14",
		"2026-03-14 Dinner.md":   "2026-03-14", "Dinner 2026.03.14.md": "2026-03-14", "2026-W11.md": "2026-03-09",
		"2026-W01.md": "2025-12-29", "week 2026w53.md": "2026-12-28",
		"2026-03.md": "2026-03-01", "daily/2026/03/14.md": "2026-03-14", "2026/2026-03/14.md": "2026-03-14",
		"27.11.2026.md": "2026-11-27", "November 27, 2026.md": "2026-11-27",
		"27. November 2026 (Freitag).md": "2026-11-27",
		"March 2026.md":                  "", "Trip of 27.11.2026.md": "",
		"2026-02-30.md": "", "call 491761234567.md": "", "1234567890.md": "", "9999-01-01.md": "", "2025-W53.md": "",
		"2026.md": "", "v2026-3-1.md": "", "2026-03_14.md": "",
	} {
		got := ""
		if day, ok := DateIn(name); ok {
			got = day.Format("2006-01-02")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
