package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/text"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// shown is what the page shows of an event, as safe text. The JSON of the event has it as "shown".
type shown struct {
	Question string   `json:"question,omitempty"` // begins the turn
	Lines    []string `json:"lines,omitempty"`    // what happened
	Text     string   `json:"text,omitempty"`     // continues the answer
	Answer   *string  `json:"answer,omitempty"`   // replaces the answer
	Sources  []string `json:"sources,omitempty"`  // of the whole answer
	Failed   string   `json:"failed,omitempty"`   // why there is no answer
	Ask      *ask     `json:"ask,omitempty"`      // a question to the user
	Settled  string   `json:"settled,omitempty"`  // ID of a question that was answered
}

// ask is a question to the user.
type ask struct {
	ID      string   `json:"id"`
	Hash    string   `json:"hash,omitempty"` // of exactly what would run
	Title   string   `json:"title"`
	Lines   []line   `json:"lines"`
	Fields  []field  `json:"fields,omitempty"`
	Choices []choice `json:"choices"`
}

// line is one line, or several, of a description, as in the dialog.
type line struct {
	Mark string `json:"mark"`
	Text string `json:"text"`
}

// field is a value to fill in.
type field struct {
	Label    string   `json:"label"`
	Help     string   `json:"help,omitempty"`
	Value    string   `json:"value"`
	Options  []string `json:"options,omitempty"`
	Required bool     `json:"required,omitempty"`
}

// choice is an answer.
type choice struct {
	Decision agent.Decision `json:"decision"`
	Label    string         `json:"label"`
}

// marks are the names of what a line of a description is.
var marks = map[dialog.Mark]string{
	dialog.Plain: "plain", dialog.Sentence: "sentence", dialog.Argument: "argument", dialog.Added: "added",
	dialog.Removed: "removed", dialog.Context: "context", dialog.Warning: "warning", dialog.Detail: "detail",
}

// recordOf returns the JSON of an event that was applied to a view, with what is shown of it.
func recordOf(v *chat.View, e agent.Event) []byte {
	record, err := json.Marshal(e)
	if err != nil {
		slog.Error("write an event for the page", "error", err)
		record = []byte(`{}`)
	}
	more, err := json.Marshal(showEvent(v, e, time.Now()))
	if err != nil || string(more) == "{}" {
		return record
	}
	between := ","
	if string(record) == "{}" {
		between = ""
	}
	return []byte(string(record[:len(record)-1]) + between + `"shown":` + string(more) + "}")
}

// showEvent returns what is shown of an event that was applied to a view.
func showEvent(v *chat.View, e agent.Event, now time.Time) shown {
	s := shown{Lines: v.Lines(e, now)}
	switch body := e.Body.(type) {
	case agent.Started:
		s.Question = readable(body.Message)
	case agent.Said:
		if s.Text = safetext.Text(body.Content); body.Takes > 0 {
			s.Answer = new(safetext.Text(string(v.Answer)))
			s.Text = ""
		}
	case agent.PermissionAsked:
		s.Ask = askPermission(body)
	case agent.PermissionGiven:
		s.Settled = body.Call
	case agent.InputAsked:
		s.Ask = askInput(body)
	case agent.InputGiven:
		s.Settled = body.ID
	case agent.Failed:
		s.Failed = safetext.Text(strings.TrimSpace(body.Message + " " + body.Hint))
		s.Lines = append(s.Lines, effects(body.Effects)...)
	case agent.Ended:
		s.Answer = new(safetext.Text(cmp.Or(body.Answer, string(v.Answer))))
		s.Sources = sources(v.Sources())
		for _, caveat := range body.Caveats() {
			s.Lines = append(s.Lines, safetext.Line(caveat))
		}
		s.Lines = append(s.Lines, effects(body.Effects)...)
	}
	return s
}

func effects(did agent.Effects) []string {
	if len(did) == 0 {
		return nil
	}
	return []string{chat.EffectsLine(did, false)}
}

func sources(cited []chat.Cited) (lines []string) {
	for _, c := range cited {
		lines = append(lines, transcript.Cited(c).InWords())
	}
	return lines
}

// readable returns a question for reading; attachments are named only.
func readable(saved string) string {
	m := agent.ParseMessage(saved)
	for _, a := range m.Attached {
		m.Text += fmt.Sprintf("\n[%s, %s]", a.Name, text.Count(1+strings.Count(a.Text, "\n"), "line"))
	}
	return safetext.Text(m.Text)
}

