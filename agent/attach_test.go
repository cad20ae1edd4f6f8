package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lifehub/llm/llmtest"
)

// drawer holds texts by name.
type drawer map[string]string

func (d drawer) Find(message string) (names []string) {
	for _, word := range strings.Fields(message) {
		if name, ok := strings.CutPrefix(word, "@"); ok {
			names = append(names, name)
		}
	}
	return names
}

func (d drawer) Read(_ context.Context, name string) (Result, error) {
	text, ok := d[name]
	if !ok {
		return Result{}, errors.New("there is none")
	}
	return Result{Text: text, Foreign: true}, nil
}

func TestWhatAMessageNamesIsReadAlongWithIt(t *testing.T) {
	a := talks(Options{Attach: drawer{"s:a": "hello from a"}}, func(context.Context) (Result, error) { return Result{Text: "talked"}, nil })
	var story []string
	for e := range a.Ask(t.Context(), "c", "what do @s:a and @s:b say?") {
		switch b := e.Body.(type) {
		case ToolStarted:
			story = append(story, fmt.Sprint("start ", b.Name, " ", string(b.Input)))
		case ToolEnded:
			story = append(story, strings.TrimSpace(fmt.Sprint("end ", b.Output, " ", b.Error)))
		}
	}
	want := []string{`start read_resource {"name":"s:a"}`, "end hello from a", `start read_resource {"name":"s:b"}`, "end  there is none", "start talk {}", "end talked"}
	if fmt.Sprint(story) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", story, want)
	}
	for _, request := range a.Model.(*llmtest.Script).Requests() {
		prompt := request.Messages[len(request.Messages)-1].Text
		if !strings.Contains(prompt, "hello from a") || !strings.Contains(prompt, "there is none") {
			t.Errorf("the model was told:\n%s", prompt)
		}
	}
}
