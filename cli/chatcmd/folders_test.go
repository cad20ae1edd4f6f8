package chatcmd

import (
	"path/filepath"
	"strings"
	"testing"

	"lifehub/cli/settings"
	"lifehub/internal/apptest"
)

// A folder added by `lifehub index` while a chat is open is searched by that chat.
func TestNewFolderIsIndexedInTheChat(t *testing.T) {
	a := apptest.Open(t, apptest.Vault(t))
	a.Paths.Config = t.TempDir()
	bg := &background{App: a, notices: make(chan string, 16), wake: make(chan struct{}, 1)}
	bg.spawn(func() { bg.followFolders(t.Context(), func(string) (string, bool) { return "", false }) })
	t.Cleanup(bg.wait)
	more := t.TempDir()
	apptest.Write(t, filepath.Join(more, "boat.md"), "# Boat\n")
	if err := settings.RememberNotes(a.Paths.ConfigFile(), more); err != nil {
		t.Fatal(err)
	}
	if notice := <-bg.notices; !strings.HasPrefix(notice, more+" is now ") {
		t.Errorf("it says %q", notice)
	}
	<-bg.wake // wakes the indexer
	if open := bg.App.OpenVaults(); len(open) != 2 || open[1].Folder.Dir() != more || !open[1].Behind.Load() {
		t.Errorf("open are %v", open)
	}
}
