package tui

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
)

// ask writes a prompt and waits for a line. It reports false if the input ended,
// the user interrupted, or LifeHub is shutting down.
func (c *printer) ask(ctx context.Context, prompt string) (string, bool) {
	c.print("%s", prompt)
	select {
	case line, open := <-c.lines:
		if !open {
			c.print("\n")
			return "", false
		}
		c.entered(line)
		return line, true
	case s := <-c.signals:
		c.ending = s != os.Interrupt
		c.print("\n")
		return "", false
	case <-ctx.Done():
		return "", false
	}
}

// pick asks a question until the answer is empty or one of answers, where yes and
// no stand for y and n. Any other line is queued as the next message, as is a line
// sent before the question could be read. It reports false as ask does.
func (c *printer) pick(ctx context.Context, prompt string, answers ...string) (string, bool) {
	for {
		shown := time.Now()
		line, ok := c.ask(ctx, prompt)
		line = strings.TrimSpace(line)
		for _, word := range []string{"yes", "no"} {
			if strings.EqualFold(line, word) && slices.Contains(answers, word[:1]) {
				line = word[:1]
			}
		}
		early := c.typed && time.Since(shown) < dialog.QuietPeriod
		switch {
		case !ok || !early && (line == "" || slices.Contains(answers, line)):
			return line, ok
		case line != "" && c.alone:
			c.note("press y or n, then Enter")
		case line != "":
			c.queue = append(c.queue, c.wholeOf(ctx, line))
			c.note("queued: “" + safetext.Line(line) + "”")
		}
	}
}

// agree asks a yes-or-no question.
func (c *printer) agree(ctx context.Context, question string) bool {
	line, _ := c.pick(ctx, question+" y yes · n no: ", "y", "n")
	return line == "y"
}

// Questions asks on a terminal for permission without a chat.
type Questions struct {
	in   io.Reader
	chat printer
}

// NewQuestions returns questions written to out and answered on in. After the
// first question nothing else may read from in.
func NewQuestions(in io.Reader, out io.Writer) *Questions {
	return &Questions{in, printer{out: out, typed: true, alone: true}}
}

// Permit asks whether a tool may run and replies, unless ctx ends first.
func (q *Questions) Permit(ctx context.Context, asked agent.PermissionAsked) {
	if q.chat.lines == nil {
		q.chat.lines = linesOf(q.in)
	}
	q.chat.permit(ctx, asked)
}

// permit asks whether a tool may run, after a description of the call.
func (c *printer) permit(ctx context.Context, asked agent.PermissionAsked) {
	c.flush()
	c.describe(asked, false)
	prompt, decisions := offeredAnswers(asked, !c.alone)
	for {
		line, ok := c.pick(ctx, prompt+": ", slices.Collect(maps.Keys(decisions))...)
		if ctx.Err() != nil {
			return
		}
		reply := agent.Reply{Decision: decisions[line]}
		switch {
		case !ok:
			reply.Decision = agent.Refuse
		case line == "":
			c.note("press y or n, then Enter")
			continue
		case line == "d":
			c.describe(asked, true)
			continue
		case line == "N":
			reason, _ := c.ask(ctx, "why not: ")
			reply.Reason = strings.TrimSpace(reason)
		}
		asked.Reply(reply)
		return
	}
}

// describe writes a description of the call.
func (c *printer) describe(asked agent.PermissionAsked, details bool) {
	before, after := dialog.Title(asked)
	c.print("%s%s%s\n", before, safetext.Line(asked.Name), after)
	for _, line := range dialog.Describe(asked, details) {
		c.print("  %s\n", strings.ReplaceAll(line.Text, "\n", "\n  "))
	}
}

