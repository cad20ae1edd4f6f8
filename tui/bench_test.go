package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
)

// talk returns a screen of a size with n exchanges above.
func talk(tb testing.TB, width, height, n int) *Model {
	tb.Helper()
	m, err := New(context.Background(), chat.Options{Assistant: &chattest.Script{}})
	if err != nil {
		tb.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	var list []agent.Exchange
	for i := range n {
		list = append(list, agent.Exchange{
			Question: fmt.Sprintf("Question %d?", i),
			Answer:   agent.Answer{Text: fmt.Sprintf("Answer **%d**.\n\n- one\n- two\n", i)},
		})
	}
	m.Update(conversationMsg{ID: "c1", Exchanges: list})
	return m
}

// begin starts a turn whose events the caller feeds.
func begin(m *Model) {
	m.ask("go")
	m.turn.events = make(chan agent.Event)
}

func say(m *Model, text string) {
	m.Update(batchMsg{Turn: m.turn.number, Pieces: 1, Events: []agent.Event{{Body: agent.Said{Content: text}}}})
	m.View()
}

// answerOf returns a Markdown answer of about n tokens of four bytes.
func answerOf(kind string, n int) []string {
	var text strings.Builder
	for i := 0; text.Len() < 4*n; i++ {
		switch kind {
		case "prose":
			fmt.Fprintf(&text, "Sentence %d runs over **some** words and ends here. ", i)
			if i%5 == 4 {
				text.WriteString("\n\n")
			}
		case "list":
			fmt.Fprintf(&text, "- item %d with a few words\n", i)
		case "fence":
			if i == 0 {
				text.WriteString("```go\n")
			}
			fmt.Fprintf(&text, "x%d := f(%d) // a comment\n", i, i)
		case "Chinese":
			fmt.Fprintf(&text, "第%d句话说你每周跑三次步，并且慢慢地增加长跑的距离。", i)
			if i%5 == 4 {
				text.WriteString("\n\n")
			}
		case "table":
			if i == 0 {
				text.WriteString("| a | b |\n|---|---|\n")
			}
			fmt.Fprintf(&text, "| cell %d | %d |\n", i, i)
		}
	}
	whole := text.String()
	var pieces []string
	for at := 0; at < len(whole); at += 4 {
		pieces = append(pieces, whole[at:min(at+4, len(whole))])
	}
	return pieces
}

// Opening a conversation of 5,000 exchanges renders the visible part, and a
// token renders the answer it belongs to.
func TestOnlyVisibleItemsAreRendered(t *testing.T) {
	m := talk(t, 80, 24, 5000)
	rendered := func() int {
		n := 0
		for _, e := range m.transcript.Entries {
			if e.Width != 0 {
				n++
			}
		}
		return n
	}
	if n := rendered(); n > 40 {
		t.Errorf("%d of %d items are rendered after opening", n, len(m.transcript.Entries))
	}
	before := rendered()
	begin(m)
	for i := range 200 {
		say(m, fmt.Sprintf("word%d ", i))
	}
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	if n := rendered(); n > before+40 {
		t.Errorf("%d items are rendered after an answer and a resize, %d before", n, before)
	}
}

// counted is an item that counts how often it is rendered.
type counted struct{ renders int }

func (c *counted) Render(int, *draw.Theme) []string { c.renders++; return []string{"a line"} }
func (c *counted) Copied() string                   { return "" }

// What did not change is not rendered again, and View renders nothing at all.
func TestUnchangedItemsAreNotRenderedAgain(t *testing.T) {
	m := talk(t, 80, 24, 0)
	above := &counted{}
	m.transcript.Add(above)
	begin(m)
	say(m, "one ")
	before := above.renders
	for i := range 100 {
		say(m, "word ")
		m.Update(boxtest.Keys["left"])
		m.Update(beatMsg(time.Now()))
		m.Update(tea.FocusMsg{})
		if i%10 == 0 {
			m.Update(statusMsg{Notes: i})
		}
	}
	if above.renders != before {
		t.Errorf("an item in sight was rendered %d times while another grew", above.renders-before)
	}
	m.transcript.Invalidate(above)
	content := m.View().Content
	for range 100 {
		if m.View().Content != content {
			t.Fatal("View drew")
		}
	}
	if above.renders != before {
		t.Errorf("View rendered %d items", above.renders-before)
	}
	m.Update(tea.BlurMsg{})
	if above.renders != before+1 {
		t.Errorf("what changed was rendered %d times", above.renders-before)
	}
	if again := testing.AllocsPerRun(100, func() { m.View() }); again > 0 {
		t.Errorf("View takes memory %v times", again)
	}
}

// drawn draws a complete answer.
func drawn(answer string) []string {
	stream := draw.NewMarkdownStream("")
	stream.Write(answer)
	stream.Close()
	return stream.Lines(draw.Readable, draw.NewTheme("dark", true, true, nil))
}

// countedBytes is a terminal that counts what it is sent.
type countedBytes struct{ atomic.Int64 }

func (c *countedBytes) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))
	return len(p), nil
}

