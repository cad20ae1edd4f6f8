package layout

import (
	"strings"
	"testing"
)

// kinds returns the kind of each byte of some lines.
func kinds(name, code string, cut func(line string) []string) string {
	l, st := Named(name), State{}
	var out strings.Builder
	for line := range strings.SplitSeq(code, "\n") {
		for _, piece := range cut(line) {
			st = l.Highlight(piece, st, func(text string, k Token) {
				out.WriteString(strings.Repeat(string(".ksnc+-"[k]), len(text)))
			})
		}
		st = l.LineEnd(st)
		out.WriteString("\n")
	}
	return out.String()
}

func whole(line string) []string { return []string{line} }

var samples = map[string][2]string{
	"go":         {"func f(s string) {\n// say \"x\"\n/* a\nb */ return `x\n1` + \"y\\\"\" + 'z\nif 0x1F", "kkkk.....kkkkkk...\ncccccccccc\ncccc\ncccc.kkkkkk.ss\nss...sssss...ss\nkk.nnnn\n"},
	"python":     {"def f(): # x\n\"\"\"a\nb\"\"\" if x1", "kkk......ccc\nssss\nssss.kk...\n"},
	"SQL":        {"SELECT a -- b", "kkkkkk...cccc\n"},
	"diff":       {"+a \"b\"\n-b\n@@ c\n d", "++++++\n--\ncccc\n..\n"},
	"html":       {"<a b=\"c\"> <!-- d\n--> e", ".....sss..cccccc\nccc..\n"},
	"unheard-of": {"if x // y", ".........\n"},
}

func TestTokensOfCodeAreRecognised(t *testing.T) {
	for name, sample := range samples {
		if got := kinds(name, sample[0], whole); got != sample[1] {
			t.Errorf("%s:\n%s\nis read as\n%s\nwant\n%s", name, sample[0], got, sample[1])
		}
	}
}

// A line may arrive in pieces that do not end inside a word or a marker.
func TestLineInPiecesIsHighlightedAsAWhole(t *testing.T) {
	words := func(line string) []string { return strings.SplitAfter(line, " ") }
	for name, sample := range samples {
		if got := kinds(name, sample[0], words); got != sample[1] {
			t.Errorf("%s:\n%s\nin pieces is read as\n%s\nwant\n%s", name, sample[0], got, sample[1])
		}
	}
}
