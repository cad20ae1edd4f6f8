package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestPeriods(t *testing.T) {
	for s, want := range map[string]int{
		"a": 1, "aaaa": 1, "abab": 2, "ababa": 2, "abcabcab": 3,
		"abcd": 4, "aab": 3, "aabaa": 3,
	} {
		if got := period([]byte(s)); got != want {
			t.Errorf("%q: got %d, want %d", s, got, want)
		}
	}
}

func TestRepetitiveAnswerIsStopped(t *testing.T) {
	loop := func(piece string) attempt {
		return func(_ context.Context, emit func(Delta) error) error {
			for {
				if err := emit(Delta{Text: piece}); err != nil {
					return err
				}
			}
		}
	}
	for _, piece := range []string{"\n", "I am sorry. ", strings.Repeat("x", 500), strings.Repeat("ab", 5000)} {
		m, _, err := Collect(Stream(t.Context(), Limits{}, loop(piece)))
		if !errors.Is(err, ErrCut) || !strings.Contains(err.Error(), "repeated output") ||
			len(m.Text) > 8<<10+len(piece) {
			t.Errorf("%.20q: got %d bytes, %v", piece, len(m.Text), err)
		}
	}
	// A paragraph, repeated five times.
	var paragraph strings.Builder
	for i := 0; paragraph.Len() < 3000; i++ {
		fmt.Fprintf(&paragraph, "Sentence %d is not the one before. ", i*i)
	}
	m, _, err := Collect(Stream(t.Context(), Limits{}, loop(paragraph.String())))
	if !errors.Is(err, ErrCut) || !strings.Contains(err.Error(), "repeated output") || len(m.Text) > 8*paragraph.Len() {
		t.Errorf("a paragraph: got %d bytes, %v", len(m.Text), err)
	}
}

func TestListsAndTablesAreNotRepetition(t *testing.T) {
	var list strings.Builder
	for i := range 500 {
		list.WriteString("- [ ] water the plants\n")
		if i%20 == 0 {
			list.WriteString("\n## Week " + strings.Repeat("I", i/20) + "\n\n")
		}
	}
	if m, _, err := Collect(Stream(t.Context(), Limits{}, answers(strings.SplitAfter(list.String(),
		"\n")...))); err != nil || m.Text != list.String() {
		t.Errorf("got %d bytes of %d, %v", len(m.Text), list.Len(), err)
	}
}
