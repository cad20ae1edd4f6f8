package rag

import (
	"strings"
	"testing"
	"time"

	"lifehub/internal/when"
	"lifehub/rag/encoder"
)

// "newest", "latest" and "last" before a noun prefer the newest dated line, row or note
// about it.
func TestLastMeansTheNewest(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"log.md": "# Running log\n\n| day | what | km |\n| --- | --- | --- |\n| 2026-11-02 | swim | 2 " +
			"|\n| 2026-11-08 | race | 21 |\n| 2026-11-15 | swim | 1 |\n| 2026-11-29 | race | 10 |\n",
		"daily/2026-10-01.md": "# Thursday\n\nDentist: one filling, the dentist wants me back in a year. Dentist was " +
			"late.\n",
		"daily/2026-11-12.md": "# Thursday\n\nThe dentist found nothing.\n",
		"zahnarzt.md": "# Zahnarzt\n\n- 2026-03-01 eine Krone\n- 2026-09-05 nur geputzt\n- 2026-06-07 " +
			"Kontrolle und Röntgenbild\n",
		"battery.md": "# Battery\n\nThe battery of the lamp should last for a year.\n",
	})
	syncNow(t, x, folder, encoder.Encoder{})
	for question, want := range map[string][2]string{
		"last race":                      {"log.md", "2026-11-08"},
		"when was my latest swim?":       {"log.md", "2026-11-15"},
		"last dentist appointment":       {"daily/2026-11-12.md", ""},
		"newest entry on the dentist":    {"daily/2026-11-12.md", ""},
		"letzter Besuch beim Zahnarzt":   {"zahnarzt.md", "2026-09-05"},
		"how long will the battery last": {"battery.md", ""},
	} {
		found, err := x.Search(t.Context(), Query{
			Text:  question,
			Today: when.DayOf(time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Passages) == 0 || found.Passages[0].Path != want[0] ||
			!strings.Contains(found.Passages[0].Text, want[1]) ||
			want[1] != "" && strings.Count(found.Passages[0].Text, "2026-") != 1 {
			t.Errorf("%s: %+v", question, found.Passages)
		}
	}
}
