package notes

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
)

// maxHeld bounds the texts of PDFs that are held, in bytes.
const maxHeld = 8 << 20

// pages holds the texts of the PDFs that were read last: an answer reads each of
// its sources again, and a book takes half a second.
type pages struct {
	mu    sync.Mutex
	texts map[[sha256.Size]byte][]byte
	size  int
}

// read returns what is read of a file's bytes.
func (p *pages) read(ctx context.Context, k kind, raw []byte) ([]byte, error) {
	if k != paged {
		return k.markdownOf(ctx, raw)
	}
	of := sha256.Sum256(raw)
	p.mu.Lock()
	text, held := p.texts[of]
	p.mu.Unlock()
	if held {
		return text, nil
	}
	text, err := k.markdownOf(ctx, raw)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && len(text) <= maxHeld {
		if p.size += len(text); p.texts == nil || p.size > maxHeld {
			p.texts, p.size = map[[sha256.Size]byte][]byte{}, len(text)
		}
		p.texts[of] = text
	}
	return text, err
}

// Shown is the text as a person reads it, drawn as markdown, with the same lines:
// the pages of a PDF under their numbers, a text file line by line.
func (n Note) Shown() string {
	kind := kindOf(n.Path)
	if kind != paged && kind != plainText {
		return n.Text
	}
	lines := strings.Split(strings.TrimSuffix(n.Text, "\n"), "\n")
	for i, line := range lines {
		if kind == paged {
			lines[i] = fmt.Sprintf("%d. %s", i+1, escapeMarkdown.Replace(line))
		} else if strings.TrimSpace(line) != "" {
			lines[i] = line + "  " // a line of its own in its paragraph
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

var escapeMarkdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", `\<`, "#", `\#`, "- ", `\- `, "+ ", `\+ `, ". ", `\. `)
