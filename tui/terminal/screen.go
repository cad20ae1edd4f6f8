package terminal

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"lifehub/tui/layout"
	"lifehub/tui/renderer"
)

// frame is the minimum time between two frames. A frame after a pause is written at once.
const frame = time.Second / 120

// Screen writes the frames of a program to the terminal as soon as they change, and releases and
// retakes the terminal. It does nothing while nothing changes.
//
// It replaces Bubble Tea's renderer, which checks for changes 60 times a second and rewrites whole
// rows that contain wide characters.
type Screen struct {
	out     io.Writer
	console uv.Console // nil if out is not a terminal
	asks    bool       // the terminal answers queries about its modes
	send    func(tea.Msg)

	mu       sync.Mutex
	renderer renderer.Renderer
	active   bool     // the program has the terminal
	entered  bool     // modes are set
	view     tea.View // as requested
	shown    tea.View // as on the terminal
	clusters bool     // the program has set mode 2027
	drawn    time.Time
	late     *time.Timer // timer of a delayed frame, or nil
}

// Messages handled by the screen. The model does not see them.
type (
	// Output is written to the terminal unchanged.
	Output string
	// Print prints text above the frame, on the normal screen.
	Print string
	// Repaint redraws the frame completely.
	Repaint struct{}
)

// NewScreen returns a screen that writes to a terminal. It does not touch the terminal before
// Enter.
func NewScreen(out io.Writer, environ []string) *Screen {
	s := &Screen{out: out, asks: asksForModes(uv.Environ(environ)), send: func(tea.Msg) {}}
	if file, ok := out.(*os.File); ok && term.IsTerminal(file.Fd()) {
		s.console = uv.NewConsole(os.Stdin, file, environ)
	}
	s.renderer.Profile = colorprofile.Detect(out, environ)
	s.renderer.NoScroll = runtime.GOOS == "windows" // some Windows terminals scroll more than the region
	return s
}

// Size returns the size of the terminal in cells, or 80 by 24 if there is none.
func (s *Screen) Size() (width, height int) {
	if s.console != nil {
		if width, height, err := s.console.GetSize(); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return 80, 24
}

// Write writes to the terminal between two frames.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

// Enter takes the terminal: it is set to raw mode, and the next frame is drawn completely.
func (s *Screen) Enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active {
		return nil
	}
	if s.console != nil {
		if _, err := s.console.MakeRaw(); err != nil {
			return fmt.Errorf("take the terminal: %w", err)
		}
	}
	s.active, s.entered, s.shown = true, false, tea.View{}
	s.renderer.Begin()
	if s.view.Content != "" {
		s.draw()
	}
	return nil
}

// Leave draws the last frame and restores the terminal.
func (s *Screen) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return
	}
	s.draw()
	s.active = false
	if s.entered {
		end := append(s.renderer.End(), s.modes(tea.View{}, false)...)
		if s.clusters {
			end = append(end, ansi.ResetModeUnicodeCore...)
		}
		_, _ = s.out.Write(end) // errors don't matter if the terminal is gone
	}
	if s.console != nil {
		_ = s.console.Restore()
	}
}

// Show shows a view, at once or when the minimum time since the last frame has passed. It uses the
// view's content, cursor, alternate screen, focus reports, mouse, title and progress.
func (s *Screen) Show(view tea.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view = view
	switch wait := frame - time.Since(s.drawn); {
	case s.late != nil:
	case wait <= 0:
		s.draw()
	default:
		s.late = time.AfterFunc(wait, s.showLate)
	}
}

