package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
)

// Level is whether a call may run without asking.
type Level int

// Deny takes precedence over the other levels.
const (
	Auto Level = iota
	Confirm
	Deny
	// ConfirmEach is like Confirm, but the user must see every call: neither a
	// rule nor an earlier permission allows it.
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

// MarshalText returns auto, confirm or deny.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses what MarshalText returns.
func (l *Level) UnmarshalText(text []byte) error {
	for _, level := range []Level{Auto, Confirm, Deny} {
		if string(text) == level.String() {
			*l = level
			return nil
		}
	}
	return fmt.Errorf("unknown level %q: it is auto, confirm or deny", text)
}

// Tool is something that a worker can do.
type Tool interface {
	Spec() llm.ToolSpec
	Properties() Properties
	// Run executes the call. An error is returned to the model as text, so that
	// it can try something else; only a cancelled ctx ends the turn.
	Run(ctx context.Context, args json.RawMessage) (Result, error)
}

// Preview is what a call would change, for the permission dialog.
type Preview struct {
	Path string `json:"path,omitempty"` // file that would change, relative to its vault
	To   string `json:"to,omitempty"`   // its path after the change, if that is another
	Diff string `json:"diff,omitempty"` // unified diff
	Text string `json:"text,omitempty"` // other information for the user, in plain lines
	// Disowned are the lines of a note that named its source before the change and
	// does not after it.
	Disowned []string `json:"-"`
}

// Result is the result of a call.
type Result struct {
	Text      string   `json:"text"`               // for the model and the user; at most 32 KiB reaches the model
	Sources   []Source `json:"sources,omitempty"`  // parts that an answer can cite
	Listed    []Source `json:"listed,omitempty"`   // places mentioned without their text, or with only one line of it
	Searched  bool     `json:"searched,omitempty"` // the call was a search of the notes, for the metrics
	Nothing   bool     `json:"nothing,omitempty"`  // the call succeeded but found nothing
	Untrusted bool     `json:"foreign,omitempty"`  // its text is, or holds, text from outside
	Origin    Origin   `json:"origin,omitzero"`

	Instructions bool `json:"instructions,omitempty"` // trusted instructions for the model rather than data

	Artifact *Artifact `json:"artifact,omitempty"` // version that was saved; nil if none
	Partial  bool      `json:"partial,omitempty"`  // the best available result of a task that was never done well
	Accepted bool      `json:"accepted,omitempty"` // a text that a worker wrote and the evaluator accepted
	Images   [][]byte  `json:"-"`                  // for a model that accepts images
	Unlikely bool      `json:"unlikely,omitempty"` // a search whose sources hardly contain an answer
	// if Unlikely: the sources are related to the question but hardly answer it
	Close bool `json:"close,omitempty"`
	// SemanticOnly, if Unlikely: no note contains the words of the search, and the
	// sources are the semantically closest.
	SemanticOnly bool      `json:"by_meaning,omitempty"`
	Coverage     *Coverage `json:"coverage,omitempty"` // coverage of a search of the notes
	// line at which a further call of the same tool continues; 0: this is all
	Next     int       `json:"-"`
	Passages []Passage `json:"-"` // what a search found, best first, for a list
}

// Passage is what a list shows of a passage that a search found.
type Passage struct {
	Blocks []Block // of one note, never none
	Show   int     // the number of leading blocks that are shown; the others fit the question too
}

// Block is a part of a passage: a paragraph, a list item or a table row.
type Block struct {
	Source Source   // its lines and heading path
	Lead   string   // parent item, table header, or the sentence before a code block; "" if none
	Code   bool     // it is a code block
	Score  float64  // how well it fits the question
	Words  []string // words of the block that the question asks for
}

// IsInstructions reports whether the result is trusted instructions for the
// model to follow.
func (r Result) IsInstructions() bool { return r.Instructions && !r.IsUntrusted() }

// IsUntrusted reports whether the result contains untrusted text.
func (r Result) IsUntrusted() bool {
	return r.Untrusted || slices.ContainsFunc(r.Sources, func(s Source) bool { return s.Untrusted })
}

// Source is something that an answer can cite: lines of a note or of a web
// page, or a tool result without a place.
type Source struct {
	N int `json:"n,omitempty"` // number in this turn, from 1; 0 if not numbered yet
	// path in its vault, with slashes; or the web address; or the tool's name
	Path    string `json:"path"`
	Call    string `json:"call,omitempty"`  // the step whose result it is; "" for a note or page
	Vault   string `json:"vault,omitempty"` // absolute path of the vault
	Line    int    `json:"line"`            // line of a page as it was read; 0 for a search result
	EndLine int    `json:"end_line"`
	Heading string `json:"heading,omitempty"` // "Running › Plan"
	Text    string `json:"text"`              // as the model sees it
	// lines of Text before Line: the header of the table or code that it continues
	Above     int      `json:"above,omitempty"`
	Score     float64  `json:"score,omitempty"` // 0 to 1
	Date      when.Day `json:"date,omitzero"`
	Untrusted bool     `json:"foreign,omitempty"` // text from outside
	// the whole lines of which Text shows a part or another form; "" if Text is whole lines
	Lines string `json:"-"`
	Dated bool   `json:"dated,omitempty"` // the note has the requested date or time
}

// SamePlace reports whether two sources are of the same note, page or result.
func (s Source) SamePlace(other Source) bool {
	return s.Vault == other.Vault && s.Path == other.Path && s.Call == other.Call
}

// Title returns the place as shown on the screen: note.md:12 Heading. A web
// page has no line numbers that could be looked up.
func (s Source) Title() string {
	return strings.TrimSuffix(PlaceName(s.Path, s.Line)+" "+s.Heading, " ")
}

// Head returns the title as used in prompts: in one line, with the date of the
// note.
func (s Source) Head() string {
	head := text.OneLine(s.Title())
	if day := s.Date.String(); !s.Date.IsZero() && !strings.Contains(head, day) {
		head += " (" + day + ")"
	}
	return head
}

// NewTool returns a Tool that calls a function with typed arguments. level is
// the default for every call. A tool with level Auto must change nothing,
// because an interrupted turn may call it again. use is at most one.
func NewTool[Args any](spec llm.ToolSpec, level Level, run func(context.Context, Args) (Result, error),
	use ...Use,
) Tool {
	of := Properties{Level: level, ReadOnly: level == Auto}
	if len(use) > 0 {
		of.Use = use[0]
	}
	return &funcTool[Args]{spec: spec, of: of, run: run}
}

// NewOutward returns a Tool that queries a service, given by its name, and changes
// nothing. The gate asks about a call whose arguments may hold text of the user's
// notes.
func NewOutward[Args any](spec llm.ToolSpec, service string, run func(context.Context, Args) (Result, error)) Tool {
	return &funcTool[Args]{spec: spec, of: Properties{ReadOnly: true, Outward: true, Service: service}, run: run}
}

// Writer makes the changes of a Tool: it computes a change beforehand, and can
// determine after a crash whether it was made.
type Writer[Args any] interface {
	Prepare(ctx context.Context, args Args) (Change, error)
	// Check reports whether the marked change was made, and its effects.
	Check(ctx context.Context, mark json.RawMessage) (Happened, []Effect, error)
}

// NewWriter returns a Tool that uses a Writer and asks for permission for each
// call. bounds are the arguments that determine where it writes (see
// [Properties]).
func NewWriter[Args any](spec llm.ToolSpec, w Writer[Args], bounds ...string) Tool {
	return &writerTool[Args]{spec, Confirm, w, bounds}
}

// NewEraser returns a Tool that uses a Writer to remove something. The user
// confirms each call, whatever the rules.
func NewEraser[Args any](spec llm.ToolSpec, w Writer[Args]) Tool {
	return &writerTool[Args]{spec, ConfirmEach, w, nil}
}

type funcTool[Args any] struct {
	spec llm.ToolSpec
	of   Properties
	run  func(context.Context, Args) (Result, error)
}

func (t *funcTool[Args]) Spec() llm.ToolSpec     { return t.spec }
func (t *funcTool[Args]) Properties() Properties { return t.of }

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

func (t *writerTool[Args]) Spec() llm.ToolSpec { return t.spec }

func (t *writerTool[Args]) Properties() Properties {
	return Properties{Level: t.level, Bounds: append([]string{}, t.bounds...)}
}

// Places returns the note that the call would change. A writer that finds it faster than by computing the change has
// its own method Places.
func (t *writerTool[Args]) Places(ctx context.Context, raw json.RawMessage) map[string]string {
	if len(t.bounds) == 0 {
		return nil
	}
	if w, ok := t.writer.(interface {
		Places(ctx context.Context, args Args) map[string]string
	}); ok {
		args, err := ReadArgs[Args](t.spec.Name, raw)
		if err != nil {
			return nil
		}
		return w.Places(ctx, args)
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

// Run makes a change that was not shown to the user.
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

// ReadArgs decodes the arguments of a call; the name of the tool is for the
// error.
func ReadArgs[Args any](tool string, raw json.RawMessage) (Args, error) {
	var args Args
	if err := json.Unmarshal(raw, &args); err != nil {
		return args, fmt.Errorf("read arguments of %s: %w", tool, err)
	}
	return args, nil
}

// SearchNotes is the tool that a turn falls back on.
const SearchNotes = "search_notes"

// AppendNote is the tool that appends to a note.
const AppendNote = "append_note"

// ReadSkill is the tool that reads a skill. It is always offered, because its
// description lists the skills.
const ReadSkill = "read_skill"

// WebSearch is the tool whose results may be opened without asking.
const WebSearch = "web_search"

// FindTools is the tool that finds further tools, if there are more than fit in
// a prompt.
const FindTools = "find_tools"

// DelegateTool is the tool that hands a task to a worker. It changes nothing
// itself.
const DelegateTool = "delegate"
