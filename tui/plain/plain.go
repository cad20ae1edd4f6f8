// Package plain is the chat by lines, for pipes, dumb terminals and screen
// readers: what the screen draws is written once. Begin reading with [Run].
package plain

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/charmbracelet/x/term"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/terminal"
)

// Run is the chat without a screen: lines in, lines out, nothing is drawn
// twice and no escape sequence is written. It serves pipes, dumb terminals and
// screen readers. It ends when in does, on /quit, or when it is interrupted
// while no turn runs.
func Run(ctx context.Context, options backend.Options, in io.Reader, out io.Writer) (backend.Ended, error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, terminal.Endings...)
	defer signal.Stop(signals)
	p := &Chat{Options: options, Out: out, Lines: Lines(in), Signals: signals}
	if file, ok := in.(*os.File); ok {
		p.Typed = term.IsTerminal(file.Fd())
	}
	return p.Talk(ctx)
}

// Talk asks line by line, until the user leaves.
func (p *Chat) Talk(ctx context.Context) (backend.Ended, error) {
	p.conversation, p.mode = p.Conversation, p.Mode
	err := p.begin(ctx)
	for err == nil && p.failed == nil {
		if err = p.prompt(ctx); p.ending {
			err = leftError{backend.Terminated}
		}
	}
	var left leftError
	switch {
	case errors.As(err, &left):
		return left.how, p.failed
	case err != nil:
		return backend.Quit, err
	}
	return backend.Quit, p.failed
}

// begin goes where the options say.
func (p *Chat) begin(ctx context.Context) error {
	if p.Typed {
		parts := p.now().Parts(draw.Readable)
		p.greeted = len(parts) > 0 && parts[0] == backend.OfflineText
		p.print("%s\n", strings.Join(append([]string{"LifeHub"}, parts...), " · "))
	}
	switch {
	case p.FirstRun && p.Notes != nil && p.Typed:
		p.chooseNotes(ctx)
	case p.FirstRun: // what is piped in are questions
		p.note("no notes yet; `lifehub index DIR` adds a folder")
	case p.Pick && p.Conversations != nil:
		if err := p.listConversations(ctx, ""); err != nil {
			return err
		}
	case p.conversation != "" && p.Conversations != nil:
		p.open(ctx, p.conversation, p.Heading, p.Turn)
	}
	if p.Typed {
		p.print("Type a question and press enter; /help lists the commands.\n")
	}
	if p.Prompt == "" {
		return nil
	}
	p.print("> %s\n", safetext.Text(p.Prompt))
	return p.turn(ctx, p.Prompt)
}

// prompt asks for a line.
func (p *Chat) prompt(ctx context.Context) error {
	p.print("> ")
	if len(p.queue) > 0 {
		line := p.queue[0]
		p.queue = p.queue[1:]
		p.print("%s\n", safetext.Text(line))
		return p.line(ctx, line)
	}
	return p.await(ctx)
}

// await waits for a line and does what it says.
func (p *Chat) await(ctx context.Context) error {
	select {
	case text, open := <-p.Notices:
		if !open {
			p.Notices = nil
		}
		if text == "" || text == backend.OfflineText && p.greeted {
			return p.await(ctx) // the prompt stands
		}
		p.note(text)
		return nil
	case line, open := <-p.Lines:
		if !open {
			p.print("\n")
			return leftError{backend.Quit}
		}
		if refused := backend.NoShell(line); refused != "" {
			p.note(refused)
			return nil
		}
		p.typedLine(line)
		return p.line(ctx, p.wholeOf(ctx, strings.TrimSpace(line)))
	case s := <-p.Signals:
		p.print("\n")
		if s == os.Interrupt {
			return leftError{backend.Interrupted}
		}
		return leftError{backend.Terminated}
	case <-ctx.Done():
		return leftError{backend.Terminated}
	}
}

// line asks what was typed or runs it as a command.
func (p *Chat) line(ctx context.Context, line string) error {
	typed, isCommand := strings.CutPrefix(line, "/")
	switch {
	case line == "":
		return nil
	case !isCommand || strings.Contains(line, "\n"):
		return p.turn(ctx, line)
	}
	name, args, _ := strings.Cut(typed, " ")
	c := backend.Find(panel.Commands(&p.Options), name)
	if c == nil {
		p.print("%s; /help lists them\n", backend.Unknown(panel.Commands(&p.Options), name))
		return nil
	}
	return p.do(ctx, *c, strings.TrimSpace(args))
}
