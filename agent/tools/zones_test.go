package tools

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/internal/when"
	"lifehub/rag"
)

// What a tool writes, lists and filters by is the day that was said, whatever the clock does on it.
func TestToolsKeepTheDayInEveryZone(t *testing.T) {
	testenv.WithoutRace(t)
	testenv.InEachZone(t, 2026, 2028, func(t *testing.T, days []when.Day) {
		for _, day := range days {
			b := work(t, map[string]string{"tasks.md": "- [ ] b 🔁 every day 📅 " + day.String() + "\n"})
			b.deps.Now = func() time.Time { return day.Begins().Add(time.Minute) }
			b.run("add_task", fmt.Sprintf(`{"text":"a","due":%q}`, day))
			b.run("complete_task", `{"task":"b"}`)
			if got := b.text("tasks.md"); !strings.Contains(got, "- [ ] a 📅 "+day.String()) ||
				!strings.Contains(got, "📅 "+day.Add(1).String()) || !strings.Contains(got, "✅ "+day.String()) {
				t.Errorf("on %v the tasks are\n%s", day, got)
			}
			_, listed := b.run("list_tasks", fmt.Sprintf(`{"query":"after:%s before:%s"}`, day, day.Add(1)))
			if !strings.Contains(listed, "- [ ] a, due today") || strings.Contains(listed, "] b,") {
				t.Errorf("on %v are due: %s", day, listed)
			}
			if q, err := rag.ParseQuery("after:" + day.String()); err != nil || q.After != day {
				t.Errorf("after:%v filters by %v (%v)", day, q.After, err)
			}
		}
	})
}
