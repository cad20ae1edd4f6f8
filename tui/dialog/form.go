package dialog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Form is a form with a field for each property of a flat JSON Schema. The row after the
// last field submits it.
type Form struct {
	Fields []field
	At     int    // index of the focused field; len(Fields) for the row that submits
	Send   string // label of that row; "" for the default
}

// field is one value. Its kind determines which of the other fields are used.
type field struct {
	name     string
	Label    string
	Help     string
	kind     fieldKind
	Required bool
	Line     draw.InputLine // of a text or a number
	Options  []option       // of a choice
	option   int            // the option that the keys are at; -1: none was chosen
	touched  bool           // the user or a default has set it
	usual    option         // the default of a text, and how it is shown
	emptied  bool           // an empty text is a value too
}

type fieldKind int

const (
	textField fieldKind = iota
	numberField
	oneField  // one of several
	manyField // any of several
)

// option is one of several values.
type option struct {
	value  json.RawMessage
	Label  string
	chosen bool // of a manyField
}

// property is the part of a JSON Schema that a form uses.
type property struct {
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Format      string            `json:"format"`
	Default     json.RawMessage   `json:"default"`
	Enum        []json.RawMessage `json:"enum"`
	EnumNames   []string          `json:"enumNames"`
	OneOf       []titled          `json:"oneOf"`
	AnyOf       []titled          `json:"anyOf"`
	Items       *property         `json:"items"`
	MinLength   *int              `json:"minLength"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
}

type titled struct {
	Const json.RawMessage `json:"const"`
	Title string          `json:"title"`
}

// NewForm returns a form for a schema, with required fields first.
func NewForm(schema json.RawMessage) *Form {
	var top struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	_ = json.Unmarshal(schema, &top) // an unreadable schema has no fields
	f := &Form{}
	for _, pair := range chat.Arguments(top.Properties) {
		var p property
		if pair.Key == "" || json.Unmarshal(pair.Value, &p) != nil {
			continue
		}
		f.Fields = append(f.Fields, newField(pair.Key, p, slices.Contains(top.Required, pair.Key)))
	}
	slices.SortStableFunc(f.Fields, func(a, b field) int { return requiredFirst(a.Required, b.Required) })
	return f
}

// requiredFirst compares two fields of a form.
func requiredFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func newField(name string, p property, required bool) field {
	f := field{
		name: name, Label: safetext.Line(name), Help: p.hint(), Required: required, option: -1,
		emptied: p.MinLength != nil && *p.MinLength == 0,
	}
	if p.Title != "" {
		f.Label = safetext.Line(p.Title)
	}
	switch {
	case p.Type == "boolean":
		f.kind = oneField
		f.Options = []option{
			{value: json.RawMessage("true"), Label: "yes"},
			{value: json.RawMessage("false"), Label: "no"},
		}
	case p.Type == "array" && p.Items != nil && len(p.Items.options()) > 0:
		f.kind, f.Options = manyField, p.Items.options()
		f.option = 0
	case p.Type == "number" || p.Type == "integer":
		f.kind = numberField
	case len(p.options()) > 0:
		f.kind, f.Options = oneField, p.options()
	}
	f.fill(p.Default)
	return f
}

// hint describes the values that a field accepts.
func (p property) hint() string {
	parts := []string{}
	if p.Description != "" {
		parts = append(parts, p.Description)
	}
	switch {
	case p.Format != "":
		parts = append(parts, "format: "+p.Format)
	case p.Type == "integer":
		parts = append(parts, "a whole number")
	case p.Type == "number":
		parts = append(parts, "a number")
	}
	if p.Minimum != nil {
		parts = append(parts, fmt.Sprintf("at least %g", *p.Minimum))
	}
	if p.Maximum != nil {
		parts = append(parts, fmt.Sprintf("at most %g", *p.Maximum))
	}
	return safetext.Line(strings.Join(parts, " · "))
}

func (p property) options() []option {
	var list []option
	for i, value := range p.Enum {
		o := option{value: value, Label: chat.Argument{Value: value}.Text()}
		if i < len(p.EnumNames) {
			o.Label = p.EnumNames[i]
		}
		list = append(list, o)
	}
	for _, t := range slices.Concat(p.OneOf, p.AnyOf) {
		if t.Const != nil {
			label := t.Title
			if label == "" {
				label = chat.Argument{Value: t.Const}.Text()
			}
			list = append(list, option{value: t.Const, Label: label})
		}
	}
	for i := range list {
		list[i].Label = safetext.Line(list[i].Label)
	}
	return list
}

// fill sets the default.
func (f *field) fill(value json.RawMessage) {
	if len(value) == 0 || string(value) == "null" {
		return
	}
	f.touched = true
	var several []json.RawMessage
	if f.kind == manyField {
		_ = json.Unmarshal(value, &several) // an invalid default chooses nothing
	}
	same := func(a, b json.RawMessage) bool { return string(a) == string(b) }
	for i := range f.Options {
		o := &f.Options[i]
		o.chosen = slices.ContainsFunc(several, func(v json.RawMessage) bool { return same(v, o.value) })
		if f.kind == oneField && same(o.value, value) {
			f.option = i
		}
	}
	if f.kind == textField || f.kind == numberField {
		f.Line.Text = safetext.Text(chat.Argument{Value: value}.Text())
		f.usual = option{value: value, Label: f.Line.Text}
	}
}

// Press handles a key. send reports that the user submits the form.
func (f *Form) Press(pressed tea.KeyPressMsg, keys *draw.Keys) (send bool) {
	switch {
	case key.Matches(pressed, keys.FieldNext):
		f.At = min(f.At+1, len(f.Fields))
	case key.Matches(pressed, keys.FieldPrevious):
		f.At = max(f.At-1, 0)
	case key.Matches(pressed, keys.FieldDone):
		f.At++
		send = f.At > len(f.Fields)
		f.At = min(f.At, len(f.Fields))
	case f.At < len(f.Fields):
		f.Fields[f.At].press(pressed, keys)
	}
	return send
}

// Paste puts text into the field that has the focus.
func (f *Form) Paste(text string) {
	if f.At < len(f.Fields) && len(f.Fields[f.At].Options) == 0 {
		f.Fields[f.At].Line.Paste(text)
		f.Fields[f.At].touched = true
	}
}

func (f *field) press(pressed tea.KeyPressMsg, k *draw.Keys) {
	if len(f.Options) > 0 {
		f.choose(pressed, k)
		return
	}
	was := f.Line.Text
	f.Line.Press(pressed)
	f.touched = f.touched || f.Line.Text != was
}

// choose moves among the options, or toggles one of several.
func (f *field) choose(pressed tea.KeyPressMsg, keys *draw.Keys) {
	n := len(f.Options)
	several := f.kind == manyField
	switch {
	case key.Matches(pressed, keys.OptionSwitch) && several:
		f.Options[f.option].chosen = !f.Options[f.option].chosen
		f.touched = true
	case key.Matches(pressed, keys.OptionNext, keys.OptionSwitch):
		f.option = (f.option + 1) % n
		f.touched = f.touched || !several
	case key.Matches(pressed, keys.OptionPrevious):
		f.option = (max(f.option, 0) + n - 1) % n
		f.touched = f.touched || !several
	}
}

// value returns the field as JSON; ok is false if it was left out.
func (f *field) value() (value json.RawMessage, ok bool) {
	switch f.kind {
	case oneField:
		if f.option < 0 {
			return nil, false
		}
		return f.Options[f.option].value, true
	case manyField:
		list := []json.RawMessage{}
		for _, o := range f.Options {
			if o.chosen {
				list = append(list, o.value)
			}
		}
		value, err := json.Marshal(list)
		return value, err == nil && (f.touched || f.Required)
	}
	if f.usual.value != nil && f.Line.Text == f.usual.Label {
		return f.usual.value, true // including the part that is not shown
	}
	text := strings.TrimSpace(f.Line.Text)
	if text == "" && (!f.Required && !f.emptied || f.kind == numberField) {
		return nil, false
	}
	if f.kind == numberField {
		if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
			return json.RawMessage(text), true
		} // otherwise the text is sent unchanged, and the check reports the problem
	}
	value, err := json.Marshal(text)
	return value, err == nil
}

// Values returns the fields as one JSON object.
func (f *Form) Values() json.RawMessage {
	object := map[string]json.RawMessage{}
	for i := range f.Fields {
		if value, ok := f.Fields[i].value(); ok {
			object[f.Fields[i].name] = value
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// Lines draws the form. entered reports that it has the focus; at is the line of the
// focused field.
func (f *Form) Lines(width int, entered bool, theme *draw.Theme) (lines []string, at int) {
	labels := 0
	for i := range f.Fields {
		labels = max(labels, draw.Width(f.Fields[i].Label)+1)
	}
	labels = min(labels, max(8, width/3))
	for i := range f.Fields {
		here := entered && i == f.At
		if here {
			at = len(lines)
		}
		lines = append(lines, f.Fields[i].lines(width, labels, here, theme)...)
	}
	does := "[ " + cmp.Or(f.Send, "send") + " ]"
	button := theme.Key.Render(does)
	if entered && f.At == len(f.Fields) {
		at = len(lines)
		button = theme.Selected.Render(bar(does, true))
	}
	return append(lines, "", draw.Truncate("  "+button, width)), at
}

func (f *field) lines(width, labels int, here bool, theme *draw.Theme) []string {
	label := f.Label
	if f.Required {
		label += "*"
	}
	label = draw.Truncate(label, labels)
	label += strings.Repeat(" ", max(0, labels-draw.Width(label)))
	mark := "  "
	if here {
		mark, label = theme.Selected.Render("▌ "), theme.Selected.Render(label)
	}
	lines := draw.Hang(mark+label+"  ", f.shown(here, theme), width)
	if here && f.Help != "" {
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("    ", f.Help, width))...)
	}
	return lines
}

// shown returns the value as displayed.
func (f *field) shown(here bool, theme *draw.Theme) string {
	if len(f.Options) == 0 {
		if here {
			return f.Line.Shown()
		}
		if f.Line.Text == "" {
			return theme.Dim.Render("—")
		}
		return f.Line.Text
	}
	var parts []string
	for i, o := range f.Options {
		text, chosen := o.Label, i == f.option
		if f.kind == manyField {
			chosen = o.chosen
		}
		switch {
		case chosen:
			text = "[x] " + text
		case here || f.kind == manyField:
			text = "[ ] " + text
		default:
			continue
		}
		if here && i == f.option {
			text = theme.Selected.Render(text)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return theme.Dim.Render("—")
	}
	return strings.Join(parts, "  ")
}

// Given returns the value that an empty line leaves unchanged; "" if none.
func (f *field) Given() string {
	if len(f.Options) == 0 {
		return safetext.Line(f.Line.Text)
	}
	var labels []string
	for i, o := range f.Options {
		if o.chosen || f.kind == oneField && i == f.option {
			labels = append(labels, o.Label)
		}
	}
	return strings.Join(labels, ", ")
}

// Read parses a typed line; options are chosen by number or name. If the line names none,
// it reports false and changes nothing.
func (f *field) Read(line string) bool {
	if line == "" {
		return true
	}
	if len(f.Options) == 0 {
		f.touched, f.Line.Text = true, safetext.Line(line)
		return true
	}
	words := []string{line}
	if f.kind == manyField {
		words = strings.Split(line, ",")
		for _, part := range words {
			words = append(words, strings.Fields(part)...) // numbers; a label may have spaces
		}
	}
	meant := map[int]bool{}
	for i, o := range f.Options {
		for _, word := range words {
			if word == fmt.Sprint(i+1) || strings.EqualFold(strings.TrimSpace(word), o.Label) {
				meant[i] = true
			}
		}
	}
	if len(meant) == 0 {
		return false
	}
	f.touched = true
	for i := range f.Options {
		if f.Options[i].chosen = meant[i]; meant[i] {
			f.option = i
		}
	}
	return true
}
