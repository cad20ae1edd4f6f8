package tui

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/panel"

	"lifehub/internal/testenv"
)

// fits checks a picture against its window.
func (r *rig) fits(what string, width, height int) {
	r.t.Helper()
	if width == 0 { // the terminal does not say
		width = 80
	}
	if height == 0 {
		height = 24
	}
	content := r.m.View().Content
	if content == "" {
		return
	}
	lines := strings.Split(content, "\n")
	if len(lines) > height {
		r.t.Errorf("%s at %d×%d: %d rows", what, width, height, len(lines))
	}
	for _, line := range lines {
		if got := draw.Width(line); got > width {
			r.t.Errorf("%s at %d×%d: a row is %d wide: %q", what, width, height, got, ansi.Strip(line))
			return
		}
	}
	if cursor := r.m.View().Cursor; cursor != nil && (cursor.X < 0 || cursor.X >= width ||
		cursor.Y < 0 || cursor.Y >= height) {
		r.t.Errorf("%s at %d×%d: the cursor is at %d,%d", what, width, height, cursor.X, cursor.Y)
	}
}

var sizes = [][2]int{
	{0, 0},
	{1, 0},
	{0, 1},
	{1, 1},
	{2, 1},
	{1, 2},
	{2, 2},
	{3, 3},
	{5, 2},
	{2, 9},
	{7, 4},
	{9, 5},
	{10, 10},
	{12, 6},
	{13, 7},
	{20, 3},
	{23, 8},
	{24, 9},
	{25, 30},
	{40, 12},
	{59, 13},
	{60, 24},
	{80, 24},
	{100, 5},
	{120, 40},
	{200, 60},
	{300, 10},
	{300, 80},
	{500, 300},
}

// TestEveryScreenFitsEverySize changes the size of every screen and dialog a
// hundred times, to sizes of all kinds and to any: nothing breaks, and back at
// the first size the picture is the first one.
func TestEveryScreenFitsEverySize(t *testing.T) {
	testenv.WithoutRace(t)
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			inRig(t, 80, 24, scene.options(), func(r *rig) {
				scene.play(r)
				first := r.text()
				any := rand.New(rand.NewPCG(1, 2))
				for range testenv.Rounds(12, 40) {
					width, height := any.IntN(501), any.IntN(301)
					r.send(tea.WindowSizeMsg{Width: width, Height: height})
					r.fits(name, width, height)
				}
				r.send(tea.WindowSizeMsg{Width: 80, Height: 24})
				// what was visible once is read, and a question begins at its beginning
				if last := r.text(); last != first && !scrolls.MatchString(first) {
					t.Errorf("after many sizes the picture is\n%s\nbefore it was\n%s", last, first)
				}
				for range 1 {
					for _, size := range sizes {
						r.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
						r.fits(name, size[0], size[1])
					}
					for i := len(sizes) - 1; i >= 0; i-- {
						r.send(tea.WindowSizeMsg{Width: sizes[i][0], Height: sizes[i][1]})
						r.fits(name, sizes[i][0], sizes[i][1])
						r.keys("pgdown")
					}
				}
			})
		})
	}
}

// scrolls finds where in a text a question is: not all of it is visible.
var scrolls = regexp.MustCompile(`\d+ of \d+ lines|─ \d+/\d+ ─`)

// hostile are texts that would do something to a terminal.
var hostile = []string{
	"\x1b[2J\x1b[H", "\x1b]0;owned\x07", "\x1b]52;c;aGk=\x07", "\x1b[31;1;5mred", "\x9b2J",
	"\x1bP1$r\x1b\\", "\x1b_x\x1b\\",
	"\x1b[" + strings.Repeat("1;", 40) + "m", "\x1b[" + strings.Repeat("1:", 60), "\x1b[?1049l", "\x1b[6n", "\x1bc",
	"\x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07",
	"\a\b\v\f\r\x00\x7f", "\u202eright to left\u202c", "a\u200bb\ufeff", "\U000e0041\U000e0042", "&#27;[2J &#7;",
	"\xff\xfe\xc3\x28", "\u2028\u2029\u0085",
	"```\n\x1b[2J\n```", "[x](javascript:alert)", "<b>\x1b]0;t\x07</b>", "|a\x1b[2J|b|\n|-|-|\n|\x1b[H|c|",
	"👩‍👩‍👧‍👦 🇩🇪 e" + strings.Repeat("\u0301", 60), "漢字かな交じり文" + strings.Repeat("漢", 300), "שלום עולם",
}

