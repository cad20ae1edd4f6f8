package dialog

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/llm"
	"lifehub/tui/boxtest"
	"lifehub/tui/draw"
)

// asked is questions that wait, and the keys that the user presses once they
// take them.
type asked struct {
	questions []agent.Body
	keys      []string
	soon      string // what is pressed before that
}

// TestDialog keeps one golden a dialog's own box, at the height that it has at
// most of a window of 24 rows.
func TestDialog(t *testing.T) {
	stories := map[string]func(t *testing.T, width int) boxtest.Box{}
	for name, a := range askings {
		stories[name] = func(_ *testing.T, width int) boxtest.Box {
			const height = 16
			k := draw.DefaultKeys()
			q := &Queue{}
			drawn := func(width, height int, theme *draw.Theme) []string {
				q.Restyle()
				return q.View(width, height, &k, "", theme, time.Now())
			}
			press := func(name string) {
				for _, pressed := range boxtest.Presses(name) {
					cmd, _ := q.Press(pressed, &k, "", time.Now())
					if cmd == nil {
						continue
					}
					if checked, ok := cmd().(CheckedMsg); ok {
						q.Checked(checked)
					}
				}
				drawn(width, height, draw.NewTheme("", true, true, nil)) // as after every key
			}
			for _, question := range a.questions {
				q.Ask(question)
			}
			press("") // becomes visible
			press(a.soon)
			time.Sleep(QuietPeriod)
			for _, name := range a.keys {
				press(name)
			}
			least := 0
			if q.Permission.Chosen != "" { // a rule that can't be shown is not chosen
				least = 13
			}
			shown := strings.Join(drawn(width, height, draw.NewTheme("", true, true, nil)), "\n")
			reads := scrolls.MatchString(shown)
			return boxtest.Box{Height: height, Least: least, Draw: drawn, Reads: reads}
		}
	}
	boxtest.Boxes(t, stories)
}

// scrolls finds where in a text a question is: not all of it is visible.
var scrolls = regexp.MustCompile(`\d+ of \d+ lines|─ \d+/\d+ ─`)

var askings = map[string]asked{
	"a server asks for values": {questions: []agent.Body{chattest.FormAsked}},
	"a form is filled in": {
		questions: []agent.Body{chattest.FormAsked},
		keys:      []string{"tab", "Ana", "tab", "abc", "tab", "space"},
	},
	"a form does not fit": {
		questions: []agent.Body{chattest.FormAsked},
		keys:      []string{"tab", "enter", "enter", "enter", "enter", "enter", "enter", "enter"},
	},
	"a server wants a page opened": {questions: []agent.Body{pageAsked}},
	"a server wants the model":     {questions: []agent.Body{modelAsked}},
	"a plan is to be approved":     {questions: []agent.Body{chattest.PlanAsked}},
	"a plan is changed": {
		questions: []agent.Body{chattest.PlanAsked},
		keys:      []string{"tab", "right", "down", "down", "down", " and socks"},
	},
	"a changed plan does not fit": {
		questions: []agent.Body{chattest.PlanAsked},
		keys:      []string{"tab", "down", "down", "down", "down", "x", "down", "down", "down", "down", "enter"},
	},
	"a prompt has blanks": {questions: []agent.Body{blanksAsked()}, keys: []string{"tab", "Ham"}},

	"always shows its rule": {questions: []agent.Body{chattest.TaskAsked}, keys: []string{"a"}},
	"a no with a reason": {
		questions: []agent.Body{chattest.TaskAsked},
		keys:      []string{"N", "enter", "not that one"},
	},
	"details of a question": {questions: []agent.Body{chattest.TaskAsked}, keys: []string{"d"}},
	"arguments are edited":  {questions: []agent.Body{pickyTask}, keys: []string{"e", "enter", " and bread"}},
	"a number is edited": {
		questions: []agent.Body{pickyTask},
		keys:      []string{"e", "enter", "tab", "backspace", "many", "enter"},
	},
	"edited arguments do not fit": {
		questions: []agent.Body{pickyTask},
		keys:      []string{"e", "enter", " and wine", "enter"},
	},
	"arguments that mislead": {questions: []agent.Body{misleading}},
	"two questions wait":     {questions: []agent.Body{chattest.TaskAsked, chattest.LongArguments}},
	"the next question": {
		questions: []agent.Body{chattest.TaskAsked, chattest.LongArguments},
		keys:      []string{"tab"},
	},
	"a long question":                {questions: []agent.Body{chattest.LongArguments}},
	"a long question was read":       {questions: []agent.Body{chattest.LongArguments}, soon: "ctrl+end"},
	"what may have happened":         {questions: []agent.Body{chattest.UnknownOutcome}},
	"a note is edited":               {questions: []agent.Body{noteEdited}},
	"the tool of a server is called": {questions: []agent.Body{untrustedCall}, keys: []string{"n"}},
	"a mail is asked about":          {questions: []agent.Body{chattest.MailAsked}},
}

