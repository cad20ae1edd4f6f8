package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// RunPlain is the chat without a screen: lines in, lines out, nothing is drawn
// twice and no escape sequence is written. It serves pipes, dumb terminals and
// screen readers. It ends when in does, on /quit, or when it is interrupted
// while no turn runs.
func RunPlain(ctx context.Context, options Options, in io.Reader, out io.Writer) (Ended, error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endings...)
	defer signal.Stop(signals)
	p := &plain{Options: options, out: out, lines: readLines(in), signals: signals, conversation: options.Conversation}
	if file, ok := in.(*os.File); ok {
		p.typed = term.IsTerminal(file.Fd())
	}
	return p.talk(ctx)
}

// plain is a chat by lines.
type plain struct {
	Options
	out          io.Writer
	lines        <-chan string
	signals      <-chan os.Signal
	typed        bool // a person types the lines, and the terminal shows them
	conversation string
	pending      string // of an answer, what cannot be cleaned yet
	midLine      bool   // the last line written has no end yet
	failed       error  // of writing
	window       window // of the last prompt
	left         string // the last turn, when it did not come to its end
}

// readLines reads lines until in ends. Its goroutine ends with in; while
// nothing arrives it outlives the chat, which is why the program ends next.
func readLines(in io.Reader) <-chan string {
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

// errLeft says that the user left in the middle of a turn.
var errLeft = errors.New("left")

// talk asks line by line.
func (p *plain) talk(ctx context.Context) (Ended, error) {
	if p.Prompt != "" {
		p.print("> %s\n", safetext.Text(p.Prompt))
		if how, err := p.turn(ctx, p.Prompt); err != nil {
			return how, p.ending(err)
		}
	}
	if p.Prompt == "" {
		p.leftOver(ctx)
	}
	if p.FirstRun {
		p.note("no notes are known yet; leave with /quit, and `lifehub index DIR` names a folder of them")
	}
	for p.failed == nil {
		p.print("> ")
		select {
		case text, open := <-p.Notices:
			if !open {
				p.Notices = nil
			}
			p.note(text)
		case line, open := <-p.lines:
			if !open {
				p.print("\n")
				return Quit, p.failed
			}
			p.typedLine(line)
			if over, how, err := p.line(ctx, strings.TrimSpace(line)); over || err != nil {
				return how, p.ending(err)
			}
		case s := <-p.signals:
			p.print("\n")
			if s == os.Interrupt {
				return Interrupted, nil
			}
			return Terminated, nil
		case <-ctx.Done():
			return Terminated, nil
		}
	}
	return Quit, p.failed
}

// leftOver tells of a last turn that LifeHub was stopped in the middle of.
func (p *plain) leftOver(ctx context.Context) {
	if p.conversation == "" || p.Conversations == nil || p.Resume == nil {
		return
	}
	list, err := p.Conversations.Latest(ctx, p.conversation, 1)
	if err != nil || len(list) == 0 {
		return
	}
	switch last := list[len(list)-1]; {
	case last.Running:
		p.note("another LifeHub is at the last question right now")
	case last.Open:
		p.left = last.Turn
		p.note(fmt.Sprintf("the answer to %q was cut off in the middle; /continue goes on with it", fit(safetext.Line(last.Question), 60)))
	}
}

// typedLine ends the line that a prompt began. What came through a pipe is
// written out, so that the output reads as a whole.
func (p *plain) typedLine(line string) {
	if p.typed {
		p.midLine = false // the user ended it
		return
	}
	p.print("%s\n", safetext.Line(line))
}

// note writes something to know on a line of its own.
func (p *plain) note(text string) {
	if text != "" {
		p.flush()
		p.print("note: %s\n", safetext.Line(text))
	}
}

func (p *plain) ending(err error) error {
	if errors.Is(err, errLeft) {
		return nil
	}
	return err
}

// line asks what was typed or runs it as a command.
func (p *plain) line(ctx context.Context, line string) (over bool, how Ended, err error) {
	word, args, _ := strings.Cut(line, " ")
	name, isCommand := strings.CutPrefix(word, "/")
	args = strings.TrimSpace(args)
	switch {
	case line == "":
		return false, Quit, nil
	case !isCommand:
		how, err = p.turn(ctx, line)
	case slices.Contains([]string{"quit", "bye", "exit", "q"}, name):
		return true, Quit, nil
	case name == "continue":
		how, err = p.goOn(ctx)
	default:
		at := slices.IndexFunc(p.Commands, func(c Command) bool { return c.Name == name })
		switch {
		case p.own(ctx, name, args):
		case at < 0:
			p.print("no command is called /%s\n", safetext.Line(name))
		default:
			how, err = p.runCommand(ctx, p.Commands[at], line, args)
		}
	}
	return err != nil, how, err
}

// own runs a command that plain lines have themselves; false: they have none of
// that name.
func (p *plain) own(ctx context.Context, name, args string) bool {
	switch {
	case name == "new" || name == "clear":
		p.conversation = ""
		p.window = window{}
		p.print("a new conversation\n")
	case name == "help":
		p.help()
	case name == "context" && p.window.Agent == "":
		p.print("no prompt was sent yet in this conversation\n")
	case name == "context":
		p.print("%s\n", p.window.copied())
	case name == "stats" && p.Figures != nil:
		p.stats(ctx, args)
	default:
		return false
	}
	return true
}

func (p *plain) help() {
	p.print("Type a question and press enter. Commands: /new /context /quit")
	if p.Resume != nil {
		p.print(" /continue")
	}
	for _, c := range p.Commands {
		p.print(" /%s", c.Name)
	}
	p.print("\nWhile a turn runs, ctrl+c stops it.\n")
}

// goOn goes on with the turn that was cut off.
func (p *plain) goOn(ctx context.Context) (Ended, error) {
	turn := p.left
	if turn == "" {
		p.print("there is nothing to go on with\n")
		return Quit, nil
	}
	p.left = ""
	return p.follow(ctx, func(ctx context.Context) <-chan agent.Event { return p.Resume(ctx, p.conversation, turn) })
}

// runCommand runs a command of another room.
func (p *plain) runCommand(ctx context.Context, c Command, line, args string) (Ended, error) {
	var text string
	var err error
	switch {
	case c.Turn != nil:
		return p.talkBy(ctx, func(ctx context.Context) <-chan agent.Event { return c.Turn(ctx, p.conversation, line, args) })
	case c.Prompt != nil:
		if text, err = c.Prompt(args); err == nil {
			return p.turn(ctx, text)
		}
	default:
		if c.Begin != nil {
			var begin Turn
			if begin, err = c.Begin(ctx, p.conversation, args); begin != nil {
				return p.talkBy(ctx, func(ctx context.Context) <-chan agent.Event { return begin(ctx, p.conversation, line) })
			}
		}
		if err == nil {
			text, err = c.run(ctx, p.conversation, args)
		}
	}
	if err != nil {
		text = "error: " + err.Error()
	}
	p.print("%s\n", safetext.Text(text))
	return Quit, nil
}

// turn asks one question.
func (p *plain) turn(ctx context.Context, question string) (Ended, error) {
	return p.talkBy(ctx, func(ctx context.Context) <-chan agent.Event { return p.Assistant.Ask(ctx, p.conversation, question) })
}

// talkBy begins a turn in a way of its own, in a conversation that is there.
func (p *plain) talkBy(ctx context.Context, begin func(context.Context) <-chan agent.Event) (Ended, error) {
	if p.conversation == "" && p.Conversations != nil {
		id, err := p.Conversations.New(ctx)
		if err != nil {
			return Quit, err
		}
		p.conversation = id
	}
	p.left = ""
	return p.follow(ctx, begin)
}

// follow writes the events of a turn as lines.
func (p *plain) follow(ctx context.Context, begin func(context.Context) <-chan agent.Event) (Ended, error) {
	turnCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := begin(turnCtx)
	stopped := false
	for {
		select {
		case e, open := <-events:
			if !open {
				p.flush()
				return Quit, p.failed
			}
			if asked, ok := e.Body.(agent.PermissionAsked); ok {
				p.permit(turnCtx, asked)
				continue
			}
			if asked, ok := e.Body.(agent.InputAsked); ok {
				p.input(turnCtx, asked)
				continue
			}
			p.show(e)
			if p.failed != nil {
				cancel() // nobody reads on; the turn is read to its end
			}
		case s := <-p.signals:
			cancel()
			if stopped || s != os.Interrupt {
				for range events { // lets the turn save what it has
				}
				if s == os.Interrupt {
					return Interrupted, errLeft
				}
				return Terminated, errLeft
			}
			stopped = true
		}
	}
}

// show writes an event as a line; pieces of the answer as they come.
func (p *plain) show(e agent.Event) {
	if said, ok := e.Body.(agent.Said); ok {
		p.pending += said.Content
		n := safetext.Cut(p.pending)
		p.print("%s", safetext.Text(p.pending[:n]))
		p.pending = p.pending[n:]
		return
	}
	p.flush()
	p.window.count(e.Body)
	switch e := e.Body.(type) {
	case agent.Remembered:
		for _, line := range (&remembered{e}).lines(time.Now()) {
			p.print("%s\n", strings.TrimPrefix(line, "· "))
		}
	case agent.PlanMade:
		for _, s := range e.Steps {
			p.print("plan %s: %s %s\n", safetext.Line(s.ID), safetext.Line(s.Tool), briefInput(s.Input))
		}
	case agent.PhaseStarted:
		if e.Step != "" {
			p.print("%s\n", safetext.Line(fmt.Sprintf("%s worker: attempt %d", e.Agent, e.Attempt)))
		}
	case agent.ArtifactChanged:
		p.print("%s\n", safetext.Line(artifactLine(e)))
	case agent.Evaluated:
		p.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("step %s: attempt %d, score %.2f %s", e.Step, e.Attempt, e.Score, e.Feedback))))
	case agent.StepChanged:
		if e.Status != agent.Pending && e.Status != agent.Running {
			p.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("step %s: %s %s", e.Step, e.Status, e.Reason))))
		}
	case agent.ToolEnded:
		if e.Coverage != nil {
			p.print("%s\n", safetext.Line(e.Coverage.Health()))
		}
	case agent.ToolProgressed:
		p.print("step %s: %s\n", safetext.Line(e.Step), (&call{progress: e.Progress}).far())
	case agent.PermissionGiven:
		p.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("%s %s", e.Decision, e.Reason))))
	case agent.Cited:
		c := cited{e.Citation, e.Source}
		p.print("%s %s %s\n", c.mark(), safetext.Line(c.place()), strings.ReplaceAll(string(c.Verdict), "_", " "))
	case agent.Noticed:
		p.note(e.Text)
	case agent.Failed:
		p.print("error: %s\n", safetext.Line(e.Message))
		if e.Hint != "" {
			p.print("  %s\n", safetext.Line(e.Hint))
		}
	case agent.Ended:
		if e.Interrupted {
			p.print("stopped\n")
		}
	}
}

