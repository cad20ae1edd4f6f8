package prompt

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"lifehub/llm"

	"pgregory.net/rapid"
)

func longPrompt(results, sources, history, words int) Prompt {
	p := Prompt{Agent: "explainer", System: "You answer.", Intro: "Material:", Question: "What?"}
	for i := range history {
		p.History = append(p.History, llm.Message{
			Role: llm.User,
			Text: fmt.Sprintf("old %d %s", i, strings.Repeat("word ", words)),
		})
	}
	for i := range sources {
		p.Material = append(p.Material, Part{
			Kind: "sources", Head: fmt.Sprintf("[%d] note", i+1),
			Text: strings.Repeat("source ", words), Fence: "«»",
		})
	}
	for i := range results {
		p.Material = append(p.Material, Part{
			Kind: "results", Head: fmt.Sprintf("Step %d", i+1),
			Text: strings.Repeat("result ", words), Fence: "«»",
		})
	}
	return p
}

func TestNothingIsLeftOutIfItFits(t *testing.T) {
	p := longPrompt(2, 2, 2, 50)
	for _, window := range []int{0, 100_000} {
		if f := p.Fit(window, 1); f.Left != "" || f.Estimate != p.Tokens() {
			t.Errorf("window %d: %q, %d of %d tokens", window, f.Left, f.Estimate, p.Tokens())
		}
	}
}

func TestLeastValuablePartIsDroppedFirst(t *testing.T) {
	p := longPrompt(1, 2, 2, 400)
	tests := map[string]struct {
		window int
		left   string
	}{
		"a result":          {4000, ": parts of results."},
		"nearly everything": {260, ": parts of results, older messages."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := p.Fit(tc.window, 1)
			if !strings.Contains(f.Left, tc.left) {
				t.Errorf("window %d, %d tokens used: %q, want %q", tc.window, f.Estimate, f.Left, tc.left)
			}
			if text := f.Messages[len(f.Messages)-1].Text; !strings.HasSuffix(text, "What?") ||
				!strings.Contains(text, "[1] note") {
				t.Errorf("the prompt ends with %.80q", text)
			}
		})
	}
}

// Every prompt fits the window, or its omissions are reported. The system prompt and
// both ends of the question are always included.
func TestPromptFitsOrReportsWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := longPrompt(rapid.IntRange(0, 8).Draw(t, "results"), rapid.IntRange(0, 8).Draw(t, "sources"),
			rapid.IntRange(0, 6).Draw(t, "history"), rapid.IntRange(0, 500).Draw(t, "words"))
		p.Question = "HEAD " + strings.Repeat("слово 字 word ", rapid.IntRange(0, 2000).Draw(t, "question")) + " TAIL"
		window := rapid.IntRange(1024, 32_768).Draw(t, "window")
		f := p.Fit(window, 1)
		room := window - min(MaxReserve, window/4)
		if f.Estimate > room+2*Floor*(len(p.Material)+1) {
			t.Fatalf("%d tokens for a room of %d", f.Estimate, room)
		}
		if (f.Estimate < p.Tokens()) != (f.Left != "") {
			t.Fatalf("%d of %d tokens, said %q", f.Estimate, p.Tokens(), f.Left)
		}
		last := f.Messages[len(f.Messages)-1].Text
		if f.Messages[0].Text != p.System || !strings.Contains(last, "HEAD") || !strings.HasSuffix(last, "TAIL") ||
			!utf8.ValidString(last) {
			t.Fatalf("the prompt lost an end: %.100q", last)
		}
	})
}

func TestTokensAreNotUnderestimated(t *testing.T) {
	for text, least := range map[string]int{ // as common tokenizers count them
		"The quick brown fox jumps over the lazy dog.": 10,
		"今天我想在公园里跑步。":                                  9,
		"git reset --soft HEAD~1 && git commit -m 'x'": 16,
		"Donaudampfschifffahrtsgesellschaft":           8,
		"3.1415926535":                                 6,
		"":                                             0,
	} {
		if got := Tokens(text); got < least || got > 2*least+2 {
			t.Errorf("tokens(%q) = %d, want %d to %d", text, got, least, 2*least+2)
		}
	}
}

// A shortened result keeps its first lines, and every mark is closed.
func TestResultIsCutAtItsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Prompt{System: "You answer.", Question: "What?", Fence: "«f»"}
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			text := ""
			for i := range rapid.IntRange(1, 6).Draw(t, "passages") {
				text += fmt.Sprintf("[%d] note.md:%d\n«f»\n%s«f»\n", i+1, i,
					strings.Repeat("A line of the note.\n", rapid.IntRange(1, 60).Draw(t, "lines")))
			}
			p.After = append(p.After, llm.Message{Role: llm.Assistant}, llm.Message{Role: llm.ToolReply, Text: text})
		}
		f := p.Fit(rapid.IntRange(1024, 8192).Draw(t, "window"), 1)
		for i, m := range f.Messages[2:] {
			whole := p.After[i].Text
			if strings.Count(m.Text, "«f»")%2 != 0 {
				t.Fatalf("a mark stays open in\n%s", m.Text)
			}
			kept, _, cut := strings.Cut(m.Text, "\n[… ")
			if cut && !strings.HasPrefix(whole, strings.TrimSuffix(kept, "\n«f»")) || !cut && m.Text != whole {
				t.Fatalf("the beginning is lost:\n%s", m.Text)
			}
		}
	})
}
