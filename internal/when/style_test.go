package when

import (
	"strings"
	"testing"
)

func TestStylesOfADay(t *testing.T) {
	for text, want := range map[string]Style{
		"2026-11-11": {Layout: "2006-01-02"}, "11.11.2026": {Layout: "02.01.2006"},
		"📅 20261111":        {Layout: "📅 20060102"},
		"November 11, 2026": {Layout: "January 2, 2006"}, "11. November 2026": {"2. January 2006", true},
		"Wed 11 Nov 2026": {Layout: "Mon 2 Jan 2006"}, "11 Nov": {}, "2026-11": {}, "2026-11-11 x": {}, "": {},
		"Thursday, 2026-11-11": {}, strings.Repeat("11-", 9999) + "2026": {},
	} {
		day := Day{2026, 11, 11}
		if styles := day.Styles(text); len(styles) == 0 && want != (Style{}) || len(styles) > 0 && styles[0] != want {
			t.Errorf("%.30q: %d, want %v", text, len(styles), want)
		}
	}
}
