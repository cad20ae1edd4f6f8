package cli

import (
	"os"
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
