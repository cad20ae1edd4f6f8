package args

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Input is the arguments of one call, read once: what judges a call, shows it or
// keeps it has the value with which it runs. It never changes. The zero value is a
// call without arguments.
type Input struct {
	raw    json.RawMessage
	object map[string]any
	err    error // why it is no object
}

// Read reads the arguments of a call. What is no object is kept as it is, and
// [Input.Object] says why.
func Read(raw json.RawMessage) Input {
	in := Input{raw: bytes.Clone(raw)}
	in.object, in.err = ReadObject(in.raw)
	return in
}

// Of is the arguments of these names and values.
func Of(object map[string]any) (Input, error) {
	raw, err := json.Marshal(object)
	return Input{raw: raw, object: object}, err
}

// JSON is the very bytes with which the call runs.
func (in Input) JSON() json.RawMessage { return bytes.Clone(in.raw) }

func (in Input) String() string { return string(in.raw) }

// Object is the arguments by name, to be looked at and not changed; numbers keep
// their digits.
func (in Input) Object() (map[string]any, error) { return in.object, in.err }

// Copy is the arguments by name, to be changed; the values within them are not.
func (in Input) Copy() (map[string]any, error) {
	if in.err != nil {
		return nil, in.err
	}
	object := map[string]any{}
	maps.Copy(object, in.object)
	return object, nil
}

// Canonical is a form in which equal arguments are equal texts.
func (in Input) Canonical() string {
	if in.err != nil {
		return string(in.raw)
	}
	object, _ := in.Copy()           // nil would be null
	out, err := json.Marshal(object) // sorts the keys
	if err != nil {
		return string(in.raw)
	}
	return string(out)
}

// Texts lists the texts and numbers inside the arguments, and the names within
// them.
func (in Input) Texts() (texts []string) {
	if in.err != nil {
		return []string{string(in.raw)}
	}
	for _, value := range in.object { // the names of arguments are the tool's own
		texts = append(texts, textsIn(value)...)
	}
	return texts
}
