package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// input asks by lines what a server wants of the user. An empty line leaves a
// value as it is.
func (p *plain) input(ctx context.Context, asked agent.InputAsked) {
	p.flush()
	in := input{queue: []agent.InputAsked{asked}}
	p.print("%s\n", in.title())
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
	line, ok := p.reply(ctx, "y agree · n no · empty cancels: ")
	switch answer := strings.TrimSpace(line); {
	case !ok || answer == "":
		return
	case answer != "y" && answer != "yes":
		given.Action = agent.InputDeclined
		return
	}
	if asked.Kind != agent.FormInput {
		given.Action = agent.InputAccepted
		return
	}
	for {
		f := newForm(asked.Schema)
		if !p.fillIn(ctx, f) {
			return
		}
		values := f.values()
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
func (p *plain) fillIn(ctx context.Context, f *form) bool {
	for i := range f.fields {
		field := &f.fields[i]
		prompt := field.label
		if field.required {
			prompt += "*"
		}
		if field.help != "" {
			prompt += " (" + field.help + ")"
		}
		for n, o := range field.options {
			prompt += fmt.Sprintf(" %d=%s", n+1, o.label)
		}
		line, ok := p.reply(ctx, prompt+": ")
		if !ok {
			return false
		}
		field.read(strings.TrimSpace(line))
	}
	return true
}

// read takes a typed line; options are chosen by their numbers or names.
func (f *field) read(line string) {
	if line == "" {
		return
	}
	f.touched = true
	if len(f.options) == 0 {
		f.text = safetext.Line(line)
		return
	}
	words := []string{line}
	if f.kind == manyField {
		words = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for i := range f.options {
		o := &f.options[i]
		o.chosen = false
		for _, word := range words {
			if word == fmt.Sprint(i+1) || strings.EqualFold(word, o.label) {
				o.chosen, f.option = true, i
			}
		}
	}
}

// reply writes a prompt and waits for a line; false: there is none. A line
// that was typed before the prompt could be read is no answer to it.
func (p *plain) reply(ctx context.Context, prompt string) (string, bool) {
	for {
		p.print("%s", prompt)
		shown := time.Now()
		select {
		case line, open := <-p.lines:
			if !open {
				return "", false
			}
			p.typedLine(line)
			if p.typed && time.Since(shown) < guard {
				p.note("that line came before the question could be read; answer it now")
				continue
			}
			return line, true
		case <-p.signals:
			p.print("\n")
			return "", false
		case <-ctx.Done():
			return "", false
		}
	}
}
