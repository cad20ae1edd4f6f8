package chatcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
	"lifehub/llm/ollama"
	"lifehub/notes"
	"lifehub/tui/draw"
)

// offers finds folders of notes for users who have named none.
type offers struct {
	*background
	examples fs.FS // has the starter notes
}

// offersPatience bounds the search for folders, since one may be on a network drive that does not
// respond.
const offersPatience = 3 * time.Second

// Offers lists folders of notes: Obsidian's vaults, then folders in common places, and the starter
// notes last. Unreadable folders are left out.
func (o offers) Offers(ctx context.Context) ([]chat.Offer, error) {
	ctx, cancel := context.WithTimeout(ctx, offersPatience)
	defer cancel()
	found := make(chan chat.Offer)
	o.spawn(func() {
		defer close(found)
		o.find(ctx, found)
	})
	var list []chat.Offer
	for open := true; open; {
		var offer chat.Offer
		select {
		case offer, open = <-found:
			if open {
				list = append(list, offer)
			}
		case <-ctx.Done():
			open = false
		}
	}
	return append(list, chat.Offer{Name: "Starter notes", Detail: "sample notes to try it with"}), nil
}

// find sends each folder of notes it finds once, until ctx ends.
func (o offers) find(ctx context.Context, found chan<- chat.Offer) {
	home, err := os.UserHomeDir()
	if err != nil {
		slog.Warn("look for notes", "error", err)
	}
	known := map[string]bool{}
	here, _ := os.Getwd() // "" if the working directory was deleted
	vaults := obsidianVaults(home)
	for i, dir := range slices.Concat(vaults, []string{here}, usualPlaces(home)) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || known[real] || ctx.Err() != nil {
			continue
		}
		kind := kindOfNotes(dir)
		switch {
		case i < len(vaults):
			kind = "Obsidian vault"
		case kind != "":
		case dir == home || overlaps(real, known) || !isMostlyNotes(ctx, dir):
			continue
		case dir == here:
			kind = "This folder"
		default:
			kind = "Folder of notes"
		}
		known[real] = true
		offer := chat.Offer{Name: kind, Path: underHome(dir, home), Detail: countNotes(ctx, dir)}
		if offer.Detail == "" {
			continue
		}
		select {
		case found <- offer:
		case <-ctx.Done():
		}
	}
}

// overlaps reports whether a folder is within one of others, or has one of them within.
func overlaps(dir string, others map[string]bool) bool {
	for other := range others {
		dir, other := dir+string(filepath.Separator), other+string(filepath.Separator)
		if strings.HasPrefix(dir, other) || strings.HasPrefix(other, dir) {
			return true
		}
	}
	return false
}

// mostSampled bounds the files visited to tell whether most of a folder's are notes.
const mostSampled = 2000

// isMostlyNotes reports whether most files of a folder are Markdown or Org, whatever it is called: a source repository
// with a README is not a folder of notes, and neither is one of papers.
func isMostlyNotes(ctx context.Context, dir string) bool {
	written, all, _ := walkNotes(ctx, dir, mostSampled, func(name string) bool {
		return slices.Contains([]string{".md", ".markdown", ".org"}, strings.ToLower(filepath.Ext(name)))
	})
	return 2*written > all
}

// obsidianVault is an entry of obsidian.json.
type obsidianVault struct {
	Path string `json:"path"`
	Time int64  `json:"ts"` // when it was last opened, in milliseconds
	Open bool   `json:"open"`
}

func (v obsidianVault) lastOpen() int64 {
	if v.Open {
		return math.MaxInt64
	}
	return v.Time
}

// obsidianVaults returns the vaults listed in obsidian.json, open ones first, then by last use.
func obsidianVaults(home string) []string {
	configs := []string{
		filepath.Join(home, ".var", "app", "md.obsidian.Obsidian", "config"), // flatpak
		filepath.Join(home, "snap", "obsidian", "current", ".config"),
	}
	if dir, err := os.UserConfigDir(); err == nil {
		configs = append([]string{dir}, configs...)
	}
	var list []string
	for _, dir := range configs {
		data, err := files.Read(filepath.Join(dir, "obsidian", "obsidian.json"))
		if err != nil {
			continue
		}
		var file struct {
			Vaults map[string]obsidianVault `json:"vaults"`
		}
		if err := json.Unmarshal(data, &file); err != nil {
			slog.Warn("read which vaults Obsidian knows", "error", err)
			continue
		}
		vaults := slices.Collect(maps.Values(file.Vaults))
		slices.SortFunc(vaults, func(a, b obsidianVault) int {
			return cmp.Or(cmp.Compare(b.lastOpen(), a.lastOpen()), strings.Compare(a.Path, b.Path))
		})
		for _, v := range vaults {
			list = append(list, v.Path)
		}
	}
	return list
}

