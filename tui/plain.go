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
	"github.com/rivo/uniseg"

	"lifehub/chat"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// RunPlain runs the chat without a screen and without escape sequences, for pipes, dumb terminals and screen readers:
// it reads a line and prints the answer while it arrives. It ends at the end of in, on /quit, or on an interrupt while
// no turn is running.
func RunPlain(ctx context.Context, options chat.Options, in io.Reader, out io.Writer) (chat.Ended, error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endSignals...)
	defer signal.Stop(signals)
	c := &printer{o: options, out: out, lines: linesOf(in), signals: signals}
	if file, ok := in.(*os.File); ok {
		c.typed = term.IsTerminal(file.Fd())
	}
	return c.talk(ctx)
}

// printer is the state of a chat.
type printer struct {
	o       chat.Options
	out     io.Writer
	lines   <-chan string
	signals <-chan os.Signal
	typed   bool     // the input is a terminal, which echoes it
	alone   bool     // questions without a chat: other lines are ignored
	queue   []string // lines that answered no question, sent as the next messages

	conversation string
	mode         string
	status       chat.Status // latest status received
	greeted      bool        // the first line reported that there is no model

	pending  string // end of the streamed text that cannot be sanitised yet
	midLine  bool   // the last line written is incomplete
	thinking bool   // a thought is being written
	failed   error  // first error of writing
	ending   bool   // a signal to end LifeHub has arrived

	resumable string        // the last turn, if it was interrupted
	window    panel.Context // of the last prompt
	view      chat.View     // the last turn
	cited     []chat.Cited  // sources of the last answer
}

