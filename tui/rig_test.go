package tui

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/transcript"
)

// rig plays Bubble Tea by hand inside a synctest bubble: commands run, their
// messages come back, and time passes only when the test says so.
type rig struct {
	t        *testing.T
	m        *Model
	messages chan tea.Msg
	quit     bool
	clip     string
	raw      string // what was sent to the terminal next to the picture
	printed  string // above the picture
	models   map[[2]int]*vt.Emulator
}

// terminal returns the model of an empty terminal of a size. The one before of
// that size is over.
func (r *rig) terminal(width, height int) *vt.Emulator {
	size := [2]int{width, height}
	if r.models == nil {
		r.models = map[[2]int]*vt.Emulator{}
	}
	if r.models[size] == nil { // each takes 4 MB
		r.models[size] = vt.NewEmulator(width, height)
	}
	r.models[size].WriteString(ansi.ResetInitialState)
	return r.models[size]
}

// inRig runs a test against a screen of a size.
func inRig(t *testing.T, width, height int, options chat.Options, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if options.Assistant == nil {
			options.Assistant = &chattest.Script{}
		}
		m, err := New(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, m: m, messages: make(chan tea.Msg, 1<<16)}
		r.send(tea.WindowSizeMsg{Width: width, Height: height})
		r.run(m.Init())
		r.settle()
		test(r)
		cancel()
		time.Sleep(time.Minute) // ticks end; nobody answers them
		synctest.Wait()
	})
}

func (r *rig) send(msg tea.Msg) {
	r.t.Helper()
	switch msg := msg.(type) {
	case tea.BatchMsg:
		for _, cmd := range msg {
			r.run(cmd)
		}
		return
	case tea.RawMsg:
		r.raw += fmt.Sprint(msg.Msg)
		return
	case tea.KeyPressMsg:
		r.m.burst.last = time.Time{} // typed by somebody
	case tea.QuitMsg:
		r.quit = true
		return
	}
	switch v := reflect.ValueOf(msg); v.Type().Name() {
	case "setClipboardMsg":
		r.clip = v.String()
		return
	case "printLineMessage":
		r.printed += v.Field(0).String()
		return
	}
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice && strings.HasSuffix(v.Type().Name(), "equenceMsg") {
		for i := range v.Len() {
			r.run(v.Index(i).Interface().(tea.Cmd))
		}
		return
	}
	_, cmd := r.m.Update(msg)
	r.run(cmd)
}

func (r *rig) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		if msg := cmd(); msg != nil {
			r.messages <- msg
		}
	}()
}

// settle handles messages until none is left.
func (r *rig) settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-r.messages:
			r.send(msg)
		default:
			return
		}
	}
}

// pass lets time pass.
func (r *rig) pass(d time.Duration) {
	r.settle()
	for d > 0 {
		step := min(d, 25*time.Millisecond)
		time.Sleep(step)
		d -= step
		r.settle()
	}
}

// pause lets time pass in one step.
func (r *rig) pause(d time.Duration) {
	time.Sleep(d)
	r.settle()
}

// keys presses keys by name, or a text letter by letter when it is no name.
func (r *rig) keys(names ...string) {
	for _, name := range names {
		for _, pressed := range boxtest.Presses(name) {
			r.send(pressed)
		}
		r.settle()
	}
}

// click presses and lets go the left button of the mouse.
func (r *rig) click(x, y int) { r.drag(x, y, x, y) }

// drag moves the mouse with the left button down.
func (r *rig) drag(x, y, toX, toY int) {
	r.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	if x != toX || y != toY {
		r.send(tea.MouseMotionMsg{X: toX, Y: toY, Button: tea.MouseLeft})
	}
	r.send(tea.MouseReleaseMsg{X: toX, Y: toY, Button: tea.MouseLeft})
	r.settle()
}

// ask types a question and lets the script play.
func (r *rig) ask(question string) {
	r.keys(question, "enter")
	r.pass(100 * time.Millisecond)
}

// text is the screen without its colours.
func (r *rig) text() string {
	lines := strings.Split(ansi.Strip(r.m.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func (r *rig) mustShow(what string) {
	r.t.Helper()
	if !strings.Contains(r.text(), what) {
		r.t.Errorf("the screen does not show %q:\n%s", what, r.text())
	}
}

func (r *rig) mustNotShow(what string) {
	r.t.Helper()
	if strings.Contains(r.text(), what) {
		r.t.Errorf("the screen shows %q:\n%s", what, r.text())
	}
}

// answered is an answer that is there, and why it ends.
func answered(text, ending string) *transcript.Answer {
	a := transcript.NewAnswer()
	a.Grow(text)
	a.End(ending)
	return a
}
