//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"lifehub/llm/llmtest"
)

// TestDocumentForThePictures puts a conversation with a document of two
// versions into the home that LIFEHUB_SCREENS names: documents are a model's
// work, and `make screens` has none.
func TestDocumentForThePictures(t *testing.T) {
	home := os.Getenv("LIFEHUB_SCREENS")
	if home == "" {
		t.Skip("LIFEHUB_SCREENS=FOLDER makes a document for the pictures (make screens)")
	}
	model := llmtest.NewScript(
		says(asksLead, `{"tasks":[{"id":"1","worker_type":"general","task_description":"WRITE the week","success_criteria":"x"}]}`),
		says(asksJudge, passes), says(asksExplainer, "The week is in the document *training week*."),
		calls("WRITE", "create_artifact", `{"name":"training week","text":"# Training week\n\n- Monday: rest\n- Tuesday: 5 km, easy\n- Thursday: intervals\n- Sunday: 12 km\n","why":"a first draft"}`),
		calls("WRITE", "update_artifact", `{"name":"training week","old_text":"- Sunday: 12 km","new_text":"- Saturday: stretching\n- Sunday: 13 km, 10 % more","why":"the long run grows by a tenth"}`),
		says("WRITE", "Made and changed."),
	)
	tellIn(t, home, filepath.Join(home, "notes"), llmtest.Serve(t, model), llmtest.ServedModel, "team", "write me a training week")
}