// flush ends an answer that was being written.
func (p *plain) flush() {
	if p.pending != "" {
		p.print("%s", safetext.Text(p.pending))
		p.pending = ""
	}
	if p.midLine {
		p.print("\n")
	}
}

// permit asks by lines whether a tool may run. All that would run is written
// out before the question. A line that was typed or pasted before the question
// could be read is no answer to it.
func (p *plain) permit(ctx context.Context, asked agent.PermissionAsked) {
	p.flush()
	p.describe(asked)
	for {
		p.print("%s: ", choices(asked))
		shown := time.Now()
		reply := agent.Reply{Decision: agent.Refuse}
		select {
		case line, open := <-p.lines:
			if open {
				p.typedLine(line)
			}
			if open && p.typed && time.Since(shown) < guard {
				p.note("that line came before the question could be read; answer it now")
				continue
			}
			if line = strings.TrimSpace(line); line == "" && open {
				continue
			}
			if line == "e" && !asked.Unknown {
				edited, ok := p.edit(ctx, asked)
				if !ok {
					continue
				}
				reply = edited
				break
			}
			reply = chosen(asked, line)
		case <-p.signals:
			p.print("\n")
		case <-ctx.Done():
			return
		}
		asked.Reply(reply)
		return
	}
}

// describe writes out all that would run.
func (p *plain) describe(asked agent.PermissionAsked) {
	p.print("%s asks to run, %s:\n", safetext.Line(asked.Name), bytes(int64(len(asked.Input))))
	for _, pair := range arguments(asked.Input) {
		p.print("  %s: %s\n", safetext.Reveal(pair.key), safetext.Reveal(exact(pair.value)))
	}
	if asked.Preview.Diff != "" {
		p.print("%s\n%s\n", safetext.Reveal(asked.Preview.Path), safetext.Reveal(asked.Preview.Diff))
	}
	if asked.Preview.Text != "" {
		p.print("%s\n", safetext.Reveal(asked.Preview.Text))
	}
	if asked.Reason != "" && !asked.Unknown {
		p.print("asked because %s\n", safetext.Reveal(asked.Reason))
	}
	if asked.Unknown {
		p.print("LifeHub was stopped while this was under way: whether it happened is not known.\n")
	}
}

