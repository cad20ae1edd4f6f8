package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/notes"
)

const (
	// clipsFolder is the folder of saved pages, in the first notes folder.
	clipsFolder = "clips"
	// maxParts bounds how many parts of a long page are saved, of about 30 KiB each.
	maxParts = 16
	// maxClipName bounds the file name of a page without its extension, in bytes: file systems allow
	// 255 for all of it.
	maxClipName = 160
	// maxClipNames bounds how many pages of one name there may be.
	maxClipNames = 100
)

func newClip(sh *app.Process) *cobra.Command {
	c := &capture{process: sh}
	return c.register(&cobra.Command{
		Use:   "clip URL",
		Short: "Save a web page as a note",
		Long: "Save the readable text of a web page as a note in the folder " + clipsFolder +
			", with its address as source: the text counts as\n" +
			"untrusted wherever it is read again. No model is asked. " + capturePermission,
		Example: "  lifehub clip https://example.org/article\n  lifehub clip example.org/article --yes --json",
		RunE: func(cmd *cobra.Command, given []string) error {
			address, err := clipAddress(given[0])
			if err != nil {
				return settings.UsageError{Err: err}
			}
			reading := []gate.Where{gate.Pinned("url", address)}
			saving := []gate.Where{{Argument: "path", Fit: gate.LikeGlob, Values: []string{clipsFolder + "/*"}}}
			return c.run(cmd.Context(), writing{
				message: agent.Message{Text: "clip " + address},
				work:    &page{address: address, capture: c},
				allows: []gate.Rule{
					{Tool: "web_fetch", Where: reading, Level: agent.Auto, Untrusted: true, From: "--yes"},
					{Tool: "create_note", Where: saving, Level: agent.Auto, Untrusted: true, From: "--yes"},
				},
			})
		},
	})
}

// otherScheme matches the scheme of an address; what follows the colon of a host is its port.
var otherScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(?:[^0-9]|$|[0-9]+[^0-9/?#])`)

// clipAddress returns a whole web address; without a scheme it is https.
func clipAddress(given string) (string, error) {
	if given = strings.TrimSpace(given); !otherScheme.MatchString(given) {
		given = "https://" + given
	}
	u, _, err := agent.ReadAddress(given)
	if err != nil {
		return "", fmt.Errorf("clip: %q is not the address of a web page: %w", given, err)
	}
	return u.String(), nil
}

// page reads a web page in parts and saves it as a note.
type page struct {
	address string
	capture *capture // which opens the notes

	text  string // parts read so far
	parts int
	title string
	saved bool
}

// next returns the call that follows the result of the last.
func (p *page) Next(last *agent.Result) *agent.Step {
	if p.saved {
		return nil
	}
	input := map[string]any{"url": p.address}
	if last != nil {
		p.add(*last)
		if last.Next == 0 || p.parts == maxParts {
			p.saved = true
			step := stepOf("create_note", map[string]string{"path": p.path(), "content": p.note(last.Next > 0)})
			return &step
		}
		input["from"] = last.Next
	}
	step := stepOf("web_fetch", input)
	return &step
}

func (p *page) describe(result *captured) { result.Text, result.URL = p.title, p.address }

// add adds a part of the page: what web_fetch returns has the address above it and, unless it is the
// last, a sentence about the rest below it.
func (p *page) add(part agent.Result) {
	_, read, _ := strings.Cut(part.Text, "\n\n")
	if part.Next > 0 {
		read = read[:max(0, strings.LastIndex(read, "\n\n"))] + "\n"
	}
	p.text += text.WithoutControls(read) // which are not written to notes
	p.parts++
}

// note returns the text of the note. source marks it as not written by the user.
func (p *page) note(more bool) string {
	p.title = p.titleOf()
	front, _ := yaml.Marshal(struct { // strings, so it cannot fail
		Title   string `yaml:"title"`
		Source  string `yaml:"source"`
		Created string `yaml:"created"`
	}{p.title, p.address, time.Now().Format(time.DateOnly)})
	text := "---\n" + string(front) + "---\n\n" + strings.TrimSpace(p.text) + "\n"
	if more {
		text += "\n*The page is longer; the rest is at its source.*\n"
	}
	return text
}

// titleOf returns the heading of the page or, without one, its address.
func (p *page) titleOf() string {
	for _, h := range notes.Parse(notes.Entry{Path: "page.md"}, []byte(p.text)).Headings {
		if title := strings.Join(strings.Fields(h.Text), " "); title != "" && h.Level == 1 {
			return title
		}
	}
	return strings.TrimSuffix(p.address[strings.Index(p.address, "://")+len("://"):], "/")
}

// path returns a path for the page, named after its title: an unused one, unless too many pages have
// that name.
func (p *page) path() string {
	words := strings.FieldsFunc(p.titleOf(), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-'’,.", r)
	})
	name := strings.TrimSuffix(text.Cut(strings.Join(words, " "), maxClipName), "…")
	base := clipsFolder + "/" + cmp.Or(strings.Trim(name, " ."), "page")
	path := base + ".md"
	folder := p.capture.app.Folders()[0]
	for n := 2; n <= maxClipNames && folder.Has(path); n++ {
		path = fmt.Sprintf("%s %d.md", base, n)
	}
	return path
}