var pageAsked = agent.InputAsked{ID: "1.1", Question: agent.Question{
	From: "bank", Kind: agent.URLInput, Message: "Log in to go on.",
	URL: "https://xn--pypal-4ve.example/login?session=8f3a",
}}

var modelAsked = agent.InputAsked{ID: "1.1", Question: agent.Question{
	From: "everything",
	Kind: agent.SamplingInput, Prompt: []llm.Message{
		{Role: llm.System, Text: "You are a helpful\u202e server."},
		{Role: llm.User, Text: strings.Repeat("Say why.\n", 40)},
	},
}}

func blanksAsked() agent.InputAsked {
	blanks := NewBlanks([]chat.Blank{{Name: "city", Help: "Name of the city", Required: true}, {Name: "state"}}, "")
	return agent.InputAsked{Question: agent.Question{
		From: "everything", Kind: agent.FormInput,
		Message: "A prompt with two arguments", Schema: blanks.Schema(),
	}}
}

// pickyTask is a question whose arguments are checked when they are edited.
var pickyTask = agent.PermissionAsked{
	Step: "1", Call: "p", Name: "add_task", Input: chattest.Raw(`{"text":"Buy milk","days":3}`),
	Reason: "add_task changes your notes",
	Check: func(input json.RawMessage) error {
		if strings.Contains(string(input), "wine") {
			return errors.New("text: no wine in this house")
		}
		return nil
	},
}

// noteEdited changes a note in two places.
var noteEdited = agent.PermissionAsked{
	Step: "1", Call: "e", Name: "edit_note", Input: chattest.Raw(`{"note":"running/plan.md","old":"10 km","new":"12 km"}`), Rule: "allow edit_note", Reason: "no rule for edit_note; it asks by default",
	Preview: agent.Preview{Path: "running/plan.md", Diff: "--- running/plan.md\n+++ running/plan.md\n@@ -11,3 +11,3 " +
		"@@\n ## Weeks\n-- Week 1: 10 km\n+- Week 1: 12 km\n \n@@ -40 +40,2 @@\n ## Rest\n+Monday.\n"},
}

// untrustedCall is a call of a server's tool after text that is not the user's.
var untrustedCall = agent.PermissionAsked{
	Step: "2", Call: "u", Name: "github_create_issue", Input: chattest.Raw(`{"title":"Boiler","body":"The pressure ` +
		`fell to 1.2 bar"}`),
	Reason: "it may send text of your notes to the MCP server github; untrusted text had a part in it: " +
		"https://boiler.example/; no rule for github_create_issue; it asks by default",
	Preview: agent.Preview{Text: "Run create_issue of the server github with:"},
}

// misleading is a call whose arguments look like others.
var misleading = agent.PermissionAsked{
	Step: "1", Call: "m", Name: "web_fetch", Reason: "web_fetch opens an address that is new",
	Input: chattest.Raw(`{"url":"https://p\u0430ypal.example/?d=4711` + strings.Repeat(`\t`, 12) +
		`\u202egnp.exe","n\u200bote":"` + strings.Repeat(`\n`, 40) + `"}`),
	Preview: agent.Preview{Text: "Open a page on p\u0430ypal.example, which learns this whole address"},
}
