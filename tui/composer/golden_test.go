package composer_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
)

// box is the composer with the lists above it.
type box struct {
	keys     draw.Keys
	commands []chat.Command
	composer composer.Model
	lists    composer.Lists
}

func (b *box) press(names ...string) {
	for _, name := range names {
		for _, pressed := range boxtest.Presses(name) {
			c := &b.composer
			if !b.lists.Press(pressed, &b.keys, c, b.commands) {
				c.Press(pressed)
			}
			b.follow()
		}
	}
}

// follow opens and closes the lists as the screen does.
func (b *box) follow() {
	if load := b.lists.Follow(context.Background(), &b.composer, b.commands); load != nil {
		switch msg := load().(type) {
		case composer.MentionsMsg:
			b.lists.Mentions.Take(msg)
			b.follow()
		case composer.PreviewMsg:
			b.lists.Mentions.TakePreview(msg)
		}
	}
}

func (b *box) lines(width, height int, theme *draw.Theme) (lines []string) {
	b.composer.Restyle(theme)
	b.composer.Resize(width, min(8, height/2))
	lines = append(b.lists.View(width, height/2, &b.keys, theme), b.composer.Waiting(&b.keys, width, theme, true)...)
	return append(lines, b.composer.Lines...)
}

// TestComposer keeps one golden a state of what is written, with the list that
// is open above it.
func TestComposer(t *testing.T) {
	stories := map[string]func(t *testing.T, width int) boxtest.Box{}
	for name, write := range written {
		stories[name] = func(t *testing.T, width int) boxtest.Box {
			o := chattest.WithLibrary()
			b := &box{keys: draw.DefaultKeys()}
			b.composer = composer.New(&b.keys, draw.NewTheme("", true, true, nil))
			b.composer.Resize(width, 8)
			b.commands = panel.Commands(&o)
			b.lists.Mentions.Notes = o.Notes
			write(b)
			return boxtest.Box{Height: 24, Least: 8, Draw: b.lines}
		}
	}
	boxtest.Boxes(t, stories)
}

func typing(names ...string) func(b *box) { return func(b *box) { b.press(names...) } }

var written = map[string]func(b *box){
	"several lines are written": typing("one", "ctrl+j", "two", "alt+enter", "three", "shift+enter", "four"),
	"a long paste has a name": func(b *box) {
		b.press("look: ")
		b.composer.Paste(strings.Repeat("a line\r\n", 100))
	},
	"a waiting message is changed": func(b *box) {
		b.composer.Wait("and swimming?", -1)
		b.composer.Wait("and rowing?", -1)
		b.composer.Earlier()
		b.composer.Earlier()
	},
	"commands after a slash": func(b *box) {
		o := chattest.WithEverything()
		b.commands = panel.Commands(&o)
		b.press("/")
	},
	"prompts of servers": typing("/every"),
	"notes after an at":  typing("see @i", "down"),
	"tools after an at":  typing("@task"),
	"no tools in a text": typing("see @task"),
}

// planned has one note.
type planned struct{}

func (planned) Mentions(context.Context, string) ([]chat.Mention, error) {
	return []chat.Mention{{Name: "plan.md", Detail: "Plan"}}, nil
}

func (planned) Note(context.Context, string, string) (chat.Note, error) {
	return chat.Note{Text: "# Running\n\n- [ ] **ten** percent, see [log](log.md)\n\nUp \x1b[2J&#27;[2J"}, nil
}

func TestPreviewLooksLikeANote(t *testing.T) {
	b := &box{keys: draw.DefaultKeys()}
	theme := draw.NewTheme("", true, true, nil)
	b.composer = composer.New(&b.keys, theme)
	b.lists.Mentions.Notes = planned{}
	b.press("@p")
	shown := ansi.Strip(strings.Join(b.lists.View(100, 12, &b.keys, theme), "\n"))
	for _, want := range []string{"│ Running", "[ ] ten percent, see log"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	if found := regexp.MustCompile(`\*\*|\]\(|# R|\x1b`).FindString(shown); found != "" {
		t.Errorf("%q in\n%s", found, shown)
	}
}
