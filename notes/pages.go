package notes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"

	"lifehub/notes/pdf"
)

// maxHeld bounds the cached texts of PDFs, images and documents in bytes.
const maxHeld = 8 << 20

// pages caches the texts of recently read PDFs and images: every answer reads its
// sources again, and a book takes half a second.
type pages struct {
	reader pdf.Reader

	mu    sync.Mutex
	texts map[[sha256.Size]byte][]byte
	size  int
	busy  int // files in a row that tesseract did not finish in time
}

// maxBusy is the number of files in a row that tesseract may not finish before it is no longer
// run: each costs half a minute.
const maxBusy = 3

// GaveUpScans reports whether images and scanned PDFs are no longer read by this
// folder, because tesseract did not finish several in a row.
func (f *Folder) GaveUpScans() bool { return f.pages.gaveUp() }

func (p *pages) gaveUp() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy >= maxBusy
}

// read returns the text of a file with a name and content raw.
func (p *pages) read(ctx context.Context, name string, raw []byte) ([]byte, error) {
	k := kindOf(name)
	if k != paged && k != picture && k != document {
		return k.markdownOf(ctx, name, raw, p.reader)
	}
	of := sha256.Sum256(raw)
	p.mu.Lock()
	text, held := p.texts[of]
	p.mu.Unlock()
	if held {
		return text, nil
	}
	reader := p.reader
	if reader.Tesseract != "" && p.gaveUp() {
		if reader.Tesseract = ""; k == picture {
			return nil, ErrBusy
		}
	}
	text, err := k.markdownOf(ctx, name, raw, reader)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case reader.Tesseract != "" && errors.Is(err, ErrBusy):
		p.busy++
	case err == nil && (k == picture || bytes.Contains(text, []byte(pdf.ScanMark))):
		p.busy = 0
	}
	if err == nil && len(text) <= maxHeld {
		if p.size += len(text); p.texts == nil || p.size > maxHeld {
			p.texts, p.size = map[[sha256.Size]byte][]byte{}, len(text)
		}
		p.texts[of] = text
	}
	return text, err
}

// Shown returns the note as Markdown for display, with the same line numbers: the
// pages of a PDF under their numbers, a text file line by line.
func (n Note) Shown() string {
	isPaged := IsPaged(n.Path)
	if !isPaged && kindOf(n.Path) != plainText {
		return n.Text
	}
	lines := strings.Split(strings.TrimSuffix(n.Text, "\n"), "\n")
	for i, line := range lines {
		if isPaged {
			lines[i] = fmt.Sprintf("%d. %s", i+1, escapeMarkdown.Replace(line))
			if i < len(n.Headings) && n.Headings[i].Text != "" {
				lines[i] = fmt.Sprintf("%d. (%s) %s", i+1, n.Headings[i].Text, escapeMarkdown.Replace(line))
			}
		} else if strings.TrimSpace(line) != "" {
			lines[i] = line + "  " // hard line break
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

var escapeMarkdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", `\<`, "#", `\#`,
	"- ", `\- `, "+ ", `\+ `, ". ", `\. `)
