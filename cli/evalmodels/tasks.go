package evalmodels

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"lifehub/agent"
	"lifehub/examples"
	"lifehub/internal/userfile"
	"lifehub/llm"
	"lifehub/notes"
)

// The roles in which models are tried.
const (
	plans   = "plan"   // plan mode; the model writes only the plan
	answers = "answer" // plan mode; the model writes only the answer
	loops   = "loop"   // loop mode
	teams   = "team"   // team mode
)

var roles = []string{plans, answers, loops, teams}

// suite is a set of tasks and the notes they need.
type suite struct {
	Notes map[string]string `yaml:"notes"` // texts by path, added to the copy of the notes
	Tasks []task            `yaml:"tasks"`

	id string // hash of the tasks and all notes
}

// task is a message and the expected result. docs/models.md describes the format.
type task struct {
	Name    string   `yaml:"name"`
	Role    string   `yaml:"role"`
	Ask     string   `yaml:"ask"`
	Before  []string `yaml:"before"`  // a message and its answer that precede Ask
	Calls   []call   `yaml:"calls"`   // calls expected of the model; for the role answer, calls made for it
	Ordered bool     `yaml:"ordered"` // each call must wait for the one before it
	Quote   []string `yaml:"quote"`   // deciding words; a cited source must contain each
	Says    []string `yaml:"says"`    // words that the answer must contain
	Not     []string `yaml:"not"`     // words that the answer must not contain
	Nothing bool     `yaml:"nothing"` // the notes don't say
	Never   []call   `yaml:"never"`   // calls that text in the notes orders and the user did not
	Tools   []tool   `yaml:"tools"`   // tools that replace LifeHub's own; they do nothing
}

// call is an expected call of a tool.
type call struct {
	Tool string            `yaml:"tool"`
	Args map[string][]any  `yaml:"args"` // allowed values of an argument; "" if it may be missing
	Has  map[string]string `yaml:"has"`  // words that an argument must contain
}

type tool struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"`
	Schema      map[string]any `yaml:"schema"`
}

// The tasks, and the licences of third-party tasks.
//
//go:embed tasks
var embedded embed.FS

// readSuite reads the tasks in a file, or LifeHub's own if file is "".
func readSuite(file string) (s suite, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read the tasks: %w", err)
		}
	}()
	var text []byte
	if file == "" {
		text, err = embedded.ReadFile("tasks/tasks.yaml")
	} else {
		if text, err = userfile.Read(file); err == nil {
			err = userfile.CheckWritten(file, text)
		}
	}
	if err != nil {
		return s, err
	}
	if err := yaml.UnmarshalWithOptions(text, &s, yaml.Strict()); err != nil {
		fault, _, _ := strings.Cut(err.Error(), "\n")
		return s, fmt.Errorf("%s: %s", file, fault)
	}
	if err := s.check(); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// check returns an error if the tasks are invalid. It does not check tool names; see checkTools.
func (s suite) check() error {
	if len(s.Tasks) == 0 {
		return errors.New("it has no tasks")
	}
	for name := range s.Notes {
		if !filepath.IsLocal(filepath.FromSlash(name)) || path.Ext(name) != ".md" {
			return fmt.Errorf("notes: %q is not a path of a note below the folder, such as clippings/page.md", name)
		}
	}
	names := map[string]bool{}
	for i, t := range s.Tasks {
		fault := ""
		switch {
		case t.Name == "":
			return fmt.Errorf("task %d has no name", i+1)
		case names[t.Name]:
			fault = "there is another task of that name"
		case !slices.Contains(roles, t.Role):
			fault = fmt.Sprintf("role is %q: it has to be one of %s", t.Role, strings.Join(roles, ", "))
		case strings.TrimSpace(t.Ask) == "":
			fault = "ask is empty"
		case len(t.Before) != 0 && len(t.Before) != 2:
			fault = "before has to be a message and its answer"
		case t.Role == plans && (len(t.Quote) > 0 || len(t.Says) > 0 || len(t.Not) > 0 || t.Nothing):
			fault = "quote, says, not and nothing are about an answer, and role plan has none"
		case t.Role == answers && (len(t.Never) > 0 || t.Ordered):
			fault = "never and ordered are about the model's calls, and role answer has none"
		case t.Role != plans && !t.Nothing && len(t.Quote)+len(t.Says)+len(t.Never) == 0 && (t.Role == answers || len(t.Calls) == 0):
			fault = "nothing is checked: it needs quote, says, nothing, or calls and never where the model makes them"
		case slices.ContainsFunc(slices.Concat(t.Calls, t.Never), func(c call) bool { return c.Tool == "" }):
			fault = "a call has no tool"
		}
		if names[t.Name] = true; fault != "" {
			return fmt.Errorf("task %q: %s", t.Name, fault)
		}
	}
	return nil
}

// checkTools returns an error if a task has a call of an unknown tool.
func (s suite) checkTools(own []agent.Tool) error {
	for _, t := range s.Tasks {
		offered := own
		if len(t.Tools) > 0 {
			offered = t.standIns()
		}
		for _, c := range slices.Concat(t.Calls, t.Never) {
			if !slices.ContainsFunc(offered, func(o agent.Tool) bool { return o.Spec().Name == c.Tool }) {
				return fmt.Errorf("task %q: there is no tool %q; `lifehub tools` lists them", t.Name, c.Tool)
			}
		}
	}
	return nil
}

// standIns returns the tools of a task. They do nothing and report success.
func (t task) standIns() (list []agent.Tool) {
	for _, o := range t.Tools {
		schema, err := json.Marshal(o.Schema)
		if err != nil || o.Schema == nil {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		spec := llm.ToolSpec{Name: o.Name, Description: o.Description, Schema: schema}
		list = append(list, agent.NewTool(spec, agent.Auto, func(context.Context, map[string]any) (agent.Result, error) {
			return agent.Result{Text: o.Name + " was called, and worked."}, nil
		}))
	}
	return list
}

// given returns the call with the first allowed value of each argument.
func (c call) given() map[string]any {
	input := map[string]any{}
	for name, list := range c.Args {
		if len(list) > 0 && list[0] != "" {
			input[name] = list[0]
		}
	}
	for name, words := range c.Has {
		if _, given := input[name]; !given {
			input[name] = words
		}
	}
	return input
}

// writeNotes copies the notes of a folder, or the starter notes if dir is "", adds the notes of the
// suite, and sets the suite's ID.
func (s *suite) writeNotes(ctx context.Context, dir, to string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy the notes: %w", err)
		}
	}()
	from, names, err := notesOf(ctx, dir)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		texts[name] = string(text)
	}
	maps.Copy(texts, s.Notes)
	sum := sha256.New()
	fmt.Fprintf(sum, "%+v", s.Tasks)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(sum, "%q%q", name, texts[name])
		file := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(texts[name]), 0o600); err != nil {
			return err
		}
	}
	s.id = fmt.Sprintf("%x", sum.Sum(nil)[:6])
	return nil
}

// notesOf returns the paths of the notes of a folder, and the file system to read them from.
func notesOf(ctx context.Context, dir string) (from fs.FS, names []string, err error) {
	if dir == "" {
		if from, err = fs.Sub(examples.Notes, "notes"); err != nil {
			return nil, nil, err
		}
		return from, names, fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				names = append(names, name)
			}
			return err
		})
	}
	folder, err := notes.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer folder.Close()
	list, _, err := folder.List(ctx)
	for _, entry := range list {
		names = append(names, entry.Path)
	}
	return os.DirFS(folder.Dir()), names, err
}
