package mcpserve

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// The cost of a check is bounded for any input. Without the bounds these would take hours.
func TestCheckIsBounded(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir, huge := vault(t), vault(t)
	apptest.Write(t, filepath.Join(dir, "big.md"), "# Big\n\n"+
		strings.Repeat("The boiler has 7 bar and nothing else.\n", 1000))
	apptest.Write(t, filepath.Join(huge, "huge.md"), strings.Repeat("The boiler has 7 bar.\n", ofCall.opened/20))
	c := connect(t, t.TempDir(), nil, "--notes", huge)
	if text, _ := call(t, c, "check_citations", map[string]string{"text": "It runs [huge.md]."}); !strings.Contains(text, "in parts") {
		t.Errorf("a long note: %.300s", text)
	}
	c = connect(t, t.TempDir(), nil, "--notes", dir)
	for name, one := range map[string]struct{ text, want string }{
		"a long text":            {strings.Repeat("word ", ofCall.text), "at most 64 KiB"},
		"many sources":           {strings.Repeat("It runs [big.md:3]. ", ofCall.sources+1), "100 sources"},
		"many numbers":           {"[big.md] " + strings.Repeat("The boiler has 9 bar [1].\n\n", 2000), "left_out"},
		"many quotations":        {"[big.md] " + strings.Repeat("“The boiler had 7 bar”.\n\n", 2000), "left_out"},
		"quotations of a source": {strings.Repeat("“boiler of 9 bar” ", 2000) + "[big.md]", "left_out"},
		"a quoted block":         {"[big.md]\n\n" + strings.Repeat("> “The boiler had 8 bar”\n", 2000), "left_out"},
	} {
		if text, _ := call(t, c, "check_citations", map[string]string{"text": one.text}); !strings.Contains(text,
			one.want) {
			t.Errorf("%s: %.300s", name, text)
		}
	}
}

// A quotation that was not searched for gets no verdict.
func TestUnsearchedQuotationGetsNoVerdict(t *testing.T) {
	t.Parallel()
	dir := vault(t)
	var draft strings.Builder
	for i := range 2 * ofCall.searches {
		apptest.Write(t, filepath.Join(dir, fmt.Sprintf("n%d.md", i)),
			fmt.Sprintf("The zebra%d walked over %d red bridges.\n", i, i+100))
		fmt.Fprintf(&draft, "“The zebra%d walked over %d red bridges.”\n\n", i, i+100)
	}
	c := connect(t, t.TempDir(), nil, "--notes", dir)
	text, result := call(t, c, "check_citations", map[string]string{"text": draft.String()})
	var got struct {
		Verdicts []Verdict `json:"verdicts"`
		LeftOut  int       `json:"left_out"`
	}
	raw, _ := json.Marshal(result.StructuredContent)
	if err := json.Unmarshal(raw, &got); err != nil || len(got.Verdicts)+got.LeftOut != 2*ofCall.searches ||
		strings.Contains(string(raw), "not_found") {
		t.Errorf("%v: %d verdicts, %d left out: %s", err, len(got.Verdicts), got.LeftOut, text)
	}
}

// A client knows paths, not numbers.
func TestQuotationOfAnotherNoteNamesIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apptest.Write(t, filepath.Join(dir, "a.md"), "The boiler has 7 bar.\n")
	apptest.Write(t, filepath.Join(dir, "b.md"), "The ferry sails at noon.\n")
	c := connect(t, t.TempDir(), nil, "--notes", dir)
	if text, _ := call(t, c, "check_citations", map[string]string{"text": "“The ferry sails at noon” [a.md], “The " +
		"ferry sails at noon.” [b.md]"}); !strings.Contains(text, "not in a.md, but in b.md") {
		t.Errorf("got %s", text)
	}
}

// A client gets the same remarks on quotations as the chat, whether the source is named or has to
// be found.
func TestRiderReachesAClient(t *testing.T) {
	t.Parallel()
	dir := vault(t)
	apptest.WriteRiders(t, dir)
	c := connect(t, t.TempDir(), nil, "--notes", dir)
	for _, want := range apptest.Riders {
		for _, draft := range []string{"“" + want.Words + "” [" + want.Path + "]", "“" + want.Words + "”"} {
			verdicts, _ := call(t, c, "check_citations", map[string]string{"text": draft})
			var got struct{ Verdicts []Verdict }
			if err := json.Unmarshal([]byte(verdicts), &got); err != nil || len(got.Verdicts) != 1 ||
				got.Verdicts[0].Verdict != "verified" || got.Verdicts[0].Context != strings.TrimPrefix(want.Said,
				"but ") {
				t.Errorf("%s: %v %s, want %q", draft, err, verdicts, want.Said)
			}
		}
	}
}