// BenchmarkBytes sends an answer at 200 tokens a second through the renderer of Bubble Tea,
// and reports the bytes for the terminal next to those of the
// text that shows, of which they may be three times as many.
func BenchmarkBytes(b *testing.B) {
	for _, kind := range []string{"prose", "list", "fence", "table", "Chinese"} {
		b.Run(kind, func(b *testing.B) {
			pieces := answerOf(kind, 600)
			visible := 0
			for _, line := range drawn(strings.Join(pieces, "")) {
				visible += len(ansi.Strip(line))
			}
			for b.Loop() {
				m := talk(b, 120, 40, 0)
				begin(m)
				events := make(chan agent.Event, 1)
				m.turn.events = events
				var sent countedBytes
				ctx, stop := context.WithCancel(context.Background())
				program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(&sent),
					tea.WithWindowSize(120, 40),
					tea.WithColorProfile(colorprofile.ANSI256), tea.WithEnvironment([]string{"TERM=xterm-256color"}),
					tea.WithoutSignalHandler())
				over := make(chan struct{})
				go func() { defer close(over); _, _ = program.Run() }()
				tick := time.NewTicker(5 * time.Millisecond)
				events <- agent.Event{Body: agent.Said{Content: "An answer.\n\n"}}
				program.Send(nextEvents(events, m.turn.number, time.Now())())
				for range 20 { // the first picture
					<-tick.C
				}
				before := sent.Load()
				for _, piece := range pieces {
					<-tick.C
					events <- agent.Event{Body: agent.Said{Content: piece}}
				}
				for range 10 {
					<-tick.C
				}
				b.ReportMetric(float64(sent.Load()-before)/float64(visible), "x-visible")
				b.ReportMetric(float64(sent.Load()-before)/float64(len(pieces)), "bytes/token")
				tick.Stop()
				stop()
				<-over
			}
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, above := range []int{0, 5000} {
		b.Run(fmt.Sprintf("%d exchanges above", above), func(b *testing.B) {
			m := talk(b, 200, 60, above)
			begin(m)
			for b.Loop() {
				say(m, "word ")
			}
		})
	}
}

// BenchmarkPaste pastes a megabyte, sends it while a turn works, and reports
// the time, which is to be below a second, and the time of a frame after it.
func BenchmarkPaste(b *testing.B) {
	for name, piece := range map[string]string{
		"commands": "/quit y\n", "words": "one line ", "Chinese": "漢字かな交じり文", "marks": "e\u0301", "escapes": "\x1b[31m",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(piece, 1<<20/len(piece))
			for b.Loop() {
				m := talk(b, 100, 30, 0)
				begin(m)
				start := time.Now()
				m.Update(tea.PasteMsg{Content: text})
				m.Update(boxtest.Keys["enter"])
				b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "paste-ms")
				start = time.Now()
				say(m, "word ")
				b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "frame-ms")
			}
		})
	}
}

