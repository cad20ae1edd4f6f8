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

// maxSchema is the size of the largest schema that is checked, in bytes.
const maxSchema = 256 << 10

// Schemas compiles the schemas of tools on first use and caches them. The zero
// value is ready to use and safe for concurrent use.
type Schemas struct {
	Now func() time.Time // today, for dates in words; nil: time.Now

	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema // by the text of the schema; nil if it cannot be compiled
}

// of returns the compiled schema; nil if there is none to check against.
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
		schema = nil // the tool itself has to reject invalid arguments
	}
	if s.compiled == nil {
		s.compiled = map[string]*jsonschema.Schema{}
	}
	s.compiled[string(text)] = schema
	return schema
}

// CheckSchema returns an error if a text is not a JSON Schema that values can be checked against. It
// may not refer to files or addresses.
func CheckSchema(text json.RawMessage) error {
	if len(text) > maxSchema {
		return fmt.Errorf("it is larger than %d KiB", maxSchema>>10)
	}
	if err := json.Unmarshal(text, new(any)); err != nil {
		return fmt.Errorf("it is not valid JSON: %w", err)
	}
	_, err := compile(text, true)
	if invalid := (*jsonschema.SchemaValidationError)(nil); errors.As(err, &invalid) {
		return fmt.Errorf("it is not a JSON Schema: %w", inOneLine(invalid.Err))
	}
	return err
}

// Check returns an error if a value does not fit a schema. It also checks
// formats such as that of a date.
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
	defer agent.Catch(&err) // schemas come from untrusted servers
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

// noLoader prevents a schema from loading files or URLs.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may not load %s", url)
}

// atTop and inArgument match the library's description of where in the
// arguments an error is.
var atTop, inArgument = pattern.Lazy(`^at '': `), pattern.Lazy(`^at '/([^']*)': `)

// validate returns an error of one line, without details of the schema itself.
func validate(schema *jsonschema.Schema, value any) (err error) {
	defer agent.Catch(&err)
	return inOneLine(schema.Validate(value))
}

// inOneLine returns an error of the library in one line, without the name of the schema.
func inOneLine(err error) error {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	lines := strings.Split(invalid.Error(), "\n")
	if len(lines) > 1 {
		lines = lines[1:] // the first line names the schema
	}
	for i, line := range lines {
		line = atTop.ReplaceAllString(strings.TrimPrefix(strings.TrimSpace(line), "- "), "")
		lines[i] = inArgument.ReplaceAllString(line, "$1: ")
	}
	return errors.New(text.Clip(strings.Join(lines, "; "), 500))
}
