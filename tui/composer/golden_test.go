package composer_test

import (
	"context"
	"strings"
	"testing"

	"lifehub/internal/chattest"
	"lifehub/tui/backend"
	"lifehub/tui/boxtest"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/panel"
)

// box is the composer with the lists above it.
type box struct {
	keys     keys.Map
	commands []backend.Command
	composer composer.Model
	palette  composer.Palette
	mentions composer.Mentions
}

func (b *box) press(names ...string) {
	for _, name := range names {
		for _, pressed := range boxtest.Presses(name) {
			c := &b.composer
			if !(b.palette.Open() && b.palette.Press(pressed, &b.keys, c, b.commands) || b.mentions.Open() && b.mentions.Press(pressed, &b.keys, c)) {
				c.Press(pressed)
			}
			b.follow()
		}
	}
}

// follow opens and closes the lists as the screen does.
func (b *box) follow() {
	b.palette.Follow(b.composer.Text(), b.commands)
	if load := b.mentions.Follow(b.composer.Before()); load != nil {
		switch msg := load().(type) {
		case composer.MentionsMsg:
			b.mentions.Take(msg)
			b.follow()
		case composer.PreviewMsg:
			b.mentions.TakePreview(msg)
		}
	}
}

func (b *box) lines(width, height int, theme *draw.Theme) (lines []string) {
	const most = 8 // of each of the two
	b.composer.Restyle(theme)
	b.composer.Resize(width, min(most, height/2))
	room := min(most, height/2)
	if b.palette.Open() {
		lines = b.palette.View(width, room, theme)
	}
	if b.mentions.Open() {
		lines = append(lines, b.mentions.View(width, room, theme)...)
	}
	lines = append(lines, b.composer.Waiting(&b.keys, width, theme, true)...)
	return append(lines, b.composer.Lines...)
}

// TestComposer keeps one golden a state of what is written, with the list that
// is open above it.
func TestComposer(t *testing.T) {
	stories := map[string]func(t *testing.T, width int) boxtest.Box{}
	for name, write := range written {
		stories[name] = func(t *testing.T, width int) boxtest.Box {
			o := chattest.WithLibrary()
			b := &box{keys: keys.Default()}
			b.composer = composer.New(&b.keys, draw.NewTheme("", true, true, nil))
			b.composer.Resize(width, 8)
			b.commands = panel.Commands(&o)
			b.mentions.Names = func(place string) ([]backend.Mention, error) { return o.Mentions(context.Background(), place) }
			b.mentions.Beginning = func(name string) string { return o.Preview(context.Background(), name) }
			write(b)
			return boxtest.Box{Height: 16, Least: 8, Draw: b.lines}
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
}