// onlyOurs fails when anything but text, colours and links to the web is in a
// picture.
func onlyOurs(t *testing.T, what, content string) {
	t.Helper()
	rest := content
	for rest != "" {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			t.Errorf("%s: an invalid byte in %q", what, content)
			return
		case r == 0x1b:
			if n := sgr(rest); n > 0 {
				size = n
				break
			}
			if n := link(rest); n > 0 {
				size = n
				break
			}
			t.Errorf("%s: a sequence that is not ours: %.40q", what, rest)
			return
		case r == '\n':
		case r < ' ', r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029', unicode.Is(unicode.Bidi_Control, r),
			r >= 0xe0000 && r < 0xe0080, r == 0x200b, r == 0xfeff:
			t.Errorf("%s: %U in the picture", what, r)
			return
		}
		rest = rest[size:]
	}
}

// sgr returns the length of a colour sequence at the start of s, or 0.
func sgr(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	end := strings.IndexFunc(s[2:], func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if end < 0 || s[2+end] != 'm' || strings.ContainsAny(s[2:2+end], "8") && strings.Trim(s[2:2+end], "8") == "" {
		return 0
	}
	return end + 3
}

// link returns the length of a link sequence at the start of s, or 0.
func link(s string) int {
	for _, start := range []string{"\x1b]8;;", "\x1b]8;"} {
		if !strings.HasPrefix(s, start) {
			continue
		}
		end := strings.IndexAny(s[1:], "\x07\x1b")
		if end < 0 || strings.Contains(s[:end+1], "javascript") {
			return 0
		}
		if s[end+1] == 0x1b {
			return end + 3
		}
		return end + 2
	}
	return 0
}

func TestHostileTextIsOnlyText(t *testing.T) {
	testenv.WithoutRace(t)
	for i, evil := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			o := chattest.WithEverything()
			o.Assistant = chattest.Hold(chattest.SayEverywhere(evil)...)
			o.Mode = evil
			o.Commands = []chat.Command{{Name: "page", Help: evil, Args: evil}}
			inRig(t, 60, 40, o, func(r *rig) {
				r.ask("go")
				look := func(what string) {
					for _, size := range [][2]int{{60, 40}, {21, 17}, {140, 90}} {
						r.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
						onlyOurs(t, what, r.m.View().Content)
						onlyOurs(t, what+" title", r.m.View().WindowTitle)
						r.fits(what, size[0], size[1])
					}
				}
				look("asked")
				r.pass(dialog.QuietPeriod)
				r.keys("d", "pgdown", "pgdown")
				look("details")
				r.pass(dialog.QuietPeriod)
				r.keys("N", "enter", evil)
				r.send(tea.PasteMsg{Content: evil})
				r.keys("enter", "ctrl+o")
				look("unfolded")
				r.keys("esc", "ctrl+c", "ctrl+c")
				r.send(statusMsg{Provider: "ollama", Model: evil, Notes: 3})
				r.send(noticeMsg(evil))
				r.send(panel.PageMsg{Text: evil})
				r.send(panel.PageMsg{Err: fmt.Errorf("%s", evil)})
				r.send(conversationMsg{
					ID: "c1", Title: evil,
					Exchanges: []agent.Exchange{{Question: evil, Answer: agent.Answer{Text: evil, Error: evil}}},
				})
				look("opened")
				r.send(tea.PasteMsg{Content: evil + strings.Repeat("\n", 50) + evil})
				look("pasted")
				r.m.composer.Clear()
				r.send(panel.OpenMsg{Panel: &panel.Picker{Title: "x", Rows: []draw.Row{{Label: evil, Detail: evil}}}})
				r.keys(evil)
				look("picked")
				r.keys("esc")
				r.m.pull = &pull{model: evil, step: pullStep{status: evil}, stop: func() {}}
				look("pulling")
				r.m.pull = nil
				r.m.composer.History = []string{evil}
				r.keys("up", "up")
				look("history")
				r.m.hint = evil
				look("hint")
				r.pass(time.Second)
			})
		})
	}
}

