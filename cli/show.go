package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/notes"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// printDocument prints Markdown: rendered on a terminal, unchanged elsewhere. On a terminal the
// block at the given line is marked; 0 marks none.
func printDocument(sh *app.Process, text string, line int) error {
	out := strings.TrimRight(safetext.Text(text), "\n") + "\n"
	if width, ok := app.Columns(sh.Out); ok {
		out = drawn(sh, text, line, width)
	}
	if _, err := io.WriteString(colorprofile.NewWriter(sh.Out, sh.Environ()), out); err != nil {
		return fmt.Errorf("print the text: %w", err)
	}
	return nil
}

// drawn renders the text as the reader of the chat does.
func drawn(sh *app.Process, text string, line, width int) string {
	name, own := "", map[string]string(nil)
	if _, c, err := app.LoadSettings(sh); err == nil {
		if name = c.Theme; strings.ContainsAny(name, `/\`) {
			own, _ = settings.OwnColours(app.AtHome(name)) // the chat reports errors in the file
		}
	}
	coloured := colorprofile.Detect(sh.Out, sh.Environ()) > colorprofile.ASCII
	theme, light := draw.NewTheme(name, true, coloured, own), draw.NewTheme(name, false, coloured, own)
	if theme.Dim.GetForeground() != light.Dim.GetForeground() && app.HasScreen(sh) &&
		!lipgloss.HasDarkBackground(sh.In, sh.Out) {
		theme = light
	}
	inside := width - gutter
	if line == 0 {
		inside -= gutter
	}
	rows := draw.NewDocumentView(draw.ParseDocument(text), line, line).All(max(1, inside), theme)
	if line == 0 { // otherwise the mark takes this space
		for i, row := range rows {
			rows[i] = strings.TrimRight(strings.Repeat(" ", gutter)+row, " ")
		}
	}
	return "\n" + strings.Join(rows, "\n") + "\n\n"
}

// gutter is the margin on either side of rendered text, in columns.
const gutter = 2

// noteJSON is the object that note --json prints.
type noteJSON struct {
	Path      string   `json:"path"`
	Line      int      `json:"line,omitempty"` // that was named: of the file, or the page of a PDF or an image
	Title     string   `json:"title"`
	Aliases   []string `json:"aliases,omitempty"`
	Date      string   `json:"date,omitempty"` // YYYY-MM-DD
	Tags      []string `json:"tags,omitempty"`
	Untrusted bool     `json:"untrusted,omitempty"` // it says that it is from elsewhere
	Problems  []string `json:"problems,omitempty"`  // what could not be read
	Text      string   `json:"text"`
}

func jsonOfNote(n notes.Note, line int) noteJSON {
	note := noteJSON{
		Path: n.Path, Line: line, Title: n.Title, Aliases: n.Aliases, Tags: n.Tags, Untrusted: n.Untrusted,
		Problems: n.Problems, Text: n.Text,
	}
	if !n.Date.IsZero() {
		note.Date = n.Date.String()
	}
	return note
}

// newNote returns `lifehub note`.
func newNote(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var raw, asJSON bool
	cmd := &cobra.Command{
		Use:   "note NAME[:LINE]",
		Short: "Print a note",
		Long: "Print a note, named by its path, file name, title or alias. On a terminal it is drawn, with the block " +
			"at LINE\n" +
			"marked; into a file or a pipe it goes as it is.",
		Example: "  lifehub note running/plan.md\n  lifehub note \"Sourdough\"\n  lifehub note running/log.md:12\n" +
			"  lifehub note \"paper.pdf p. 3\"\n" +
			"  lifehub note boiler | grep pressure",
		Args: cobra.ExactArgs(1),
		RunE: onFolders(sh, &flags, "reading", func(ctx context.Context, a *app.App, given []string) error {
			note, line, err := find(ctx, a, given[0])
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(sh, "note", jsonOfNote(note, line))
			}
			if raw {
				_, err := io.WriteString(sh.Out, note.Text)
				return err
			}
			if !term.IsTerminal(sh.Out.Fd()) {
				return printDocument(sh, note.Text, line)
			}
			return printDocument(sh, note.Shown(), line)
		}),
	}
	app.RegisterNotes(&flags, cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "print the text as it is, on a terminal too")
	app.AddJSON(cmd, &asJSON, "print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("raw", "json")
	return cmd
}

// find reads the note with a name, which may end with a line or page.
func find(ctx context.Context, a *app.App, name string) (notes.Note, int, error) {
	note, _, line, err := a.ReadNote(ctx, name, "")
	if !errors.Is(err, fs.ErrNotExist) {
		return note, line, err
	}
	var names []string
	paths := map[string]string{}
	for _, folder := range a.Folders() {
		entries, _, listed := folder.List(ctx)
		if listed != nil {
			return note, 0, errors.Join(err, listed)
		}
		for _, e := range entries {
			if a.Hides(folder, e.Path) {
				continue
			}
			short := notes.Key(filepath.Base(e.Path))
			names = append(names, short)
			paths[short] = e.Path
		}
	}
	if near := text.Nearest(notes.Key(filepath.Base(name)), names, 4); near != "" {
		err = fmt.Errorf("no note %q; did you mean %s?", name, paths[near])
	}
	return note, 0, app.ExitError{Err: err, Code: app.ExitNothing}
}
