package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/llm"
	"lifehub/mcpclient"
	"lifehub/rag"
	"lifehub/rag/encoder"
	"lifehub/store"
	"lifehub/tui/draw"
)

// Finding is the outcome of one check.
type Finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"says"`
	Fix    string `json:"fix,omitempty"` // what to do if it is not OK
	// Cause is the underlying network error.
	Cause string `json:"cause,omitempty"`

	Pending bool `json:"pending,omitempty"` // the outcome is not known yet
}

// Examine runs every check and yields each finding when it is known. A failed check does not stop the
// others, except that unreadable settings end the examination.
func Examine(ctx context.Context, sh *app.Process) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		for findings := range examine(ctx, sh) {
			for _, f := range findings {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// examine yields the findings of each check.
func examine(ctx context.Context, sh *app.Process) iter.Seq[[]Finding] {
	return func(yield func([]Finding) bool) {
		p, c, err := app.LoadSettings(sh)
		if !yield(checkSetup(p, c, err)) || err != nil {
			return
		}
		a, err := app.Open(ctx, sh, app.RunFlags{NoSave: true})
		if err != nil {
			yield([]Finding{{What: "start", Detail: err.Error(), Fix: fixFor(err, "fix that file, or move it away")}})
			return
		}
		defer a.Close()
		_ = yield(checkSaving(p, a)) && yield(checkModels(ctx, a)) && yield(checkNotes(ctx, a)) &&
			yield(checkVectorStore(ctx, c)) &&
			yield(checkServers(ctx, a)) && yield(checkHooks(a)) && yield(checkSkills(a)) &&
			yield([]Finding{checkTerminal(sh), checkPrivacy(p)})
	}
}

// checkSetup reports the version and the settings.
func checkSetup(p settings.Paths, c *settings.Config, err error) []Finding {
	version := fmt.Sprintf("LifeHub %s, %s, %s/%s", settings.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	findings := []Finding{{What: "version", OK: true, Detail: version}}
	if err != nil {
		return append(findings, Finding{
			What: "settings", Detail: err.Error(),
			Fix: fixFor(err, "fix that line, or move the file away"),
		})
	}
	from := p.ConfigFile()
	if _, err := os.Stat(from); err != nil {
		from = "defaults; `lifehub config init` writes a file that explains every key"
	}
	findings = append(findings, Finding{What: "settings", OK: true, Detail: from})
	for _, text := range c.Opened {
		findings = append(findings, Finding{What: "privacy", OK: true, Detail: text})
	}
	for _, text := range c.Removed {
		findings = append(findings, Finding{What: "settings", OK: true, Detail: text})
	}
	for _, misspelt := range c.Misspelt {
		findings = append(findings, Finding{
			What: "environment", Detail: misspelt,
			Fix: "`lifehub config show` lists every setting; its variable is LIFEHUB_ plus its name in capitals",
		})
	}
	return findings
}

// checkSaving checks that LifeHub can save what it has to, and the conversations.
func checkSaving(p settings.Paths, a *app.App) []Finding {
	dirs := []string{p.Data, p.State}
	for _, v := range a.OpenVaults() {
		dirs = append(dirs, p.Index(v.Folder.Dir()))
	}
	findings := checkFolders(dirs...)
	if len(findings) == 0 { // otherwise conversations would report the same
		findings = append(findings, checkConversations(p))
	}
	return findings
}

// fixFor returns advice for an error of the machine, such as a full disk, or else the advice given
// for the file.
func fixFor(err error, file string) string {
	if _, advice := files.ExplainFault(err); advice != "" {
		return advice
	}
	return file
}

// checkSkills reports the number of skills, and the prompts and skills that cannot be used.
func checkSkills(a *app.App) (findings []Finding) {
	if n := len(a.Skills().List); n > 0 {
		findings = append(findings, Finding{What: "skills", OK: true, Detail: draw.Count(n, "skill")})
	}
	for _, text := range a.Unused() {
		findings = append(findings, Finding{What: "skills", OK: true, Detail: text})
	}
	return findings
}

// CheckRunning checks what an open App works with.
func CheckRunning(ctx context.Context, a *app.App) []Finding {
	findings := checkModels(ctx, a)
	findings = append(findings, checkNotes(ctx, a)...)
	findings = append(findings, checkServers(ctx, a)...)
	return append(findings, checkPrivacy(a.Paths))
}

// checkFolders checks that LifeHub's folders are writable. Folders that fail for the same reason share a
// finding.
func checkFolders(dirs ...string) []Finding {
	var reasons []string
	refused, todos := map[string][]string{}, map[string]string{} // by reason
	for _, dir := range dirs {
		err := files.TryWriting(dir)
		if err == nil {
			continue
		}
		reason, todo := files.ExplainFault(err)
		if reason == "" || errors.Is(err, fs.ErrPermission) {
			reason, todo = err.Error(), "make the folder writable"
			if path := (*fs.PathError)(nil); errors.As(err, &path) {
				reason = path.Err.Error()
			}
		}
		if refused[reason] == nil {
			reasons = append(reasons, reason)
		}
		refused[reason], todos[reason] = append(refused[reason], dir), todo
	}
	var findings []Finding
	for _, reason := range reasons {
		findings = append(findings, Finding{
			What: "folders", Fix: todos[reason],
			Detail: "nothing can be saved in " + strings.Join(refused[reason], ", ") + ": " + reason,
		})
	}
	return findings
}

// checkConversations checks that the conversations can be opened.
func checkConversations(p settings.Paths) Finding {
	f := Finding{What: "conversations"}
	if _, err := os.Stat(p.Database()); errors.Is(err, fs.ErrNotExist) {
		f.OK, f.Detail = true, "none yet"
		return f
	}
	s, err := store.Open(p.Database())
	if err != nil {
		f.Detail = err.Error()
		var newer *store.NewerSchemaError
		var damaged *store.DamagedError
		if !errors.As(err, &newer) && !errors.As(err, &damaged) { // those errors contain advice
			f.Fix = fixFor(err, "check the file and its folder") + "; `lifehub ask --no-save` works without them"
		}
		return f
	}
	f.OK, f.Detail, f.Fix = true, p.Database(), s.Warning()
	if err := s.Close(); err != nil {
		f.OK, f.Detail = false, err.Error()
	}
	if list, err := store.Backups(p.Database()); err == nil && len(list) > 0 {
		f.Detail += ", backed up " + list[0].Time.Local().Format("2006-01-02 15:04")
	}
	return f
}

func checkModel(ctx context.Context, a *app.App, c *settings.Config) []Finding {
	info, err := a.Provider.Info(ctx, "")
	owner := a.ServerOwner(ctx)
	if owner.Foreign {
		foreign := &llm.ForeignError{Owner: owner}
		return []Finding{{What: "model server", Detail: foreign.Error(), Fix: foreign.Advice()}}
	}
	if a.Provider.State().Provider == "offline" {
		f := Finding{What: "model server", OK: true, Detail: "offline: LifeHub lists the closest passages"}
		if c.Provider == "auto" {
			f.Detail = "no Ollama at " + settings.WithoutPassword(c.Ollama.Host) +
				"; offline: LifeHub lists the closest passages"
			f.Fix = "install Ollama from ollama.com and start it; LifeHub switches automatically"
		}
		return []Finding{f}
	}
	if err != nil {
		return []Finding{{
			What: "model server", Detail: err.Error(),
			Fix: agent.FailedFrom(err).Hint, Cause: llm.Cause(err),
		}}
	}
	window := "window of unknown size"
	if n := a.Provider.Window(); n > 0 {
		window = fmt.Sprintf("window of %d tokens", n)
	}
	model := Finding{What: "model", OK: true, Detail: fmt.Sprintf("%s at %s, %s", info.Name,
		a.Provider.State().Provider, window)}
	if info.Remote != "" {
		model.Detail += "; it runs on " + info.Remote + ", so what you ask leaves this machine"
	}
	switch {
	case owner.Name != "":
		model.Detail += fmt.Sprintf("; the server at %s belongs to %s", owner.Host, owner)
	case owner.Host != "":
		model.Detail += fmt.Sprintf("; the server at %s was found; this system does not report its owner", owner.Host)
	}
	const builtIn = "the built-in encoder, for " + encoder.Languages
	vectors := Finding{What: "semantic search", OK: true}
	e, err := a.Provider.Embedder(ctx)
	if err == nil && e != nil {
		_, err = e.Embed(ctx, []string{"test"})
	}
	var missing *llm.NotFoundError
	switch {
	case errors.As(err, &missing) && !missing.Fixed:
		vectors.Detail, vectors.Fix = builtIn+"; "+err.Error(), "lifehub models pull "+missing.Model
	case err != nil && e == nil:
		vectors.Detail = builtIn + "; " + err.Error()
	case err != nil:
		vectors.OK, vectors.Detail = false, "keyword search only: "+err.Error()
	case e == nil:
		vectors.Detail = builtIn
	default:
		vectors.Detail, vectors.Fix = e.Name(), a.BetterEmbedder(ctx)
	}
	mode := Finding{What: "mode", OK: true, Detail: a.Settings.Mode}
	if a.Settings.Mode == string(agent.AutoMode) {
		fitting, why := a.FittingMode()
		mode.Detail = fmt.Sprintf("auto, here %s: %s", fitting, why)
	}
	return []Finding{model, mode, vectors}
}

// checkModels checks the current model and the servers of `providers`. A fault of the current model's
// server is reported once.
func checkModels(ctx context.Context, a *app.App) []Finding {
	now, all := checkModel(ctx, a, a.Settings), checkModelServers(ctx, a)
	if slices.ContainsFunc(all, func(f Finding) bool {
		name, detail, _ := strings.Cut(f.Detail, ": ")
		return !f.OK && detail == now[0].Detail && strings.HasPrefix(a.Settings.Model, name+"/")
	}) {
		now = nil
	}
	return append(now, all...)
}

// checkModelServers lists the models of the servers of `providers`, all at once.
func checkModelServers(ctx context.Context, a *app.App) []Finding {
	var findings []Finding
	if len(a.Settings.Servers) == 0 || a.Models == nil {
		return nil
	}
	for _, l := range a.Models.Listings(ctx)[1:] {
		f := Finding{
			What: "model server", OK: l.Err == nil,
			Detail: l.Server + ": " + draw.Count(len(l.Models), "model"),
		}
		if l.Err != nil {
			f.Detail, f.Fix, f.Cause = l.Err.Error(), agent.FailedFrom(l.Err).Hint, llm.Cause(l.Err)
		}
		findings = append(findings, f)
	}
	return findings
}

// checkVectorStore checks the Chroma server, if the settings name one.
func checkVectorStore(ctx context.Context, c *settings.Config) []Finding {
	store := app.OpenChroma(c)
	if store == nil {
		return nil
	}
	if err := store.Check(ctx); err != nil {
		return []Finding{{
			What: "vector store", Detail: "keyword search only: " + err.Error(),
			Fix:   "start the server, correct `rag.chroma_url`, or set `rag.store: local`",
			Cause: llm.Cause(err),
		}}
	}
	return []Finding{{What: "vector store", OK: true, Detail: "the Chroma server answers"}}
}

func checkNotes(ctx context.Context, a *app.App) []Finding {
	var findings []Finding
	scannable := false // there are PDFs or images
	for _, gone := range a.MissingVaults {
		findings = append(findings, Finding{
			What: "notes", Detail: gone,
			Fix: "check the folder, or remove it from `notes:` in " + a.Paths.ConfigFile(),
		})
	}
	for _, v := range a.OpenVaults() {
		entries, problems, others, err := v.Folder.Survey(ctx)
		if err != nil {
			findings = append(findings, Finding{What: "notes", Detail: err.Error()})
			continue
		}
		pictures := 0
		for _, e := range entries {
			scannable = scannable || agent.IsPaged(e.Path)
			if agent.IsPicture(e.Path) {
				pictures++
			}
		}
		scannable = scannable || others["image"] > 0
		f := Finding{What: "notes", OK: true, Detail: v.Folder.Dir() + ": " + draw.Count(len(entries)-pictures, "note")}
		if pictures > 0 {
			f.Detail += ", " + draw.Count(pictures, "image")
		}
		if len(problems) > 0 {
			f.Detail += fmt.Sprintf(", %d that can't be read", len(problems))
			f.Fix = "lifehub index says which and why"
		}
		findings = append(findings, f)
	}
	for _, text := range a.Folder.Notices {
		findings = append(findings, Finding{What: "notes", OK: true, Detail: text})
	}
	if len(findings) == 0 {
		findings = append(findings, Finding{What: "notes", OK: true, Detail: "none yet", Fix: "lifehub index DIR"})
	}
	if len(a.OpenVaults()) > 0 {
		f, files := checkIndex(ctx, a)
		findings = append(findings, f)
		findings = append(findings, checkReadInPart(files)...)
	}
	if scannable {
		findings = append(findings, checkScans(a))
	}
	return findings
}

// checkScans reports whether scanned PDFs and images are read.
func checkScans(a *app.App) Finding {
	f := Finding{What: "ocr", OK: true, Detail: "scanned PDFs and images are read by " + a.Tesseract()}
	switch {
	case a.Settings.OCR == "off":
		f.Detail = "off: scanned PDFs and images are left out"
	case a.Tesseract() == "":
		f.Detail, f.Fix = "scanned PDFs and images are left out", "install tesseract to have them read"
	}
	return f
}

// mostNamed is how many notes a finding names.
const mostNamed = 5

// checkReadInPart names the copies that sync programs made of notes, and the notes of which something could not be
// read.
func checkReadInPart(files []rag.FileStatus) (findings []Finding) {
	var copies, parts []string
	for _, file := range files {
		switch {
		case file.CopyOf != "":
			copies = append(copies, file.Path+" of "+file.CopyOf)
		case file.State == "indexed" && file.Reason != "":
			parts = append(parts, file.Path+": "+file.Reason)
		}
	}
	if len(copies) > 0 {
		what := draw.Count(len(copies), "file") + " made by sync programs as copies, searched last and without their tasks"
		findings = append(findings, findingOf(what, copies, "compare each with its note and delete it"))
	}
	if len(parts) > 0 {
		findings = append(findings, findingOf(draw.Count(len(parts), "note")+" read in part", parts, ""))
	}
	return findings
}

// findingOf is a finding about notes that names the first of them.
func findingOf(what string, all []string, fix string) Finding {
	f := Finding{What: "notes", OK: true, Detail: what + ": " +
		strings.Join(all[:min(len(all), mostNamed)], " · "), Fix: fix}
	if len(all) > mostNamed {
		f.Fix = strings.TrimPrefix(f.Fix+"; lifehub index --status names the others", "; ")
	}
	return f
}

// checkIndex reports how many notes of all folders are indexed, and by which embedder, and returns the state of each
// file.
func checkIndex(ctx context.Context, a *app.App) (f Finding, all []rag.FileStatus) {
	f.What = "index"
	embedder := a.Embedder(ctx)
	indexed, total, passages, embedded := 0, 0, 0, 0
	foreign := false
	for _, v := range a.OpenVaults() {
		err := v.Index.Use(embedder)
		var files []rag.FileStatus
		if err == nil {
			files, err = v.Index.Status(ctx, v.Folder)
		}
		of := false
		if err == nil && encoder.IsBuiltIn(embedder.Name()) {
			of, err = v.Index.Foreign(ctx)
		}
		if err != nil {
			f.Detail, f.Fix = err.Error(), "lifehub index"
			return f, nil
		}
		foreign = foreign || of
		all = append(all, files...)
		for _, file := range files {
			if file.State == "indexed" {
				indexed++
			}
			if file.State != "skipped" {
				total++
			}
			passages += file.Passages
			embedded += file.Embedded
		}
	}
	c, err := a.Library().Coverage(ctx)
	if err != nil {
		f.Detail = err.Error()
		return f, nil
	}
	f.OK, f.Detail = true, fmt.Sprintf("%d of %s, indexed %s ago, %s", indexed, draw.Count(total, "note"),
		draw.Ago(c.Age), c.Method())
	if c.Unreadable > 0 {
		f.Detail += fmt.Sprintf("; %s not readable now", draw.Count(c.Unreadable, "note"))
		f.Fix = "lifehub index"
	}
	if leftOut := c.LeftOut.String(); leftOut != "" {
		f.Detail += "; " + leftOut
	}
	if foreign {
		f.Detail += "; " + app.ForeignNotes
	}
	if embedded < passages {
		f.Detail += fmt.Sprintf("; semantic index %d of %s", embedded, draw.Count(passages, "passage"))
		f.Fix = "lifehub index"
	}
	if indexed < total { // usually a note that changed just before the chat ended
		f.Detail += "; the rest is read before the next search"
	}
	return f, all
}

func checkServers(ctx context.Context, a *app.App) []Finding {
	a.WaitForServers(ctx)
	var findings []Finding
	for _, s := range a.Servers.State() {
		f := Finding{What: "mcp " + s.Name, OK: s.OK(), Pending: s.Status == mcpclient.Starting, Detail: s.Text()}
		if !f.OK {
			f.Fix = "check its entry in " + a.Paths.ServersFile()
		}
		findings = append(findings, f)
	}
	return findings
}

// checkHooks reports each hook, and why one cannot run.
func checkHooks(a *app.App) (findings []Finding) {
	for _, h := range app.Hooks(a.Paths, a.Settings) {
		f := Finding{What: "hook " + h.Event, OK: true, Detail: strings.Join(h.Command, " ")}
		if problem := h.Problem(); problem != "" {
			f.OK, f.Detail, f.Fix = false, problem, "see hooks in "+a.Paths.ConfigFile()
		}
		findings = append(findings, f)
	}
	return findings
}

func checkTerminal(sh *app.Process) Finding {
	name, _ := sh.Getenv("TERM")
	if !term.IsTerminal(sh.Out.Fd()) {
		return Finding{What: "terminal", OK: true, Detail: "none: stdout is a file or a pipe, so the chat prints " +
			"plain lines"}
	}
	width, height, err := term.GetSize(sh.Out.Fd())
	if err != nil {
		return Finding{What: "terminal", Detail: err.Error(), Fix: "use lifehub chat --plain"}
	}
	f := Finding{What: "terminal", OK: true, Detail: fmt.Sprintf("%s, %d×%d", name, width, height)}
	if width < 40 || height < 12 {
		f.Fix = "make the window at least 40×12"
	}
	return f
}

// checkPrivacy looks for files that other users of this machine can read.
func checkPrivacy(p settings.Paths) Finding {
	var open []string
	for _, dir := range []string{p.Config, p.Data, p.State} {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil // a missing file is not readable
			}
			if info, err := entry.Info(); err == nil && info.Mode().Perm()&0o077 != 0 &&
				info.Mode()&fs.ModeSymlink == 0 {
				open = append(open, path)
			}
			return nil
		})
	}
	if len(open) == 0 {
		return Finding{What: "privacy", OK: true, Detail: "only you can read LifeHub's files"}
	}
	return Finding{
		What:   "privacy",
		Detail: fmt.Sprintf("others can read %d of LifeHub's files, such as %s", len(open), open[0]),
		Fix:    "chmod -R go-rwx " + strings.Join([]string{p.Config, p.Data, p.State}, " "),
	}
}
