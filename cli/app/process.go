package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"lifehub/store/file"

	"github.com/charmbracelet/x/term"

	"lifehub/cli/redact"
	"lifehub/cli/settings"
	"lifehub/store"
)

// Process is the world a command runs in, as one process sees it.
type Process struct {
	In       *os.File
	Out, Err *os.File
	Getenv   func(string) (string, bool)
	Environ  func() []string
	// LetGo no longer has a signal end the context: who runs now takes them.
	// nil: none does.
	LetGo func()

	Failed error // of the command, once it was shown

	secrets *redact.Redaction // of SecretsOf; nil: not asked for yet
}

// RunFlags are the flags of the commands that work on notes.
type RunFlags struct {
	Notes    []string
	Model    string
	Mode     string
	NoSave   bool
	ReadOnly string // whether nothing that writes or sends may run; "": as the settings say
	Approve  string // whether plans are shown before they run; "": as the settings say
	Resume   string // conversation to resume; "": a new one
	HasLast  bool   // resume the last one
	Server   string // the only MCP server to start; "": all
	Alone    bool   // start no MCP server
	NoIndex  bool   // open the folders of notes, and not their index
}

// HasScreen reports whether there is a terminal that can be drawn on.
func HasScreen(sh *Process) bool {
	name, _ := sh.Getenv("TERM")
	return term.IsTerminal(sh.In.Fd()) && term.IsTerminal(sh.Out.Fd()) && name != "dumb" && name != ""
}

// Columns is how wide a terminal is, 80 where it reports no width; false: it is
// no terminal.
func Columns(out *os.File) (width int, ok bool) {
	if !term.IsTerminal(out.Fd()) {
		return 0, false
	}
	if width, _, err := term.GetSize(out.Fd()); err == nil && width > 0 {
		return width, true
	}
	return 80, true
}

// OpenStore opens the conversations. Damaged ones are offered to be restored,
// where somebody can be asked.
func OpenStore(ctx context.Context, sh *Process, path string) (*store.Store, error) {
	s, err := store.Open(path)
	var damaged *file.DamagedError
	if !errors.As(err, &damaged) || !term.IsTerminal(sh.In.Fd()) || !term.IsTerminal(sh.Err.Fd()) {
		return s, err
	}
	fmt.Fprintln(sh.Err, "lifehub:", err)
	if err := RestoreChats(ctx, sh, path, false); err != nil {
		return nil, err
	}
	return store.Open(path)
}

// LoadSettings finds the folders and reads the settings, flags not yet among them.
func LoadSettings(sh *Process) (settings.Paths, *settings.Config, error) {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return settings.Paths{}, nil, err
	}
	c, err := settings.Load(p.ConfigFile(), sh.Getenv)
	if err != nil {
		return p, c, err
	}
	c.Opened, err = MakePrivate(p, c)
	c.Misspelt = settings.MisspeltNames(sh.Environ())
	return p, c, err
}

// SecretsOf are those that this process knows of, with the keys that it has read
// since, for whatever a command prints.
func SecretsOf(sh *Process) *redact.Redaction {
	if sh.secrets == nil {
		sh.secrets = secretsOf(sh)
	}
	return sh.secrets
}

func secretsOf(sh *Process) *redact.Redaction {
	secrets := &redact.Redaction{Config: settings.Defaults(), Environ: sh.Environ()}
	if p, err := settings.FindPaths(sh.Getenv); err == nil {
		secrets.Paths = p
		if c, err := settings.Load(p.ConfigFile(), sh.Getenv); err == nil {
			secrets.Config = c
		}
	}
	return secrets
}