// askPermission describes a call as the dialog does. A rule that outlasts the conversation is not offered: whoever
// finds the page open could write one.
func askPermission(asked agent.PermissionAsked) *ask {
	before, after := dialog.Title(asked)
	a := &ask{ID: asked.Call, Hash: asked.Hash, Title: before + safetext.Line(asked.Name) + after}
	for _, l := range dialog.Describe(asked, false) {
		a.Lines = append(a.Lines, line{marks[l.Mark], l.Text})
	}
	for _, d := range asked.Answers() {
		if d != agent.AllowAlways {
			a.Choices = append(a.Choices, choice{d, dialog.AnswerLabel(asked, d)})
		}
	}
	return a
}

// accept is the decision that answers a question with its values.
const accept agent.Decision = "accept"

// askInput describes what a server or a plan asks. A server of models is not accepted from the page, for that is
// saved for good.
func askInput(asked agent.InputAsked) *ask {
	in := dialog.Input{}
	in.Ask(asked)
	a := &ask{ID: asked.ID, Title: in.Title()}
	add := func(mark dialog.Mark, text string) {
		if text != "" {
			a.Lines = append(a.Lines, line{marks[mark], safetext.Reveal(text)})
		}
	}
	add(dialog.Plain, asked.Message)
	add(dialog.Argument, asked.URL)
	for _, m := range asked.Prompt {
		add(dialog.Detail, string(m.Role)+":")
		add(dialog.Plain, m.Text)
	}
	if in.Form != nil {
		for _, f := range in.Form.Fields {
			shown := field{Label: f.Label, Help: f.Help, Value: f.Given(), Required: f.Required}
			for _, o := range f.Options {
				shown.Options = append(shown.Options, o.Label)
			}
			a.Fields = append(a.Fields, shown)
		}
	}
	decline := choice{agent.Refuse, "Decline"}
	switch asked.Kind {
	case agent.ServerInput:
		add(dialog.Warning, "This is saved for good, so only the terminal can agree to it.")
		a.Choices = []choice{decline}
	case agent.PlanInput:
		a.Choices = []choice{{accept, "Run"}, decline}
	case agent.FormInput:
		a.Choices = []choice{{accept, "Send"}, decline}
	default:
		a.Choices = []choice{{accept, "Agree"}, decline}
	}
	return a
}

// answer is what a page sends about a question.
type answer struct {
	ID       string         `json:"id"`
	Hash     string         `json:"hash"`
	Decision agent.Decision `json:"decision"`
	Reason   string         `json:"reason"`
	Values   []string       `json:"values"` // of the fields, in order
}

// Errors of answers that have no effect.
var (
	errAnswered   = errors.New("it was answered already, here or in the terminal")
	errOther      = errors.New("this is not what would run now; look at it again")
	errNotOffered = errors.New("that answer is not offered")
)

// maxReason bounds the reason for a refusal, in bytes.
const maxReason = 1000

// answer answers a question, if nobody did before. Only what the page was offered counts, and only about the
// arguments that it showed.
func (q *question) answer(given answer) error {
	offered := q.describe()
	if given.Hash != offered.Hash {
		return errOther
	}
	known := false
	for _, c := range offered.Choices {
		known = known || c.Decision == given.Decision
	}
	if !known {
		return errNotOffered
	}
	if q.permission != nil {
		if !q.first() {
			return errAnswered
		}
		reason := text.Clip(strings.TrimSpace(given.Reason), maxReason)
		q.permission.Reply(agent.Reply{Decision: given.Decision, Reason: reason})
		return nil
	}
	reply := agent.Input{Action: agent.InputDeclined}
	if given.Decision == accept {
		reply.Action = agent.InputAccepted
		var err error
		if reply.Values, err = q.values(given.Values); err != nil {
			return err
		}
	}
	if !q.first() {
		return errAnswered
	}
	q.input.Reply(reply)
	return nil
}

func (q *question) describe() *ask {
	if q.permission != nil {
		return askPermission(*q.permission)
	}
	return askInput(*q.input)
}

// values returns what was filled in, if it fits.
func (q *question) values(given []string) (json.RawMessage, error) {
	in := dialog.Input{}
	if in.Ask(*q.input); in.Form == nil {
		return nil, nil
	}
	for i := range in.Form.Fields {
		f := &in.Form.Fields[i]
		if i < len(given) && !f.Read(strings.TrimSpace(given[i])) {
			return nil, fmt.Errorf("%s: %q is none of its values", f.Label, text.Clip(given[i], 40))
		}
	}
	values := in.Form.Values()
	if q.input.Check == nil {
		return values, nil
	}
	return values, q.input.Check(values)
}
