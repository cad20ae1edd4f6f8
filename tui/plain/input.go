package plain

import (
	"context"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
)

// input asks by lines what a server wants of the user. An empty line leaves a
// value as it is.
func (p *Chat) input(ctx context.Context, asked agent.InputAsked) {
	p.flush()
	in := dialog.Input{}
	in.Ask(asked)
	p.print("%s\n", in.Title())
	for _, text := range []string{asked.Message, asked.URL} {
		if text != "" {
			p.print("  %s\n", safetext.Reveal(text))
		}
	}
	for _, m := range asked.Prompt {
		p.print("  %s: %s\n", safetext.Reveal(string(m.Role)), safetext.Reveal(m.Text))
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
			p.print("  %s: %s\n", field.Label, field.Given())
		}
	}
	switch line, _ := p.pick(ctx, does+" · n decline · empty cancels: ", answers...); {
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
		if !p.fillIn(ctx, f) {
			return
		}
		values := f.Values()
		if asked.Check != nil {
			if err := asked.Check(values); err != nil {
				p.note(err.Error())
				continue
			}
		}
		given = agent.Input{Action: agent.InputAccepted, Values: values}
		return
	}
}

// fillIn asks for each field of a form; false: the user left.
func (p *Chat) fillIn(ctx context.Context, f *dialog.Form) bool {
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
			line, ok := p.ask(ctx, prompt+": ")
			if !ok {
				return false
			}
			if field.Read(strings.TrimSpace(line)) {
				break
			}
			p.note("that is not one of them")
		}
	}
	return true
}
