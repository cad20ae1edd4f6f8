package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/charmbracelet/x/term"

	"lifehub/tui/backend"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
	"lifehub/tui/terminal"
	"lifehub/tui/transcript"
)

// RunPlain is the chat without a screen: lines in, lines out, nothing is drawn
// twice and no escape sequence is written. It serves pipes, dumb terminals and
// screen readers. It ends when in does, on /quit, or when it is interrupted
// while no turn runs.
func RunPlain(ctx context.Context, options backend.Options, in io.Reader, out io.Writer) (backend.Ended, error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, terminal.Endings...)
	defer signal.Stop(signals)
	p := &Chat{Options: options, Out: out, Lines: Lines(in), Signals: signals}
	if file, ok := in.(*os.File); ok {
		p.Typed = term.IsTerminal(file.Fd())
	}
	return p.Talk(ctx)
}

// Chat is a chat by lines. The fields that are exported are required but for
// Signals.
type Chat struct {
	backend.Options
	Out     io.Writer
	Lines   <-chan string
	Signals <-chan os.Signal
	Typed   bool // a person types the lines, and the terminal shows them

	queue []string // lines that answered no question: the next messages

	conversation string
	mode         string
	status       backend.Status // the last that was told
	greeted      bool           // the first line said that no model answers

	pending  string             // of an answer, what cannot be cleaned yet
	midLine  bool               // the last line written has no end yet
	thinking bool               // what is being written is a thought
	failed   error              // of writing
	ending   bool               // a signal came that ends LifeHub
	window   transcript.Window  // of the last prompt
	cited    transcript.Sources // of the last answer
	turnID   string             // of the turn that runs, or ran last
	missed   string             // the model that was not there in it
	left     string             // the last turn, when it did not come to its end
}

// Lines reads lines until in ends. Its goroutine ends with in; while
// nothing arrives it outlives the chat, which is why the program ends next.
func Lines(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		reader := bufio.NewReader(in)
		for {
			line, err := reader.ReadString('\n')
			if line != "" {
				lines <- strings.TrimRight(line, "\r\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// leftError says that the user left, and how.
type leftError struct{ how backend.Ended }

func (leftError) Error() string { return "left" }

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
		p.note("no notes are known yet; `lifehub index DIR` names a folder of them")
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

// now is the world around the conversation at this moment.
func (p *Chat) now() backend.Status {
	select {
	case s, open := <-p.Status:
		if open {
			p.status = s
		}
	default:
	}
	return p.status
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

// wholeOf is a text of several lines whose first begins with quotes, up to the
// line that ends it; else the line itself.
func (p *Chat) wholeOf(ctx context.Context, line string) string {
	for strings.HasPrefix(line, composer.Quote) && strings.Count(line, composer.Quote)%2 == 1 {
		next, ok := p.ask(ctx, "… ")
		if !ok {
			return ""
		}
		line += "\n" + next
	}
	return composer.Unquoted(line)
}

// typedLine ends the line that a prompt began. What came through a pipe is
// written out, so that the output reads as a whole.
func (p *Chat) typedLine(line string) {
	if p.Typed {
		p.midLine = false // the user ended it
		return
	}
	p.print("%s\n", safetext.Line(line))
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
	c := backend.Find(p.AllCommands(), name)
	if c == nil {
		p.print("no command is called /%s; /help lists them\n", safetext.Line(name))
		return nil
	}
	return p.do(ctx, *c, strings.TrimSpace(args))
}

// note writes something to know on a line of its own.
func (p *Chat) note(text string) {
	if text != "" {
		p.flush()
		p.print("note: %s\n", safetext.Line(text))
	}
}

// fail writes an error as a line, and what can be done about it.
func (p *Chat) fail(err error) {
	told := transcript.FailureOf(err)
	p.flush()
	p.print("error: %s\n", safetext.Line(err.Error()))
	if told.Hint != "" {
		p.print("  %s\n", safetext.Line(told.Hint))
	}
}

// print writes and remembers the first error.
func (p *Chat) print(format string, args ...any) {
	if p.failed == nil {
		text := fmt.Sprintf(format, args...)
		if text != "" {
			p.midLine = !strings.HasSuffix(text, "\n")
		}
		_, p.failed = io.WriteString(p.Out, text)
	}
}
