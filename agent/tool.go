package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/internal/text"
	"lifehub/llm"
)

// Level says whether a call may run without asking.
type Level int

// The levels. Deny beats all.
const (
	Auto Level = iota
	Confirm
	Deny
	// ConfirmEach is the Confirm of a tool each of whose calls the user must
	// have seen: no rule and no earlier yes lets one pass.
	ConfirmEach
)

func (l Level) String() string {
	switch l {
	case Auto:
		return "auto"
	case Confirm, ConfirmEach:
		return "confirm"
	}
	return "deny"
}

// MarshalText writes auto, confirm or deny.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (l *Level) UnmarshalText(text []byte) error {
	for _, level := range []Level{Auto, Confirm, Deny} {
		if string(text) == level.String() {
			*l = level
			return nil
		}
	}
	return fmt.Errorf("unknown level %q: it is auto, confirm or deny", text)
}

// DescribeTool is something the worker can do in the world.
type Tool interface {
	Spec() llm.ToolSpec
	// Level is the default for a call with these arguments; rules may change it.
	Level(args json.RawMessage) Level
	// Run does the work. An error goes back to the model as text, so that it
	// can try another way; only a cancelled ctx ends the turn.
	Run(ctx context.Context, args json.RawMessage) (Result, error)
}

// Preview is what a call would change, for the permission dialog.
type Preview struct {
	Path string `json:"path,omitempty"` // the file it would change, below its vault
	Diff string `json:"diff,omitempty"` // unified diff of the change
	Text string `json:"text,omitempty"` // what else the user must know, as plain lines
}

// Result is what a tool found or did.
type Result struct {
	Text      string   `json:"text"`               // for the model and the user; at most 32 KiB reaches the model
	Sources   []Source `json:"sources,omitempty"`  // what of it an answer can cite
	Listed    []Source `json:"listed,omitempty"`   // places that it names without their text, or with that of their one line
	Searched  bool     `json:"searched,omitempty"` // it was a search of the notes, for the metrics
	Nothing   bool     `json:"nothing,omitempty"`  // it worked, but found nothing
	Untrusted bool     `json:"foreign,omitempty"`  // it holds text from outside the user's own notes

	Instructions bool `json:"instructions,omitempty"` // it is what the user trusts a model to do, and no data

	Artifact *Artifact `json:"artifact,omitempty"` // the version that it made; nil: none
	Partial  bool      `json:"partial,omitempty"`  // the best there is of a task that was never done well
	Images   [][]byte  `json:"-"`                  // for a model that can see
	Unlikely bool      `json:"unlikely,omitempty"` // a search whose sources hardly hold an answer
	Close    bool      `json:"close,omitempty"`    // then: they are near to it, but hardly on it
	// ByMeaning: then, no note has the words of the search, and the sources are the
	// closest in meaning.
	ByMeaning bool      `json:"by_meaning,omitempty"`
	Coverage  *Coverage `json:"coverage,omitempty"` // how far a search of the notes went
	Blocks    []Block   `json:"-"`                  // the parts of what a search found that fit best, note by note
}

// Block is a part of a note as a list of search results shows it: a paragraph,
// a list item, a row of a table.
type Block struct {
	Source Source   // its lines, with the path of headings above them
	Lead   string   // its parent item, the header of its table, the sentence before its code; "": none
	Code   bool     // it is code
	Score  float64  // how well it fits the question
	Words  []string // of it, that the question asks for
}

// IsInstructions reports whether it is to be followed, and all of it is trusted.
func (r Result) IsInstructions() bool { return r.Instructions && !r.IsUntrusted() }

// IsUntrusted reports whether it holds text from outside the user's own notes.
func (r Result) IsUntrusted() bool {
	return r.Untrusted || slices.ContainsFunc(r.Sources, func(s Source) bool { return s.Untrusted })
}

// Source is a place that an answer can cite: lines of a note, of a page of the
// web, or of what a tool returned that names no place.
type Source struct {
	N         int       `json:"n,omitempty"`     // its number in this turn, from 1; 0: not numbered yet
	Path      string    `json:"path"`            // below its vault, with slashes; of a page of the web its address; else the tool's name
	Call      string    `json:"call,omitempty"`  // the step whose result it is; "": a note or a page
	Vault     string    `json:"vault,omitempty"` // the vault's absolute folder
	Line      int       `json:"line"`            // of a page as it was read; 0: what a search tells of it
	EndLine   int       `json:"end_line"`
	Heading   string    `json:"heading,omitempty"` // "Running › Plan"
	Text      string    `json:"text"`              // as the model sees it
	Score     float64   `json:"score,omitempty"`   // 0 to 1
	Date      time.Time `json:"date,omitzero"`
	Untrusted bool      `json:"foreign,omitempty"` // it came from outside the user's own notes
	Dated     bool      `json:"dated,omitempty"`   // the note bears the day, or the time, that was asked for
}

// Title names the place as the screen does: note.md:12 Heading. A page of the
// web has no lines that anyone could look up.
func (s Source) Title() string {
	return strings.TrimSuffix(PlaceName(s.Path, s.Line)+" "+s.Heading, " ")
}