// linesOf reads lines until in ends, which also ends its goroutine. A read that
// blocks outlives the chat, so the program has to exit.
func linesOf(in io.Reader) <-chan string {
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

// leftError ends a chat because the user left.
type leftError struct{ how chat.Ended }

func (leftError) Error() string { return "left" }

// talk reads and runs lines until the user leaves.
func (c *printer) talk(ctx context.Context) (chat.Ended, error) {
	c.conversation, c.mode = c.o.Conversation, c.o.Mode
	err := c.begin(ctx)
	for err == nil && c.failed == nil {
		if err = c.next(ctx); c.ending {
			err = leftError{chat.Terminated}
		}
	}
	var left leftError
	switch {
	case errors.As(err, &left):
		return left.how, c.failed
	case err != nil:
		return chat.Quit, err
	}
	return chat.Quit, c.failed
}

// begin opens what the options ask for.
func (c *printer) begin(ctx context.Context) error {
	if c.typed {
		parts := c.now().Parts(draw.Readable)
		c.greeted = len(parts) > 0 && parts[0] == chat.OfflineText
		c.print("%s\n", strings.Join(append([]string{"LifeHub"}, parts...), " · "))
	}
	switch {
	case c.o.FirstRun:
		if c.typed && c.o.Setup != nil {
			found := c.o.Setup.Model(ctx)
			c.print("%s\n", strings.TrimSpace(safetext.Line(found.Detail)+" "+safetext.Line(found.Next)))
		}
		c.note("no notes yet; `lifehub index DIR` adds a folder")
	case c.o.Pick && c.o.Conversations != nil:
		if err := c.resume(ctx, ""); err != nil {
			return err
		}
	case c.conversation != "" && c.o.Conversations != nil:
		c.open(ctx, c.conversation, c.o.Heading, c.o.Turn)
	}
	if c.typed {
		c.print("Type a question and press enter; /help lists the commands.\n")
	}
	if c.o.Prompt == "" {
		return nil
	}
	c.print("> %s\n", safetext.Text(c.o.Prompt))
	return c.turn(ctx, c.o.Prompt)
}

// next reads a line and runs it, or shows a notice.
func (c *printer) next(ctx context.Context) error {
	c.print("> ")
	if len(c.queue) > 0 {
		line := c.queue[0]
		c.queue = c.queue[1:]
		c.print("%s\n", safetext.Text(line))
		return c.line(ctx, line)
	}
	for {
		select {
		case text, open := <-c.o.Notices:
			if !open {
				c.o.Notices = nil
			}
			if text == "" || text == chat.OfflineText && c.greeted {
				continue
			}
			c.note(text)
			return nil
		case line, open := <-c.lines:
			if !open {
				c.print("\n")
				return leftError{chat.Quit}
			}
			if refused := chat.NoShell(line); refused != "" {
				c.note(refused)
				return nil
			}
			c.entered(line)
			return c.line(ctx, c.wholeOf(ctx, strings.TrimSpace(line)))
		case s := <-c.signals:
			c.print("\n")
			if s == os.Interrupt {
				return leftError{chat.Interrupted}
			}
			return leftError{chat.Terminated}
		case <-ctx.Done():
			return leftError{chat.Terminated}
		}
	}
}

// line sends a message or runs a command.
func (c *printer) line(ctx context.Context, line string) error {
	typed, isCommand := strings.CutPrefix(line, "/")
	switch {
	case line == "":
		return nil
	case !isCommand || strings.Contains(line, "\n"):
		return c.turn(ctx, line)
	}
	name, args, _ := strings.Cut(typed, " ")
	command := chat.Find(panel.Commands(&c.o), name)
	if command == nil {
		c.print("%s; /help lists them\n", chat.Unknown(panel.Commands(&c.o), name))
		return nil
	}
	return c.do(ctx, *command, strings.TrimSpace(args))
}

// wholeOf reads the further lines of a message that begins with an opening quote,
// up to the closing one. Any other line is returned unchanged.
func (c *printer) wholeOf(ctx context.Context, line string) string {
	for strings.HasPrefix(line, composer.Quote) && strings.Count(line, composer.Quote)%2 == 1 {
		next, ok := c.ask(ctx, "… ")
		if !ok {
			return ""
		}
		line += "\n" + next
	}
	return composer.Unquoted(line)
}

// now returns the latest status.
func (c *printer) now() chat.Status {
	select {
	case s, open := <-c.o.Status:
		if open {
			c.status = s
		}
	default:
	}
	return c.status
}

// entered records that the user has ended the line of a prompt. It writes the
// line if the input is not a terminal, so that the output is complete.
func (c *printer) entered(line string) {
	if c.typed {
		c.midLine = false // the terminal has shown the line end
		return
	}
	c.print("%s\n", safetext.Line(line))
}

// note writes a notice on its own line.
func (c *printer) note(text string) {
	if text != "" {
		c.flush()
		c.print("note: %s\n", safetext.Line(text))
	}
}

// fail writes an error with its hint. It returns nil, because a failed command
// does not end the chat.
func (c *printer) fail(err error) error {
	failed := transcript.FailureOf(err)
	c.flush()
	c.print("error: %s\n", safetext.Line(err.Error()))
	if failed.Hint != "" {
		c.print("  %s\n", safetext.Line(failed.Hint))
	}
	return nil
}

// print writes text. After the first error, which it saves, it does nothing.
func (c *printer) print(format string, args ...any) {
	if c.failed != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if text != "" {
		c.midLine = !strings.HasSuffix(text, "\n")
	}
	_, c.failed = io.WriteString(c.out, text)
}

// stream writes a piece of the model's answer or thought, but its last character, to which
// the next piece may add.
func (c *printer) stream(piece string) {
	c.pending += piece
	last := 0
	for g := uniseg.NewGraphemes(c.pending); g.Next(); {
		last, _ = g.Positions()
	}
	c.print("%s", safetext.Text(c.pending[:last]))
	c.pending = c.pending[last:]
}

// flush completes the current line.
func (c *printer) flush() {
	c.thinking = false
	if c.pending != "" {
		c.print("%s", safetext.Text(c.pending))
		c.pending = ""
	}
	if c.midLine {
		c.print("\n")
	}
}