func (s *Screen) showLate() {
	defer func() {
		if fault := recover(); fault != nil { // a panic here would leave the terminal raw
			s.send(tea.QuitMsg{})
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw()
}

// draw writes the changes since the last frame.
func (s *Screen) draw() {
	if s.late != nil {
		s.late.Stop()
		s.late = nil
	}
	if !s.active || s.renderer.Width() <= 0 {
		return
	}
	modes := s.modes(s.view, true)
	picture := s.renderer.Draw(s.view.Content, s.view.Cursor, layout.Method())
	s.shown, s.entered = s.view, true
	switch {
	case len(modes) > 0:
		picture = append(modes, picture...)
	case len(picture) == 0:
		return
	}
	_, _ = s.out.Write(picture) // if the terminal is gone, a read error ends the program
	s.drawn = time.Now()
}

// Keyboard protocols that distinguish Shift+Enter from Enter; terminals ignore unknown ones. Each
// screen of a terminal has its own stack for kitty's protocol.
const (
	keysOn  = ansi.SetModifyOtherKeys2 + "\x1b[>1u"
	keysOff = ansi.ResetModifyOtherKeys + "\x1b[<1u"
)

// modes returns the sequences that change the terminal from the modes of the last frame to those of
// view. inside is false when the program releases the terminal.
func (s *Screen) modes(view tea.View, inside bool) []byte {
	var b strings.Builder
	when := func(changed bool, sequence string) {
		if changed {
			b.WriteString(sequence)
		}
	}
	was, begins := s.shown, !s.entered
	when(was.MouseMode != view.MouseMode && view.MouseMode == tea.MouseModeNone, ansi.ResetModeMouseButtonEvent+ansi.ResetModeMouseExtSgr)
	when(was.ReportFocus && !view.ReportFocus, ansi.ResetModeFocusEvent)
	when(!inside, ansi.ResetModeBracketedPaste)
	when(!begins && (was.AltScreen != view.AltScreen || !inside), keysOff)
	when(was.AltScreen && !view.AltScreen, ansi.ResetModeAltScreenSaveCursor)
	when(!was.AltScreen && view.AltScreen, ansi.SetModeAltScreenSaveCursor+ansi.EraseEntireScreen)
	s.renderer.Show(view.AltScreen)
	when(inside && (begins || was.AltScreen != view.AltScreen), keysOn)
	when(inside && begins, ansi.SetModeBracketedPaste)
	when(view.ReportFocus && !was.ReportFocus, ansi.SetModeFocusEvent)
	when(was.MouseMode != view.MouseMode && view.MouseMode != tea.MouseModeNone, ansi.SetModeMouseButtonEvent+ansi.SetModeMouseExtSgr)
	when(was.WindowTitle != view.WindowTitle, ansi.SetWindowTitle(view.WindowTitle))
	if progress := progressBar(view.ProgressBar); progress != progressBar(was.ProgressBar) {
		b.WriteString(progress)
	}
	if inside && begins {
		b.WriteString(ansi.RequestBackgroundColor)
		when(s.asks, ansi.RequestModeSynchronizedOutput+ansi.RequestModeUnicodeCore)
		when(s.clusters, ansi.SetModeUnicodeCore)
	}
	return []byte(b.String())
}

// progressBar returns the sequence that shows progress in the terminal's tab.
func progressBar(p *tea.ProgressBar) string {
	if p == nil || p.State == tea.ProgressBarNone {
		return ansi.ResetProgressBar
	}
	return ansi.SetProgressBar(p.Value)
}

// Filter handles the messages for the screen. It returns nil if the model must not see msg.
func (s *Screen) Filter(msg tea.Msg) tea.Msg {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch msg := msg.(type) {
	case Output:
		_, _ = io.WriteString(s.out, string(msg))
		return nil
	case Print:
		s.draw()
		if s.entered && !s.shown.AltScreen {
			_, _ = s.out.Write(s.renderer.Above(string(msg)))
			s.draw()
		}
		return nil
	case Repaint:
		s.renderer.Forget()
		s.draw()
		return nil
	case tea.WindowSizeMsg:
		s.renderer.Resize(msg.Width, msg.Height)
	case tea.ColorProfileMsg:
		s.renderer.Profile = msg.Profile
		s.renderer.Forget()
	case tea.ModeReportMsg:
		s.reported(msg)
	}
	return msg
}

// reported records the modes that the terminal supports.
func (s *Screen) reported(msg tea.ModeReportMsg) {
	switch msg.Mode {
	case ansi.ModeSynchronizedOutput:
		s.renderer.Synchronized = msg.Value == ansi.ModeReset
	case ansi.ModeUnicodeCore:
		if msg.Value == ansi.ModeReset && !s.clusters && s.active {
			s.clusters = true
			_, _ = io.WriteString(s.out, ansi.SetModeUnicodeCore)
		}
	}
}

// Resized sends the current size of the terminal to the program.
func (s *Screen) Resized() {
	width, height := s.Size()
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
}

// asksForModes reports whether the terminal can be queried for modes. Apple's prints the query, and
// over SSH the terminal is unknown unless TERM names it.
func asksForModes(environ uv.Environ) bool {
	_, windows := environ.LookupEnv("WT_SESSION")
	_, remote := environ.LookupEnv("SSH_TTY")
	if windows || !remote && !strings.Contains(environ.Getenv("TERM_PROGRAM"), "Apple") {
		return true
	}
	for _, name := range []string{"ghostty", "wezterm", "alacritty", "kitty", "rio"} {
		if strings.Contains(environ.Getenv("TERM"), name) {
			return true
		}
	}
	return false
}