// usualPlaces returns the folders in places where people keep notes.
func usualPlaces(home string) []string {
	var list []string
	for _, base := range []string{
		"", "Documents", "Dropbox", "Nextcloud", "OneDrive", "Sync", "Obsidian", "Documents/Obsidian",
		"Library/Mobile Documents/iCloud~md~obsidian/Documents",
	} {
		base = filepath.Join(home, filepath.FromSlash(base))
		entries, err := os.ReadDir(base)
		if err != nil || home == "" {
			continue
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				list = append(list, filepath.Join(base, e.Name()))
			}
		}
	}
	return list
}

// kindOfNotes returns the program whose notes a folder contains, or "" if none has left a mark.
func kindOfNotes(dir string) string {
	for _, mark := range [][2]string{
		{".obsidian", "Obsidian vault"},
		{"logseq", "Logseq graph"},
		{".zk", "zk notebook"},
		{".foam", "Foam workspace"},
	} {
		if info, err := os.Stat(filepath.Join(dir, mark[0])); err == nil && info.IsDir() {
			return mark[1]
		}
	}
	return ""
}

// mostCounted bounds the files visited to count notes.
const mostCounted = 20_000

// walkNotes counts the files in a folder, and which of them are notes. more reports that it stopped
// after most of them.
func walkNotes(ctx context.Context, dir string, most int, isNote func(name string) bool) (found, files int, more bool) {
	visited := 0
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		visited++
		switch {
		case ctx.Err() != nil || visited > most:
			return fs.SkipAll
		case err != nil && e != nil && e.IsDir(), e != nil && e.IsDir() && path != dir &&
			strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case err != nil || e.IsDir():
			return nil
		case isNote(path):
			found++
		}
		files++
		return nil
	})
	return found, files, visited > most
}

// countNotes describes the number of notes in a folder; "" means none that can be read.
func countNotes(ctx context.Context, dir string) string {
	found, _, more := walkNotes(ctx, dir, mostCounted, notes.IsNote)
	switch {
	case found == 0:
		return ""
	case more:
		return fmt.Sprintf("more than %d notes", found)
	}
	return draw.Count(found, "note")
}

// underHome abbreviates the home directory as ~.
func underHome(dir, home string) string {
	if below, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok && home != "" {
		return "~" + string(filepath.Separator) + below
	}
	return dir
}

const (
	typedPatience = 500 * time.Millisecond
	mostTyped     = 40 // folders to count notes in
	mostBegun     = 5
)

// Typed describes the folder that a path names, and the folders that begin with it.
func (o offers) Typed(ctx context.Context, path string) (typed chat.TypedPath) {
	ctx, cancel := context.WithTimeout(ctx, typedPatience)
	defer cancel()
	if path == "~" {
		path = "~/"
	}
	dir, begin := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	entries, err := os.ReadDir(cmp.Or(app.AtHome(dir), "."))
	if err != nil {
		return chat.TypedPath{Detail: "no such folder", Missing: true}
	}
	looked := 0
	for _, e := range entries {
		name := dir + e.Name() + "/"
		info, err := os.Stat(app.AtHome(name))
		fits := strings.HasPrefix(strings.ToLower(e.Name()), strings.ToLower(begin))
		hidden := e.Name()[0] == '.' && !strings.HasPrefix(begin, ".")
		if err != nil || !info.IsDir() || !fits || hidden {
			continue
		}
		if typed.Complete == "" {
			typed.Complete = name
		}
		for !strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed.Complete)) {
			_, size := utf8.DecodeLastRuneInString(typed.Complete)
			typed.Complete = typed.Complete[:len(typed.Complete)-size]
		}
		if looked++; looked <= mostTyped {
			typed.Begun = append(typed.Begun, chat.Offer{
				Name: e.Name(), Path: name,
				Detail: countNotes(ctx, app.AtHome(name)),
			})
		}
	}
	slices.SortStableFunc(typed.Begun, func(a, b chat.Offer) int {
		return cmp.Compare(min(1, len(b.Detail)), min(1, len(a.Detail)))
	})
	typed.Begun = typed.Begun[:min(len(typed.Begun), mostBegun)]
	for i, o := range typed.Begun {
		typed.Begun[i].Detail = cmp.Or(o.Detail, "no notes")
	}
	info, err := os.Stat(app.AtHome(path))
	switch {
	case err == nil && info.IsDir():
		typed.Detail = cmp.Or(countNotes(ctx, app.AtHome(path)), "no notes in it")
	case err == nil:
		typed.Detail, typed.Missing = "this is a file, not a folder", true
	case len(typed.Begun) == 0:
		typed.Detail, typed.Missing = "no such folder", true
	}
	return typed
}

