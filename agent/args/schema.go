package args

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// maxSchema bounds the schema of a tool that is checked, in bytes.
const maxSchema = 256 << 10

// Schemas compiles the schemas of tools when they are first needed, and keeps
// them. The zero value is ready; it is safe for concurrent use.
type Schemas struct {
	Now func() time.Time // by which days in words are read; nil: time.Now

	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema // by the schema's text; nil: it cannot be compiled
}

// of returns the compiled schema; nil when there is none to check with.
func (s *Schemas) of(text json.RawMessage) *jsonschema.Schema {
	if len(text) == 0 || len(text) > maxSchema {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema, known := s.compiled[string(text)]; known {
		return schema
	}
	schema, err := compile(text, false)
	if err != nil {
		schema = nil // the tool itself will refuse what it cannot use
	}
	if s.compiled == nil {
		s.compiled = map[string]*jsonschema.Schema{}
	}
	s.compiled[string(text)] = schema
	return schema
}

// Check says what of a value does not fit a schema, formats such as that of a
// date included.
func Check(schema, value json.RawMessage) error {
	compiled, err := compile(schema, true)
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return validate(compiled, read)
}

func compile(text json.RawMessage, formats bool) (schema *jsonschema.Schema, err error) {
	defer agent.Catch(&err) // schemas come from servers of anyone's making
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if formats {
		c.AssertFormat()
	}
	if err := c.AddResource("tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("tool.json")
}

// noLoader keeps a schema from reading files or addresses.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may not load %s", url)
}

// atTop and inArgument are how the library names where in the arguments
// something does not fit.
var atTop, inArgument = pattern.Lazy(`^at '': `), pattern.Lazy(`^at '/([^']*)': `)

// validate says in one line what does not fit, without what only schemas know.
func validate(schema *jsonschema.Schema, value any) (err error) {
	defer agent.Catch(&err)
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(value); !errors.As(err, &invalid) {
		return err
	}
	lines := strings.Split(invalid.Error(), "\n")
	if len(lines) > 1 {
		lines = lines[1:] // the first names the schema
	}
	for i, line := range lines {
		line = atTop.ReplaceAllString(strings.TrimPrefix(strings.TrimSpace(line), "- "), "")
		lines[i] = inArgument.ReplaceAllString(line, "$1: ")
	}
	return errors.New(text.Clip(strings.Join(lines, "; "), 500))
}
