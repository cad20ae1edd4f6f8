package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"lifehub/internal/text"
)

// Bounds of a schema, which may have been written by anyone.
const (
	maxSchema   = 256 << 10 // bytes
	maxExpanded = 100_000   // size, see [size]
	maxWork     = 200_000   // size times that of the value: no check takes as long as a second
	maxPattern  = 50_000    // instructions of the compiled patterns
)

// errUnchecked is returned for a value that was not checked.
var errUnchecked = errors.New("it cannot be checked: the schema and the value together are too large")

// Schema is a JSON Schema against which any value is checked in a bounded time.
type Schema struct {
	compiled *jsonschema.Schema
	size     int // see [size]
}

// Schemas compiles the schemas of tools on first use and caches them. The zero
// value is ready to use and safe for concurrent use.
type Schemas struct {
	Now func() time.Time // today, for dates in words; nil: time.Now

	mu   sync.Mutex
	read map[string]*Schema // by the text of the schema; nil if it cannot be compiled
}

// check returns an error if arguments do not fit the schema of their tool. Those that cannot be checked
// here the tool itself has to reject.
func (s *Schemas) check(text json.RawMessage, args map[string]any) error {
	schema := s.of(text)
	if schema == nil {
		return nil
	}
	if err := schema.validate(args); !errors.Is(err, errUnchecked) {
		return err
	}
	return nil
}

// of returns the schema of a tool; nil if there is none that can be checked.
func (s *Schemas) of(text json.RawMessage) *Schema {
	if len(text) == 0 || len(text) > maxSchema {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema, known := s.read[string(text)]; known {
		return schema
	}
	schema, err := readSchema(text, false) // the tool itself checks formats
	if err != nil {
		schema = nil
	}
	if s.read == nil {
		s.read = map[string]*Schema{}
	}
	s.read[string(text)] = schema
	return schema
}

// ReadSchema reads a JSON Schema that asserts formats such as that of a date. It may not refer to
// files or addresses, nor to itself.
func ReadSchema(text json.RawMessage) (*Schema, error) { return readSchema(text, true) }

func readSchema(text json.RawMessage, formats bool) (*Schema, error) {
	if len(text) > maxSchema {
		return nil, fmt.Errorf("it is too large: more than %d KiB", maxSchema>>10)
	}
	doc, err := readJSON(text)
	if err != nil && !json.Valid(text) {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	if err != nil {
		return nil, err
	}
	compiled, err := compile(doc, formats)
	if invalid := (*jsonschema.SchemaValidationError)(nil); errors.As(err, &invalid) {
		return nil, fmt.Errorf("it is not a JSON Schema: %w", inOneLine(invalid.Err))
	}
	if err != nil {
		return nil, err
	}
	var n size
	if err := n.add(compiled, 0); err != nil {
		return nil, err
	}
	return &Schema{compiled, int(n)}, nil
}

// Check returns an error if a value does not fit the schema.
func (s *Schema) Check(value json.RawMessage) error {
	read, err := readJSON(value)
	if err != nil {
		return fmt.Errorf("read the value: %w", err)
	}
	return s.validate(read)
}

func compile(doc any, formats bool) (schema *jsonschema.Schema, err error) {
	defer Catch(&err) // schemas come from untrusted servers
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine((&patterns{left: maxPattern}).compile)
	if formats {
		c.AssertFormat()
	}
	if err := c.AddResource("tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("tool.json")
}

// noLoader prevents a schema from loading files or URLs.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may not load %s", url)
}

// atTop and inArgument match the library's description of where in the
// arguments an error is.
var atTop, inArgument = regexp.MustCompile(`^at '': `), regexp.MustCompile(`^at '/([^']*)': `)

// validate returns an error of one line, without details of the schema itself. The value comes from
// [readJSON].
func (s *Schema) validate(value any) (err error) {
	defer Catch(&err)
	if s.size*parts(value) > maxWork {
		return errUnchecked
	}
	return inOneLine(s.compiled.Validate(value))
}

// inOneLine returns an error of the library in one line, without the name of the schema.
func inOneLine(err error) error {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	keepCauses(invalid, 50)
	lines := strings.Split(invalid.Error(), "\n")
	if len(lines) > 1 {
		lines = lines[1:] // the first line names the schema
	}
	for i, line := range lines {
		line = atTop.ReplaceAllString(strings.TrimPrefix(strings.TrimSpace(line), "- "), "")
		lines[i] = inArgument.ReplaceAllString(line, "$1: ")
	}
	return errors.New(text.Cut(strings.Join(lines, "; "), 500))
}

// keepCauses keeps the first n causes of an error, which may be as many as the steps of the check. It
// returns how many more may be kept.
func keepCauses(e *jsonschema.ValidationError, n int) int {
	for i, cause := range e.Causes {
		if n <= 0 {
			e.Causes = e.Causes[:i]
			break
		}
		n = keepCauses(cause, n-1)
	}
	return n
}
