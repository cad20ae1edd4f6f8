package dialog

import (
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/draw"
)

// Enter approves a plan only once it was visible, all of it, for the quiet period.
func TestPlanIsApprovedOnlyAfterItWasVisible(t *testing.T) {
	var given []agent.Input
	asked := chattest.PlanAsked
	asked.Reply = func(i agent.Input) { given = append(given, i) }
	k, q, theme := draw.DefaultKeys(), &Queue{}, draw.NewTheme("", true, true, nil)
	q.Ask(asked)
	now := time.Now()
	press := func(name string) {
		t.Helper()
		for _, pressed := range boxtest.Presses(name) {
			if cmd, _ := q.Press(pressed, &k, "", now); cmd != nil {
				q.Checked(cmd().(CheckedMsg))
			}
		}
		if q.Open() {
			q.View(60, 9, &k, "", theme, now)
		}
	}
	if shown := strings.Join(q.View(60, 9, &k, "", theme, now), "\n"); strings.Contains(shown, "running/plan.md") {
		t.Fatalf("all is in sight:\n%s", shown)
	}
	press("enter") // on its way when the plan came
	now = now.Add(QuietPeriod)
	press("enter") // its end is not visible
	if len(given) > 0 {
		t.Fatalf("it was approved unread: %+v", given)
	}
	press("ctrl+end")
	press("enter")
	if len(given) != 1 || given[0].Action != agent.InputAccepted ||
		!strings.Contains(string(given[0].Values), `"3.content":"## Shoes\n\n- {{1.text}}"`) {
		t.Errorf("answered %+v", given)
	}
}

func TestChangedPlanFieldsHaveTheirText(t *testing.T) {
	f := NewForm(chattest.PlanAsked.Schema)
	for i := range f.Fields {
		switch f.Fields[i].name {
		case "1":
			f.Fields[i].Read("drop")
		case "2.due":
			f.Fields[i].Line.Text = ""
		case "3.content":
			f.Fields[i].Line.Text += "!"
		}
	}
	for _, want := range []string{
		`"1":"drop"`, `"2.due":""`, `"3.content":"## Shoes\n\n- {{1.text}}!"`,
		`"2.text":"Buy running shoes"`,
	} {
		if got := string(f.Values()); !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}
