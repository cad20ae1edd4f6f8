package app

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestWrongArgumentsShowTheUsage(t *testing.T) {
	root, show := &cobra.Command{Use: "lifehub"}, &cobra.Command{Use: "show ID"}
	root.AddCommand(show)
	CheckArgs(root)
	for _, given := range [][]string{nil, {"one", "two"}} {
		if err := show.Args(show, given); err == nil || err.Error() != "usage: lifehub show ID; see `lifehub show "+
			"--help`" {
			t.Errorf("%q: %v", given, err)
		}
	}
	if err := show.Args(show, []string{"one"}); err != nil {
		t.Error(err)
	}
}
