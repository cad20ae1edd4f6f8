package dialog

import (
	"encoding/json"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lifehub/internal/chattest"
	"lifehub/tui/draw"
)

func TestEmptyOptionalFieldsAreNotSent(t *testing.T) {
	f := NewForm(chattest.FormAsked.Schema)
	if got := string(f.Values()); got != `{"friend":"Monica","instruments":["Guitar"],"name":""}` {
		t.Errorf("got %s", got)
	}
}

func TestFormOfAnySchemaCanBeSent(t *testing.T) {
	for _, schema := range []string{
		``, `null`, `[]`, `{"properties":7}`, `{"properties":{"a":7,"b":{"type":"array"},"c":{"type":"array",` +
			`"items":{}},"d":{"enum":[]},"e":{"type":["string","null"]},"":{"type":"string"}}}`,
		`{"properties":{"a":{"type":"boolean","default":"x"},"b":{"type":"array","items":{"enum":["x"]},` +
			`"default":{}},"c":{"type":"number","default":{}}},"required":["zzz"]}`,
	} {
		f := NewForm(json.RawMessage(schema))
		theme, keys := draw.NewTheme("dark", true, true, nil), draw.DefaultKeys()
		for range len(f.Fields) + 1 {
			f.Lines(40, true, theme)
			for _, pressed := range []tea.KeyPressMsg{
				{Code: tea.KeyRight},
				{Code: tea.KeyLeft},
				{Code: tea.KeySpace, Text: " "},
				{Code: tea.KeyEnter},
			} {
				f.Press(pressed, &keys)
			}
		}
		if !json.Valid(f.Values()) {
			t.Errorf("%s: got %s", schema, f.Values())
		}
	}
}

func TestTypedLineChoosesByNumberOrLabel(t *testing.T) {
	schema := `{"properties":{"films":{"type":"array","items":{"enum":["Green Lantern","Alien","Heat"]}}}}`
	for line, want := range map[string]string{
		"Green Lantern":       `["Green Lantern"]`,
		"heat, green lantern": `["Green Lantern","Heat"]`,
		"1 3":                 `["Green Lantern","Heat"]`,
		"2,heat":              `["Alien","Heat"]`,
	} {
		f := NewForm(json.RawMessage(schema))
		if read := f.Fields[0].Read(line); !read || string(f.Values()) != `{"films":`+want+`}` {
			t.Errorf("%q: %t, %s", line, read, f.Values())
		}
	}
	if f := NewForm(json.RawMessage(schema)); f.Fields[0].Read("Titanic") {
		t.Error("an unknown name was read")
	}
	f := NewForm(json.RawMessage(`{"properties":{"tags":{"type":"array","items":{"type":"string"}}}}`))
	if f.Fields[0].Read("a b"); string(f.Values()) != `{"tags":"a b"}` {
		t.Errorf("what was typed for a list without choices is lost: %s", f.Values())
	}
}
