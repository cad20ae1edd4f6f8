//go:build unix

package cli

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// slowWriter streams a model's answers at a natural speed and counts tokens as a
// server would.
type slowWriter struct{ llm.Model }

func (m slowWriter) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		bytes, answer := 0, 0
		for _, message := range req.Messages {
			bytes += len(message.Text)
		}
		for delta, err := range m.Model.Stream(ctx, req) {
			time.Sleep(20 * time.Millisecond)
			answer += len(delta.Text)
			if delta.Usage != nil {
				delta.Usage.Prompt, delta.Usage.Answer = bytes/4, answer/4
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// TestModelForTheFilm serves the model of the film (make film) until the file named by
// LIFEHUB_FILM, which contains its address, is deleted.
func TestModelForTheFilm(t *testing.T) {
	testenv.WithoutRace(t)
	file := os.Getenv("LIFEHUB_FILM")
	if file == "" {
		t.Skip("LIFEHUB_FILM=FILE serves the model of the film (make film)")
	}
	// what the model reads ahead has no question
	const first, second = "how do I raise my long run", "remind me to book"
	friday := time.Now().AddDate(0, 0, (int(time.Friday)-int(time.Now().Weekday())+7)%7).Format(time.DateOnly)
	plan := func(steps string) string { return `{"reasoning":"","steps":[` + steps + `]}` }
	model := slowWriter{llmtest.NewScript(
		says(first, plan(`{"id":"1","tool":"search_notes","input":{"query":"raise long run"}},{"id":"2",`+
			`"tool":"search_notes","input":{"query":"longest run"}}`)),
		says(first, "Your plan says of the long run: “Raise it by at most 10 % a week, and every fourth week go back "+
			"to 12 km.” [1] After your last one, “2026-11-15: 16 km in 1:34.” [2], that is at most 17.6 km:\n\n| "+
			"week | long run |\n| --- | ---: |\n| this | 17.6 km |\n| next | 12 km |\n\nThe plan also has “a "+
			"rest day after each long run” [1].\n"),
		says(second, plan(`{"id":"1","tool":"add_task","input":{"text":"book the physio for the left shin","due":"`+
			friday+`"}}`)),
		says(second, "It is on your list, due on Friday.\n"),
		llmtest.Answer{Text: "Weekly running distance", Always: true},
	)}
	if err := os.WriteFile(file, []byte(llmtest.ServeAs(t, model, "scripted-model:8b")), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		if _, err := os.Stat(file); err != nil {
			return
		}
	}
}

// TestDocumentForThePictures adds a conversation with a document of two versions to the home in
// LIFEHUB_SCREENS. Only models write documents, and `make screens` has no model.
func TestDocumentForThePictures(t *testing.T) {
	testenv.WithoutRace(t)
	home := os.Getenv("LIFEHUB_SCREENS")
	if home == "" {
		t.Skip("LIFEHUB_SCREENS=FOLDER makes a document for the pictures (make screens)")
	}
	model := llmtest.NewScript(
		calls(asksLead, "delegate", `{"worker_type":"general","task_description":"WRITE the week",`+
			`"success_criteria":"x"}`),
		says(asksJudge, passes), says(asksLead, "The week is in the document *training week*."),
		calls("WRITE", "create_artifact", `{"name":"training week","text":"# Training week\n\n- Monday: rest\n- `+
			`Tuesday: 5 km, easy\n- Thursday: intervals\n- Sunday: 12 km\n","why":"a first draft"}`),
		calls("WRITE", "update_artifact", `{"name":"training week","old_text":"- Sunday: 12 km","new_text":"- `+
			`Saturday: stretching\n- Sunday: 13 km, 10 % more","why":"the long run grows by a tenth"}`),
		says("WRITE", "Made and changed."),
	)
	tellIn(t, home, filepath.Join(home, "notes"), llmtest.Serve(t, model), llmtest.ServedModel, "team",
		"write me a training week")
}
