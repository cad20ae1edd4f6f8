package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
)

// Facts is the memory file: a list of facts about the user, one in each line,
// which the user can read and edit like any note.
type Facts struct {
	Place FactsPlace
	Path  string // path of the file in its folder
}

// FactsPlace has the folder of the memory file. *app.App is the real one.
type FactsPlace interface {
	FactsFolder() (*notes.Folder, error)
}

// folders returns the folder in which a change of the file is checked after a
// crash.
func (f Facts) folders() []*notes.Folder {
	folder, err := f.Place.FactsFolder()
	if err != nil {
		return nil
	}
	return []*notes.Folder{folder}
}

// newMemoryFile is the initial content of the file.
const newMemoryFile = "# Memory\n\nWhat LifeHub was asked to remember. Edit or delete lines as you like.\n\n"

// List returns the current facts; none if the file does not exist.
func (f Facts) List(context.Context) ([]agent.Fact, error) {
	facts, _, err := f.read()
	return facts, err
}

// read returns the facts, and a change of their file to be filled in. Its was
// is nil if the file does not exist.
func (f Facts) read() ([]agent.Fact, change, error) {
	folder, err := f.Place.FactsFolder()
	if err != nil {
		return nil, change{}, fmt.Errorf("open the memory file: %w", err)
	}
	raw, _, err := folder.Raw(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, change{folder: folder, path: f.Path, memory: true}, nil
	}
	if err != nil {
		return nil, change{}, fmt.Errorf("read what is remembered: %w", err)
	}
	facts := parseFacts(string(raw))
	for i := range facts {
		facts[i].Path, facts[i].Vault = f.Path, folder.Dir()
	}
	return facts, change{folder: folder, path: f.Path, was: raw, memory: true}, nil
}

var listItemText = regexp.MustCompile(`^\s*[-*+]\s+(?:\[.\]\s+)?(\S.*)$`)

// parseFacts parses each list item as a fact. Parentheses at its end are parsed
// as its provenance if they have the form that LifeHub writes.
func parseFacts(text string) (facts []agent.Fact) {
	for i, line := range strings.Split(notes.WithLF(strings.TrimPrefix(text, byteOrderMark)), "\n") {
		if m := listItemText.FindStringSubmatch(line); m != nil {
			if fact := parseFact(" " + strings.TrimSpace(m[1])); fact.Text != "" {
				fact.Line, fact.Written = i+1, line
				facts = append(facts, fact)
			}
		}
	}
	return facts
}

// parseFact parses a line that starts with a space, so that the text may be
// empty.
func parseFact(line string) agent.Fact {
	plain := agent.Fact{Text: strings.TrimSpace(line)}
	open := strings.LastIndex(line, " (")
	if open < 0 || !strings.HasSuffix(line, ")") {
		return plain
	}
	fact := agent.Fact{Text: strings.TrimSpace(line[:open])}
	for _, part := range strings.Split(line[open+2:len(line)-1], ", ") {
		chat, isChat := strings.CutPrefix(part, "chat ")
		day, err := when.ParseDay(part)
		switch {
		case err == nil:
			fact.Date = day
		case part == "you":
			fact.Origin = part
		case isChat && chat != "" && !strings.Contains(chat, " "):
			fact.Origin = chat
		case part == "foreign" || part == "untrusted":
			fact.Untrusted = true
		default:
			return plain
		}
	}
	return fact
}

// maxFact bounds a fact, in bytes: it should be a single piece of information,
// and is in many prompts.
const maxFact = 1000

// adding returns the change that adds a fact, dated now.
func (f Facts) adding(text string, by agent.Caller, now time.Time) (change, error) {
	text = strings.Join(strings.Fields(text), " ")
	if m := listItemText.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	fact := agent.Fact{
		Text: text, Date: when.DayOf(now), Origin: cmp.Or(by.Conversation, "you"),
		Untrusted: by.Origin.IsOutside(),
	}
	line := fmt.Sprintf("- %s (%s)", fact.Text, fact.Provenance())
	switch {
	case len(parseFacts(line)) == 0: // also of the box of a task alone
		return change{}, errors.New("text missing")
	case len(text) > maxFact:
		return change{}, fmt.Errorf("fact too long: %d bytes of at most %d; write a note instead", len(text), maxFact)
	}
	facts, c, err := f.read()
	if err != nil {
		return change{}, err
	}
	for _, known := range facts {
		if strings.EqualFold(known.Text, text) {
			return change{}, fmt.Errorf("that is remembered already, in %s:%d", f.Path, known.Line)
		}
	}
	c.report = "remembered: " + text
	if c.was == nil {
		c.now = []byte(newMemoryFile + line + "\n")
		return c, nil
	}
	p, err := openPage(c.was)
	if err != nil {
		return change{}, err
	}
	if len(facts) > 0 {
		p.insert(facts[len(facts)-1].Line, line)
	} else {
		p.appendTo(len(p.lines), line)
	}
	c.now = p.bytes()
	return c, nil
}

// removing returns the change that removes a fact: the one with exactly this
// text, or else the only one that contains these words.
func (f Facts) removing(ctx context.Context, text string) (change, error) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return change{}, errors.New("text missing")
	}
	facts, c, err := f.read()
	if err != nil {
		return change{}, err
	}
	var found []agent.Fact
	for _, fact := range facts {
		if strings.EqualFold(fact.Text, text) {
			found = []agent.Fact{fact}
			break
		}
		if holdsAll(fact.Text, text) {
			found = append(found, fact)
		}
	}
	switch len(found) {
	case 0:
		return change{}, fmt.Errorf("no saved fact matches %q", text)
	case 1:
	default:
		var texts []string
		for _, fact := range found {
			texts = append(texts, fmt.Sprintf("%q", fact.Text))
			agent.Shows(ctx, fact.Source())
		}
		return change{}, fmt.Errorf("several facts match: %s; give more words", strings.Join(texts, ", "))
	}
	agent.Shows(ctx, found[0].Source())
	p, err := openPage(c.was)
	if err != nil {
		return change{}, err
	}
	p.replace(found[0].Line)
	c.now, c.report = p.bytes(), "forgot: "+found[0].Text
	return c, nil
}

// holdsAll reports whether a text contains each of the words, folded as the search does.
func holdsAll(in, words string) bool {
	in = text.Fold(in)
	for _, word := range strings.Fields(text.Fold(words)) {
		if !strings.Contains(in, cmp.Or(strings.Trim(word, ".,;:!?\"'"), word)) {
			return false
		}
	}
	return true
}

// Begin creates the file if it does not exist.
func (f Facts) Begin() error {
	_, c, err := f.read()
	if err != nil || c.was != nil {
		return err
	}
	return c.folder.Create(f.Path, newMemoryFile)
}

// Remember adds a fact on behalf of the user, and returns the diff.
func (f Facts) Remember(text string, now time.Time) (diff string, err error) {
	if err := addsControls("the fact", text, ""); err != nil {
		return "", err
	}
	return written(f.adding(text, agent.Caller{}, now))
}

// Forget removes a fact on behalf of the user, and returns the diff.
func (f Facts) Forget(text string) (diff string, err error) {
	return written(f.removing(context.Background(), text))
}

func written(c change, err error) (diff string, _ error) {
	if err != nil {
		return "", err
	}
	return strings.Replace(c.diff(), "--- /dev/null\n", "--- new note\n", 1), c.write()
}
