package mcpclient

import (
	"strings"
	"sync/atomic"
	"testing"

	"lifehub/mcpclient/config"
)

func TestNoteFoldersAreRoots(t *testing.T) {
	t.Parallel()
	var folder atomic.Value
	first, second := t.TempDir(), t.TempDir()
	folder.Store(first)
	options := Options{User: testUser{roots: func() []string { return []string{folder.Load().(string)} }}}
	entry := npm(t, "e", "@modelcontextprotocol/server-everything")
	s := start(t, options, entry)
	roots := func() string {
		result, err := one(t, s, "e_get-roots-list").Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return result.Text
	}
	if got := roots(); !strings.Contains(got, "file://"+first) {
		t.Errorf("got %q", got)
	}
	folder.Store(second)
	s.RootsChanged()
	waitFor(t, func() bool { return strings.Contains(roots(), "file://"+second) })

	none, elsewhere := entry, entry
	none.Roots, elsewhere.Args = []string{}, []string{"stdio", t.TempDir()}
	web := config.Entry{Name: "web", Transport: config.HTTP, URL: "http://127.0.0.1:1"}
	for _, entry := range []config.Entry{none, elsewhere, web} {
		if newSupervisor(s, entry, "").offersRoots() {
			t.Errorf("%+v is told where the notes are", entry)
		}
	}
}
