package agent

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Input is the arguments of one call. It is immutable, so whatever checks,
// shows or saves the call sees the value that it runs with. The zero value has
// no arguments.
type Args struct {
	raw    json.RawMessage
	object map[string]any
	err    error // why the arguments are not an object
}

// Read parses the arguments of a call. If they are not a JSON object, the bytes
// are preserved and [Input.Object] returns the error.
func ParseArgs(raw json.RawMessage) Args {
	in := Args{raw: bytes.Clone(raw)}
	in.object, in.err = ReadObject(in.raw)
	return in
}

// Of returns the arguments with these names and values.
func Of(object map[string]any) (Args, error) {
	raw, err := json.Marshal(object)
	return Args{raw: raw, object: object}, err
}

// JSON returns the exact bytes that the call runs with.
func (in Args) JSON() json.RawMessage { return bytes.Clone(in.raw) }

func (in Args) String() string { return string(in.raw) }

// Object returns the arguments by name, which must not be modified. Numbers
// keep their digits.
func (in Args) Object() (map[string]any, error) { return in.object, in.err }

// Copy returns a shallow copy of the arguments by name.
func (in Args) Copy() (map[string]any, error) {
	if in.err != nil {
		return nil, in.err
	}
	object := map[string]any{}
	maps.Copy(object, in.object)
	return object, nil
}

// Canonical returns the arguments in a form that is the same for equal
// arguments.
func (in Args) Canonical() string {
	if in.err != nil {
		return string(in.raw)
	}
	object, _ := in.Copy()           // not nil, which would become null
	out, err := json.Marshal(object) // with sorted keys
	if err != nil {
		return string(in.raw)
	}
	return string(out)
}

// Texts returns all strings and numbers in the arguments, and the keys of
// nested objects.
func (in Args) Texts() (texts []string) {
	if in.err != nil {
		return []string{string(in.raw)}
	}
	for _, value := range in.object { // the names of the arguments are the tool's own
		texts = append(texts, textsIn(value)...)
	}
	return texts
}