// TestNothingUnseenIsApproved presses the key that agrees at every
// turn, in windows of all small sizes: it does nothing before each line of what
// is asked was on the screen.
func TestNothingUnseenIsApproved(t *testing.T) {
	testenv.WithoutRace(t)
	for _, size := range [][2]int{
		{1, 1},
		{2, 2},
		{3, 9},
		{5, 2},
		{8, 3},
		{10, 4},
		{12, 8},
		{20, 1},
		{20, 2},
		{20, 3},
		{20, 5},
		{24, 6},
		{30, 4},
		{30, 8},
		{60, 5},
	} {
		t.Run(fmt.Sprintf("%d×%d", size[0], size[1]), func(t *testing.T) {
			question, replies := chattest.Asked(chattest.TaskAsked)
			watchAgreeing(t, size, chattest.WithWorld(chattest.Hold(question)), func(m *Model) (lines []string) {
				for _, line := range m.asks.Permission.Body {
					lines = append(lines, line.Text)
				}
				return lines
			}, func() bool { return len(*replies) > 0 && (*replies)[0].Decision != agent.Refuse })
			page, given := chattest.AsksFor(agent.InputAsked{
				ID: "1.1",
				Question: agent.Question{
					From: "bank", Kind: agent.URLInput, Message: "Log in to go on.",
					URL: "https://xn--pypal-4ve.example/login?session=8f3a",
				},
			})
			watchAgreeing(t, size, page, func(m *Model) (lines []string) {
				for _, line := range m.asks.Input.Body {
					lines = append(lines, ansi.Strip(line))
				}
				return lines
			}, func() bool { return len(*given) > 0 && (*given)[0].Action == agent.InputAccepted })
			world := withServers()
			s := world.Servers.(*chattest.Shop)
			watchAgreeing(t, size, world, func(m *Model) (lines []string) {
				p, ok := m.panel.(*panel.ServerList)
				if !ok || p.Reader == nil {
					return nil
				}
				for _, line := range p.Reader.Lines {
					lines = append(lines, ansi.Strip(line))
				}
				return lines
			}, func() bool { return len(s.Told) > 0 })
		})
	}
}

// watchAgreeing reads on line by line and agrees at every turn, until the
// question is answered. What is asked, as it is broken into lines, must have been
// visible by then.
func watchAgreeing(t *testing.T, size [2]int, o chat.Options, asks func(m *Model) []string, agreed func() bool) {
	t.Helper()
	inRig(t, 80, 24, o, func(r *rig) {
		if o.Servers != nil {
			r.keys("/mcp", "enter")
			r.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			r.keys("t")
		} else {
			r.keys("go on")
			r.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			r.keys("enter")
		}
		seen := map[string]bool{}
		for range 80 {
			for line := range strings.SplitSeq(r.text(), "\n") {
				seen[strings.Trim(line, " │")] = true
			}
			lines := asks(r.m)
			r.pause(dialog.QuietPeriod)
			r.keys("y", "enter")
			if agreed() {
				for _, line := range lines {
					if !seen[strings.Trim(line, " │")] {
						t.Errorf("%q was agreed to unseen:\n%s", line, r.text())
					}
				}
				return
			}
			r.keys("down")
		}
		if size[0] >= 12 && size[1] >= 5 { // smaller ones need not be enough to be read
			t.Errorf("it can't be agreed to:\n%s", r.text())
		}
	})
}