// choices are the replies that a question takes.
func choices(asked agent.PermissionAsked) string {
	switch {
	case asked.Unknown:
		return "r run again · n skip · c I checked, it's done"
	case asked.Rule == "":
		return "y once · e edit · n no, or why not"
	}
	return fmt.Sprintf("y once · s this conversation · a always (%s) · e edit · n no, or why not", safetext.Reveal(asked.Rule))
}

// chosen is the reply that a line means. What is no choice is the reason of a no.
func chosen(asked agent.PermissionAsked, line string) agent.Reply {
	decisions := map[string]agent.Decision{"y": agent.AllowOnce, "yes": agent.AllowOnce, "s": agent.AllowConversation, "a": agent.AllowAlways}
	switch {
	case asked.Unknown:
		decisions = map[string]agent.Decision{"r": agent.AllowOnce, "c": agent.AlreadyDone}
	case asked.Rule == "":
		delete(decisions, "s")
		delete(decisions, "a")
	}
	decisions["n"], decisions["no"], decisions[""] = agent.Refuse, agent.Refuse, agent.Refuse
	if decision, ok := decisions[line]; ok {
		return agent.Reply{Decision: decision}
	}
	return agent.Reply{Decision: agent.Refuse, Reason: line}
}

// print writes and remembers the first error.
func (p *plain) print(format string, args ...any) {
	if p.failed == nil {
		text := fmt.Sprintf(format, args...)
		if text != "" {
			p.midLine = !strings.HasSuffix(text, "\n")
		}
		_, p.failed = io.WriteString(p.out, text)
	}
}