// Head is the title as prompts have it: in one line, with the day of the note.
func (s Source) Head() string {
	head := text.OneLine(s.Title())
	if day := s.Date.Format(time.DateOnly); !s.Date.IsZero() && !strings.Contains(head, day) {
		head += " (" + day + ")"
	}
	return head
}

// NewTool makes a Tool from a function with typed arguments. level is the
// default for every call; one that is Auto must change nothing, so that a
// turn which was cut can call it again.
func NewTool[Args any](spec llm.ToolSpec, level Level, run func(context.Context, Args) (Result, error)) Tool {
	return &funcTool[Args]{spec: spec, level: level, run: run}
}

// NewOutward makes a Tool that asks a service outside this machine and changes
// nothing. It asks the user when its arguments would tell that service more
// than the user said.
func NewOutward[Args any](spec llm.ToolSpec, run func(context.Context, Args) (Result, error)) Tool {
	return &outwardTool[Args]{funcTool[Args]{spec: spec, level: Auto, run: run}}
}

type outwardTool[Args any] struct{ funcTool[Args] }

func (outwardTool[Args]) Outward() bool { return true }

// Writer is what changes something for a Tool: it computes the change before,
// and can tell after a crash whether it was made.
type Writer[Args any] interface {
	Prepare(ctx context.Context, args Args) (Change, error)
	// Check reports whether what was marked has happened, and what it then did.
	Check(ctx context.Context, mark json.RawMessage) (Happened, []Effect, error)
}

// NewWriter makes a Tool of a Writer. It asks before each call; bounds are the
// arguments that say where it writes (see [Bounded]).
func NewWriter[Args any](spec llm.ToolSpec, w Writer[Args], bounds ...string) Tool {
	return &writerTool[Args]{spec, Confirm, w, bounds}
}

// NewEraser makes a Tool of a Writer that takes something away: the user sees
// each call, whatever the rules say.
func NewEraser[Args any](spec llm.ToolSpec, w Writer[Args]) Tool {
	return &writerTool[Args]{spec, ConfirmEach, w, nil}
}

type funcTool[Args any] struct {
	spec  llm.ToolSpec
	level Level
	run   func(context.Context, Args) (Result, error)
}

func (t *funcTool[Args]) Spec() llm.ToolSpec          { return t.spec }
func (t *funcTool[Args]) Level(json.RawMessage) Level { return t.level }
func (t *funcTool[Args]) ReadOnly() bool              { return t.level == Auto }

func (t *funcTool[Args]) Run(ctx context.Context, raw json.RawMessage) (Result, error) {
	args, err := ReadArgs[Args](t.spec.Name, raw)
	if err != nil {
		return Result{}, err
	}
	return t.run(ctx, args)
}

type writerTool[Args any] struct {
	spec   llm.ToolSpec
	level  Level
	writer Writer[Args]
	bounds []string
}

func (t *writerTool[Args]) Spec() llm.ToolSpec          { return t.spec }
func (t *writerTool[Args]) Level(json.RawMessage) Level { return t.level }
func (t *writerTool[Args]) Bounds() []string            { return t.bounds }

// Places returns the note that the call would change.
func (t *writerTool[Args]) Places(ctx context.Context, raw json.RawMessage) map[string]string {
	if len(t.bounds) == 0 {
		return nil
	}
	change, err := t.Prepare(ctx, raw)
	if err != nil {
		return nil
	}
	return map[string]string{t.bounds[0]: change.Preview().Path}
}

func (t *writerTool[Args]) Prepare(ctx context.Context, raw json.RawMessage) (Change, error) {
	args, err := ReadArgs[Args](t.spec.Name, raw)
	if err != nil {
		return nil, err
	}
	return t.writer.Prepare(ctx, args)
}

// Run makes a change that nobody was shown.
func (t *writerTool[Args]) Run(ctx context.Context, raw json.RawMessage) (Result, error) {
	change, err := t.Prepare(ctx, raw)
	if err != nil {
		return Result{}, NothingDone{err}
	}
	return change.Apply(ctx)
}

func (t *writerTool[Args]) Check(ctx context.Context, mark json.RawMessage) (Happened, []Effect, error) {
	return t.writer.Check(ctx, mark)
}

func ReadArgs[Args any](tool string, raw json.RawMessage) (Args, error) {
	var args Args
	if err := json.Unmarshal(raw, &args); err != nil {
		return args, fmt.Errorf("read arguments of %s: %w", tool, err)
	}
	return args, nil
}

// SearchNotes is the tool that a turn falls back on.
const SearchNotes = "search_notes"

// AppendNote is the tool that adds to a note.
const AppendNote = "append_note"

// ReadSkill is the tool that reads a skill. Its description lists them, so a model is
// told it in any case.
const ReadSkill = "read_skill"

// Today and Calculate are the tools that only reckon: an answer after them may still
// be from memory.
const (
	Today     = "today"
	Calculate = "calculate"
)

// WebSearch is the tool whose results may be opened.
const WebSearch = "web_search"

// FindTools is the tool that finds others, of which there are more than a prompt has
// room for.
const FindTools = "find_tools"

// DelegateTool is the name of the tool that hands a task to a worker. It
// changes nothing on its own.
const DelegateTool = "delegate"
