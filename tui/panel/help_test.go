package panel

import (
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"

	"lifehub/tui/draw"
)

func TestHelpShowsEveryKey(t *testing.T) {
	keys := draw.DefaultKeys()
	h := Help{}
	h.Build(&keys, 100, draw.NewTheme("", true, false, nil))
	page := strings.Join(h.Lines, "\n")
	for _, group := range keys.Groups() {
		for _, named := range group.Keys {
			if b := key.Binding(*named.Binding); !strings.Contains(page, b.Help().Key) {
				t.Errorf("help does not name %s", named.Name)
			}
		}
	}
}
