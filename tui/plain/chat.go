package plain

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"lifehub/tui/backend"
	"lifehub/tui/composer"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// pick asks a question that one of some words answers, or an empty line. Any
// other line, and one that came before the question could be read, is the next
// message, and the question is put again; false: see [plain.ask].
func (p *Chat) pick(ctx context.Context, prompt string, answers ...string) (string, bool) {
	for {
		shown := time.Now()
		line, ok := p.ask(ctx, prompt)
		line = strings.TrimSpace(line)
		early := p.Typed && time.Since(shown) < dialog.QuietPeriod
		switch {
		case !ok || !early && (line == "" || slices.Contains(answers, line)):
			return line, ok
		case line != "":
			p.queue = append(p.queue, p.wholeOf(ctx, line))
			p.note("that is no answer; it waits as your next message")
		}
	}
}

// ask writes a prompt and waits for a line; false: there is none, because the
// input ended, the user interrupted the question, or LifeHub ends.
func (p *Chat) ask(ctx context.Context, prompt string) (string, bool) {
	p.print("%s", prompt)
	select {
	case line, open := <-p.Lines:
		if !open {
			p.print("\n")
			return "", false
		}
		p.typedLine(line)
		return line, true
	case s := <-p.Signals:
		p.ending = s != os.Interrupt
		p.print("\n")
		return "", false
	case <-ctx.Done():
		return "", false
	}
}

// Chat is a chat by lines. The fields that are exported are required except
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

	pending   string             // of an answer, what cannot be cleaned yet
	midLine   bool               // the last line written has no end yet
	thinking  bool               // what is being written is a thought
	failed    error              // of writing
	ending    bool               // a signal came that ends LifeHub
	window    transcript.Window  // of the last prompt
	cited     transcript.Sources // of the last answer
	turnID    string             // of the turn that runs, or ran last
	missed    string             // the model that was not there in it
	resumable string             // the last turn, when it did not come to its end
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

// note writes something to know on its own line.
func (p *Chat) note(text string) {
	if text != "" {
		p.flush()
		p.print("note: %s\n", safetext.Line(text))
	}
}

// fail writes an error as a line, and what can be done about it. It ends nothing:
// what it returns is nil.
func (p *Chat) fail(err error) error {
	told := transcript.FailureOf(err)
	p.flush()
	p.print("error: %s\n", safetext.Line(err.Error()))
	if told.Hint != "" {
		p.print("  %s\n", safetext.Line(told.Hint))
	}
	return nil
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

// stream writes the next piece of what the model says or thinks.
func (p *Chat) stream(piece string) {
	p.pending += piece
	n := safetext.Cut(p.pending)
	p.print("%s", safetext.Text(p.pending[:n]))
	p.pending = p.pending[n:]
}

// flush ends what was being written.
func (p *Chat) flush() {
	p.thinking = false
	if p.pending != "" {
		p.print("%s", safetext.Text(p.pending))
		p.pending = ""
	}
	if p.midLine {
		p.print("\n")
	}
}
