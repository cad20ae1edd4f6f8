package agent

import (
	"encoding/json"
	"testing"
)

func TestInputNeverChanges(t *testing.T) {
	raw := json.RawMessage(`{"n": 1.50, "text": "milk"}`)
	in := ParseArgs(raw)
	copy(raw, `{"n": 9`)
	copy(in.JSON(), `{"n": 9`)
	object, err := in.Copy()
	if err != nil {
		t.Fatal(err)
	}
	object["text"] = "bread"
	if in.String() != `{"n": 1.50, "text": "milk"}` || in.Canonical() != `{"n":1.50,"text":"milk"}` {
		t.Errorf("%s, %s", in, in.Canonical())
	}
	if got := (Args{}).Canonical(); got != `{}` {
		t.Errorf("a call without arguments: %s", got)
	}
	if in := ParseArgs([]byte(`[1]`)); in.String() != `[1]` || in.Canonical() != `[1]` {
		t.Errorf("what is no object: %s", in)
	} else if _, err := in.Copy(); err == nil {
		t.Error("what is no object is read as one")
	}
}