// offeredAnswers returns the prompt of a permission request and the decision of each
// answer. inChat adds the answers that apply to a chat.
func offeredAnswers(asked agent.PermissionAsked, inChat bool) (prompt string, decisions map[string]agent.Decision) {
	if asked.Unknown {
		return "r run again · n skip · c I checked, it's done · d details", map[string]agent.Decision{
			"r": agent.AllowOnce, "n": agent.Refuse, "c": agent.AlreadyDone, "d": "",
		}
	}
	lasting, refuse := "", "n deny"
	decisions = map[string]agent.Decision{"d": "", "y": agent.AllowOnce, "n": agent.Refuse}
	if inChat { // otherwise nothing reads the reason
		refuse, decisions["N"] = "n deny · N deny and say why", agent.Refuse
	}
	if inChat && (asked.Rule != "" || asked.Destination != "") {
		lasting, decisions["s"] = " · s allow in this chat", agent.AllowConversation
	}
	if asked.Rule != "" {
		lasting += fmt.Sprintf(" · a always allow (%s)", safetext.Reveal(dialog.RuleInWords(asked.Rule)))
		decisions["a"] = agent.AllowAlways
	}
	return "y allow once" + lasting + " · " + refuse + " · d details", decisions
}

// input asks the user to agree, to fill in a form, or to approve a plan, for a
// server or for LifeHub itself.
func (c *printer) input(ctx context.Context, asked agent.InputAsked) {
	c.flush()
	in := dialog.Input{}
	in.Ask(asked)
	c.print("%s\n", in.Title())
	for _, text := range []string{asked.Message, asked.URL} {
		if text != "" {
			c.print("  %s\n", safetext.Reveal(text))
		}
	}
	for _, m := range asked.Prompt {
		c.print("  %s: %s\n", safetext.Reveal(string(m.Role)), safetext.Reveal(m.Text))
	}
	given := agent.Input{Action: agent.InputCancelled}
	defer func() { asked.Reply(given) }()
	does, answers := "y agree", []string{"y", "n"}
	switch asked.Kind {
	case agent.FormInput:
		does = "y fill in"
	case agent.PlanInput:
		does, answers = "y run · e change", append(answers, "e")
		for _, field := range in.Form.Fields {
			c.print("  %s: %s\n", field.Label, field.Given())
		}
	}
	switch line, _ := c.pick(ctx, does+" · n decline · empty cancels: ", answers...); {
	case line == "":
		return
	case line == "n":
		given.Action = agent.InputDeclined
		return
	case line == "y" && asked.Kind != agent.FormInput:
		given.Action = agent.InputAccepted
		return
	}
	for {
		f := dialog.NewForm(asked.Schema)
		if !c.fillIn(ctx, f) {
			return
		}
		values := f.Values()
		if asked.Check != nil {
			if err := asked.Check(values); err != nil {
				c.note(err.Error())
				continue
			}
		}
		given = agent.Input{Action: agent.InputAccepted, Values: values}
		return
	}
}

// fillIn asks for each field of a form; an empty line leaves the value unchanged.
// It reports false as ask does.
func (c *printer) fillIn(ctx context.Context, f *dialog.Form) bool {
	for i := range f.Fields {
		field := &f.Fields[i]
		prompt := field.Label
		if field.Required {
			prompt += "*"
		}
		if field.Help != "" {
			prompt += " (" + field.Help + ")"
		}
		for n, o := range field.Options {
			prompt += fmt.Sprintf(" %d=%s", n+1, o.Label)
		}
		if given := field.Given(); given != "" {
			prompt += " [" + given + "]"
		}
		for {
			line, ok := c.ask(ctx, prompt+": ")
			if !ok {
				return false
			}
			if field.Read(strings.TrimSpace(line)) {
				break
			}
			c.note("that is not one of them")
		}
	}
	return true
}

// useTemplate fills in a server's prompt, asking for the missing values, and sends
// it if the user agrees.
func (c *printer) useTemplate(ctx context.Context, t chat.Template, given string) error {
	blanks := dialog.NewBlanks(t.Blanks, given)
	values := blanks.Given
	if !blanks.Complete() {
		f := dialog.NewForm(blanks.Schema())
		if !c.fillIn(ctx, f) {
			return nil
		}
		var err error
		if values, err = blanks.Read(f.Values()); err != nil {
			return c.fail(err)
		}
	}
	text, err := c.o.Templates.Fill(ctx, t.Name, values)
	if err != nil {
		return c.fail(err)
	}
	c.print("%s", safetext.Text(text))
	c.flush()
	if !c.agree(ctx, "ask that?") {
		return nil
	}
	name := "prompt " + t.Name
	return c.turn(ctx, agent.Message{
		Text:     agent.DoAsAsked("[" + name + "]"),
		Attached: []agent.Attachment{{Name: name, Text: text}},
	}.String())
}
