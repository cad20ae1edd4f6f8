package panel_test

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
)

// chats is the list of the two conversations of [chattest.Kept], with what it
// renamed and deleted.
func chats(t *testing.T, names ...string) (closed bool, renamed, removed []string) {
	t.Helper()
	c, err := panel.NewChats(t.Context(), chattest.Kept{})
	if err != nil {
		t.Fatal(err)
	}
	c.Pick = func(int) tea.Cmd { return nil }
	c.Current = c.List[1].ID
	k := draw.DefaultKeys()
	var shown panel.Panel = c
	for _, name := range names {
		for _, pressed := range boxtest.Presses(name) {
			if shown == nil {
				t.Fatalf("closed before %s", name)
			}
			var did tea.Msg
			shown, did, _ = shown.Update(pressed, &k)
			switch did := did.(type) {
			case panel.Rename:
				renamed = append(renamed, did.ID+" "+did.Title)
			case panel.Remove:
				removed = append(removed, did.IDs...)
			}
		}
	}
	return shown == nil, renamed, removed
}

func TestMarkedConversationsAreDeletedOnClosing(t *testing.T) {
	t.Parallel()
	list, err := chattest.Kept{}.Recent(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keys    []string
		closed  bool
		removed []string
	}{
		"marked":         {keys: []string{"ctrl+x"}},
		"closed":         {keys: []string{"ctrl+x", "esc"}, closed: true, removed: []string{list[0].ID}},
		"undone":         {keys: []string{"ctrl+x", "ctrl+x", "esc"}, closed: true},
		"opened instead": {keys: []string{"ctrl+x", "enter"}, closed: true},
		"the open one":   {keys: []string{"down", "ctrl+x", "esc"}, closed: true},
	} {
		closed, _, removed := chats(t, c.keys...)
		if closed != c.closed || !slices.Equal(removed, c.removed) {
			t.Errorf("%s: closed %v, deleted %q; want %v, %q", name, closed, removed, c.closed, c.removed)
		}
	}
}

func TestListRenamesAConversation(t *testing.T) {
	t.Parallel()
	list, err := chattest.Kept{}.Recent(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, renamed, _ := chats(t, "ctrl+r", "ctrl+u", "x", "y", "enter"); !slices.Equal(renamed,
		[]string{list[0].ID + " xy"}) {
		t.Errorf("got %q", renamed)
	}
	if closed, renamed, _ := chats(t, "ctrl+r", "x", "esc"); closed || renamed != nil {
		t.Errorf("cancelled: closed %v, renamed %q", closed, renamed)
	}
}
