package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"lifehub/store/file"

	"github.com/charmbracelet/x/term"

	"lifehub/cli/settings"
	"lifehub/store"
)

// process is the world a command runs in, as one process sees it.
type process struct {
	in       *os.File
	out, err *os.File
	getenv   func(string) (string, bool)
	environ  func() []string
	// letGo no longer has a signal end the context: who runs now takes them.
	// nil: none does.
	letGo func()

	failed error // of the command, once it was shown
}

// runFlags are the flags of the commands that work on notes.
type runFlags struct {
	notes   []string
	model   string
	mode    string
	noSave  bool
	resume  string // conversation to go on with; "": a new one
	hasLast bool   // go on with the last one
}

// hasScreen tells whether there is a terminal that can be drawn on.
func hasScreen(sh *process) bool {
	name, _ := sh.getenv("TERM")
	return term.IsTerminal(sh.in.Fd()) && term.IsTerminal(sh.out.Fd()) && name != "dumb" && name != ""
}

// openStore opens the conversations. Damaged ones are offered to be restored,
// where somebody can be asked.
func openStore(ctx context.Context, sh *process, path string) (*store.Store, error) {
	s, err := store.Open(path)
	var damaged *file.DamagedError
	if !errors.As(err, &damaged) || !term.IsTerminal(sh.in.Fd()) || !term.IsTerminal(sh.err.Fd()) {
		return s, err
	}
	fmt.Fprintln(sh.err, "lifehub:", err)
	if err := restoreChats(ctx, sh, path, false); err != nil {
		return nil, err
	}
	return store.Open(path)
}

// loadSettings finds the folders and reads the settings, flags not yet among them.
func loadSettings(sh *process) (settings.Paths, *settings.Config, error) {
	p, err := settings.FindPaths(sh.getenv)
	if err != nil {
		return settings.Paths{}, nil, err
	}
	c, err := settings.Load(p.ConfigFile(), sh.getenv)
	if err != nil {
		return p, c, err
	}
	c.Opened, err = makePrivate(p, c)
	c.Misspelt = settings.MisspeltNames(sh.environ())
	return p, c, err
}