// BenchmarkStream plays answers of 8,000 tokens, one frame a token, and reports
// the cost next to rendering the whole once.
func BenchmarkStream(b *testing.B) {
	for _, kind := range []string{"prose", "list", "fence", "table"} {
		b.Run(kind, func(b *testing.B) {
			pieces := answerOf(kind, 8000)
			whole := strings.Join(pieces, "")
			for b.Loop() {
				start := time.Now()
				drawn(whole)
				once := time.Since(start)

				m := talk(b, 120, 40, 0)
				begin(m)
				var worst time.Duration
				quarter := [4]time.Duration{}
				start = time.Now()
				for i, piece := range pieces {
					t := time.Now()
					say(m, piece)
					took := time.Since(t)
					worst = max(worst, took)
					quarter[i*4/len(pieces)] += took
				}
				total := time.Since(start)
				b.ReportMetric(float64(total)/float64(once), "x-once")
				b.ReportMetric(float64(quarter[3])/float64(quarter[0]), "Q4/Q1")
				b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
				b.ReportMetric(float64(total.Microseconds())/float64(len(pieces)), "us/token")
			}
		})
	}
}

// BenchmarkPasteOfAMegabyte takes a paste in and sends it, in at most a second
// whatever it is made of.
func BenchmarkPasteOfAMegabyte(b *testing.B) {
	for name, piece := range map[string]string{
		"lines": "/quit y\n", "one line": "one line ", "wide": "漢字かな交じり文",
		"marks": "e\u0301", "escapes": "\x1b[31m",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(piece, 1<<20/len(piece))
			for b.Loop() {
				m := talk(b, 100, 30, 0)
				m.Update(tea.PasteMsg{Content: text})
				m.Update(boxtest.Keys["enter"])
			}
			if took := b.Elapsed() / time.Duration(b.N); took > time.Second {
				b.Errorf("it took %v", took)
			}
		})
	}
}

// BenchmarkOpenBlock extends a block that is long already and still open,
// whose worst frame may take 16 ms.
func BenchmarkOpenBlock(b *testing.B) {
	nested := strings.Builder{}
	for i := range 2000 {
		fmt.Fprintf(&nested, "%s- item %d with a few words\n", strings.Repeat("  ", i%12), i)
	}
	for name, open := range map[string]string{
		"fence of 5,000 lines":   "```go\n" + strings.Repeat("x := f(1) // a comment\n", 5000),
		"table of 500 rows":      "| a | b |\n|---|---|\n" + strings.Repeat("| a cell | **1** |\n", 500),
		"deep list":              nested.String(),
		"paragraph of 100 KB":    strings.Repeat("Words of **one** paragraph. ", 100<<10/28),
		"one word of 100 KB":     strings.Repeat("word", 25<<10),
		"quotation of 100 lines": strings.Repeat("> quoted words\n", 100),
	} {
		b.Run(name, func(b *testing.B) {
			m := talk(b, 120, 40, 0)
			begin(m)
			say(m, open)
			var worst time.Duration
			for b.Loop() {
				for range 300 {
					began := time.Now()
					say(m, "word ")
					worst = max(worst, time.Since(began))
				}
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
	}
}

// BenchmarkHugeDialog reports how long a question opens that is about two
// megabytes.
func BenchmarkHugeDialog(b *testing.B) {
	before, after := strings.Repeat("a line of the old text\n", 1<<16),
		strings.Repeat("a line of the new text\n", 1<<16)
	input, err := json.Marshal(map[string]string{"path": "a.md", "text": after})
	if err != nil {
		b.Fatal(err)
	}
	diff := "-" + strings.ReplaceAll(before, "\n", "\n-") + "\n+" + strings.ReplaceAll(after, "\n", "\n+")
	b.Run("permission", func(b *testing.B) {
		for b.Loop() {
			m := talk(b, 100, 40, 3)
			begin(m)
			m.Update(batchMsg{Turn: m.turn.number, Events: []agent.Event{{Body: agent.PermissionAsked{
				Name:  "write",
				Input: input, Preview: agent.Preview{Path: "a.md", Diff: diff},
			}}}})
		}
	})
	b.Run("change of a server", func(b *testing.B) {
		for b.Loop() {
			(&panel.Reader{Change: []chat.Change{{What: "tool", Before: before, After: after}}}).Content(100,
				draw.NewTheme("", true, true, nil))
		}
	})
}
