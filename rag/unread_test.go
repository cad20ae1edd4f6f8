package rag

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

// While notes are being read, or after that was interrupted, a search reports how many
// notes are missing, in other processes too.
func TestCoverageCountsUnreadNotes(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	files := map[string]string{}
	for i := range 24 {
		files[fmt.Sprintf("note%02d.md", i)] = fmt.Sprintf("# Note\n\nBoiler number %d hums.\n",
			i) + strings.Repeat("\n", batchBytes/8)
	}
	dir, at := t.TempDir(), t.TempDir()
	write(t, dir, files)
	folder, x := openVault(t, dir, at)
	_, other := openVault(t, dir, at)
	check := func(x *Index, unread bool) {
		t.Helper()
		c, err := x.Coverage(t.Context())
		if err != nil || c.Total != len(files) || c.Indexed+c.Unread != c.Total || (c.Unread > 0) != unread ||
			unread && c.Indexed == 0 {
			t.Errorf("coverage is %+v, %v", c, err)
		}
	}
	cut := func() {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := x.Sync(ctx, folder, nil, func(p Progress) {
			if p.Phase == "read" && p.Done == 20 {
				check(x, true)
				check(other, true)
				cancel()
			}
		})
		if err == nil {
			t.Fatal("it was not cut")
		}
		check(other, true)
	}
	cut()
	syncNow(t, x, folder, nil)
	check(x, false)
	check(other, false)
	for name, text := range files { // changed notes are unread too
		files[name] = text + "It is loud.\n"
	}
	write(t, dir, files)
	cut()
	syncNow(t, x, folder, nil)
	check(other, false)
}
