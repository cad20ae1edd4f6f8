package markdown

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"lifehub/internal/testenv"
	"lifehub/tui/layout"
)

// corpus calls each with every note below a folder of the shared corpora.
func corpus(t *testing.T, name string, each func(path, src string)) {
	t.Helper()
	root := testenv.Shared(t, "data/corpora/"+name)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		src, err := os.ReadFile(path)
		if err == nil && len(src) < 200_000 {
			each(strings.TrimPrefix(path, root), string(src))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRealNotesAreDrawnAtEveryWidth(t *testing.T) {
	for _, name := range []string{"odd-prettier", "logseq-docs", "kepano-vault"} {
		corpus(t, name, func(path, src string) {
			for _, width := range []int{1, 13, 40, 100} {
				want := Render(src, width, darkPalette.Theme())
				if err := check(want, width); err != nil {
					t.Errorf("%s%s: %v", name, path, err)
				}
				if width == 1 || width == 40 {
					continue
				}
				s := New(width, width, darkPalette.Theme())
				for i := 0; i < len(src); i += 97 {
					s.Write(src[i:min(i+97, len(src))])
					s.Lines()
				}
				s.Close()
				if err := same(s.Lines(), want); err != nil {
					t.Errorf("%s%s in pieces, %d wide: %v", name, path, width, err)
				}
			}
		})
	}
}

var letters = regexp.MustCompile(`[\pL\pN]+`)

// reference returns the words that goldmark finds in a text, and how many
// marks of emphasis and code it leaves as text.
func reference(src string) (words []string, marks int) {
	doc := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser().Parse(text.NewReader([]byte(src)))
	var b strings.Builder
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeBlock {
			b.WriteString("\n")
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(unescape(string(n.Value([]byte(src)))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteString("\n")
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.Write(n.Lines().Value([]byte(src)))
		}
		return ast.WalkContinue, nil
	})
	return letters.FindAllString(b.String(), -1), strings.Count(b.String(), "*") + strings.Count(b.String(), "`")
}

// wideEnough returns a width at which no word and no cell of a table is cut: the
// columns of a table may be widest in different rows.
func wideEnough(src string) int {
	longest := 0
	for line := range strings.Lines(src) {
		longest = max(longest, len(line))
	}
	return 4*longest + 80
}

// TestBlocksAreParsedLikeGoldmark compares what is on screen with
// a parser that follows CommonMark to the letter. The differences left are
// ours on purpose (see docs/design/screen.md) or rare.
func TestBlocksAreParsedLikeGoldmark(t *testing.T) {
	for name, least := range map[string]float64{"til-jbranchaud": 0.999, "kepano-vault": 0.99, "odd-prettier": 0.97} {
		total, agree := 0, 0
		corpus(t, name, func(path, src string) {
			if strings.Contains(src, "<") && !strings.Contains(src, "```") || strings.HasPrefix(src, "---\n") || strings.Contains(src, "$") && name == "odd-prettier" {
				return // HTML and front matter are shown here and not there
			}
			want, wantMarks := reference(src)
			theme := layout.Palette{}.Theme()
			theme.Hyperlinks = false
			screen := ansi.Strip(strings.Join(Render(src, wideEnough(src), theme), "\n"))
			got := letters.FindAllString(screen, -1)
			total++
			i := 0
			for _, w := range got {
				if i < len(want) && want[i] == w {
					i++
				}
			}
			marks := strings.Count(screen, "*") + strings.Count(screen, "`")
			if i == len(want) && marks == wantMarks {
				agree++
			} else if testing.Verbose() {
				next := "(all words)"
				if i < len(want) {
					next = want[i]
				}
				t.Logf("%s%s: %d of %d words, next %q; %d marks, want %d", name, path, i, len(want), next, marks, wantMarks)
			}
		})
		t.Logf("%s: %d of %d", name, agree, total)
		if float64(agree) < least*float64(total) {
			t.Errorf("%s: %d of %d notes are read as goldmark reads them", name, agree, total)
		}
	}
}
