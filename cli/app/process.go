package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/charmbracelet/x/term"

	"lifehub/cli/settings"
	"lifehub/store"
	"lifehub/tui/safetext"
)

// Process is the environment of a command: files, variables and signals.
type Process struct {
	In       *os.File
	Out, Err *os.File
	Environment
	Signals *Signals // that cancel the context; nil: none does

	Licences string // what `lifehub licenses` prints
	Examples fs.FS  // has the starter notes in examples/notes

	Failed error // error of the command, set after it was shown

	secrets *settings.Redaction // see SecretsOf; nil until first used
}

// Environment has the variables of a process. [System] is the real one.
type Environment interface {
	Getenv(name string) (value string, ok bool)
	Environ() []string // as NAME=value
}

// System is the environment of this process.
type System struct{}

func (System) Getenv(name string) (string, bool) { return os.LookupEnv(name) }
func (System) Environ() []string                 { return os.Environ() }

// RunFlags are the flags of the commands that work on notes.
type RunFlags struct {
	Notes    []string
	Model    string
	Mode     string
	NoSave   bool
	ReadOnly string // whether writing and sending are blocked; "": as in the settings
	Resume   string // conversation to resume; "": a new one
	HasLast  bool   // resume the last one
	Server   string // the only MCP server to start; "": all
	Alone    bool   // start no MCP server
	NoIndex  bool   // open the folders of notes without their indexes
}

// Notice prints texts that the user should know on stderr, a line each; nothing for "".
func (sh *Process) Notice(texts ...string) {
	for _, text := range texts {
		if text != "" {
			fmt.Fprintf(sh.Err, "! %s\n", safetext.Line(text))
		}
	}
}

// HasScreen reports whether input and output are a terminal that can draw a screen.
func HasScreen(sh *Process) bool {
	name, _ := sh.Getenv("TERM")
	return term.IsTerminal(sh.In.Fd()) && term.IsTerminal(sh.Out.Fd()) && name != "dumb" && name != ""
}

// Columns returns the width of a terminal, or 80 if it reports none. It returns false if out is not
// a terminal.
func Columns(out *os.File) (width int, ok bool) {
	if !term.IsTerminal(out.Fd()) {
		return 0, false
	}
	if width, _, err := term.GetSize(out.Fd()); err == nil && width > 0 {
		return width, true
	}
	return 80, true
}

// OpenStore opens the conversations. If they are damaged and the user can be asked, it offers to
// restore a backup.
func OpenStore(ctx context.Context, sh *Process, path string) (*store.Store, error) {
	s, err := store.Open(path)
	var damaged *store.DamagedError
	if !errors.As(err, &damaged) || !term.IsTerminal(sh.In.Fd()) || !term.IsTerminal(sh.Err.Fd()) {
		return s, err
	}
	fmt.Fprintln(sh.Err, "lifehub:", err)
	if err := RestoreChats(ctx, sh, path, false); err != nil {
		return nil, err
	}
	return store.Open(path)
}

// LoadSettings finds the folders and reads the settings, without flags.
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

// SecretsOf returns the secrets known to this process, including keys it reads later, to redact
// whatever a command prints.
func SecretsOf(sh *Process) *settings.Redaction {
	if sh.secrets == nil {
		sh.secrets = secretsOf(sh)
	}
	return sh.secrets
}

func secretsOf(sh *Process) *settings.Redaction {
	secrets := &settings.Redaction{Config: settings.Defaults(), Environ: sh.Environ()}
	if p, err := settings.FindPaths(sh.Getenv); err == nil {
		secrets.Paths = p
		if c, err := settings.Load(p.ConfigFile(), sh.Getenv); err == nil {
			secrets.Config = c
		}
	}
	return secrets
}