// Take remembers the folder and starts to index it.
func (o offers) Take(_ context.Context, offer chat.Offer) error {
	dir := app.AtHome(offer.Path)
	if dir == "" {
		dir = filepath.Join(o.App.Paths.Data, "starter-notes")
		if err := writeStarterNotes(dir, o.examples, when.DayOf(time.Now())); err != nil {
			return err
		}
	}
	dir, err := settings.VaultDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no such folder: %s", offer.Path)
	} else if err != nil {
		return err
	}
	if err := o.App.OpenVault(dir); err != nil {
		return err
	}
	o.stale()
	if err := settings.RememberNotes(o.App.Paths.ConfigFile(), dir); err != nil {
		slog.Warn("remember the notes", "error", err)
		o.notice(fmt.Sprintf("These notes are used now, but not remembered: %v.", err))
	}
	return nil
}

// Model reports which model answers, and what a user without one can do.
func (o offers) Model(ctx context.Context) chat.FoundModel {
	info, err := o.App.Provider.Info(ctx, "")
	state := o.App.Provider.State()
	var missing *llm.NotFoundError
	switch {
	case state.Provider == "offline" && o.App.Settings.Provider == "offline":
		return chat.FoundModel{Detail: "Your settings ask for no model: LifeHub lists the closest passages."}
	case state.Provider == "offline":
		return o.noModel(ctx)
	case errors.As(err, &missing) && state.Provider == "ollama":
		return chat.FoundModel{
			Detail: fmt.Sprintf("Ollama runs here, but %s is not installed.", missing.Model),
			Pull:   missing.Model, Why: "the model that answers",
		}
	case err != nil:
		return chat.FoundModel{
			Detail: fmt.Sprintf("The model server of your settings does not answer: %v.", err),
			Next:   "`lifehub doctor` checks it; you can look around meanwhile.",
		}
	}
	server := cmp.Or(map[string]string{"ollama": "Ollama"}[state.Provider], "the model server")
	found := chat.FoundModel{Ready: true, Detail: fmt.Sprintf("%s answers, from %s on this machine.", info.Name,
		server)}
	if state.Remote != "" {
		found.Detail = fmt.Sprintf("%s answers, from %s: what you ask leaves this machine.", info.Name, state.Remote)
	}
	if _, err := o.App.Provider.Embedder(ctx); errors.As(err, &missing) ||
		o.App.Settings.Provider == "auto" && state.Text != "" {
		found.Pull, found.Why = cmp.Or(o.App.Settings.EmbedModel, ollama.Embeddings[0]),
			"finds notes by the meaning of whole sentences"
	}
	return found
}

// noModel reports why no model is available, and how to fix that.
func (bg *background) noModel(ctx context.Context) chat.FoundModel {
	const lists = "without one, LifeHub lists the closest passages."
	models, err := bg.App.Provider.Models(ctx)
	_, notInstalled := exec.LookPath("ollama")
	var foreign *llm.ForeignError
	switch {
	case errors.As(err, &foreign):
		return chat.FoundModel{
			Detail: text.AsSentence(foreign.Error()),
			Next:   "Your first message asks whether to use it; " + lists,
		}
	case err == nil:
		lacks := "no model yet; "
		if len(models) > 0 {
			lacks = "no model that can chat; "
		}
		return chat.FoundModel{
			Detail: "Ollama runs here and has " + lacks + lists, Pull: llm.Suggestion(),
			Why: "a model that fits this machine",
		}
	case notInstalled == nil:
		return chat.FoundModel{
			Detail: "Ollama is installed but does not run; " + lists,
			Next:   "`ollama serve` starts it (detected automatically).",
		}
	}
	return chat.FoundModel{
		Detail: "No model on this machine: LifeHub lists the closest passages.",
		Next: "For written answers install Ollama from ollama.com, then run ollama pull " + llm.Suggestion() +
			" (detected automatically).",
	}
}
