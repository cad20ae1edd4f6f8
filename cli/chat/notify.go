package chat

import (
	"log/slog"
	"os"

	"lifehub/internal/files"
	"lifehub/llm"
)

// shouldNotify reports whether the user is to be told what a state of the model server
// says. What it lacks is said when that begins, and not at each start again.
func (bg *background) shouldNotify(s llm.State) bool {
	if s.Provider == "offline" {
		return s.Text != ""
	}
	last, _ := os.ReadFile(bg.App.Paths.Told()) // none: nothing was told yet
	if known := string(last) == s.Lacks; known {
		return s.Text != "" && (!s.First || s.Lacks == "")
	}
	if err := files.Write(bg.App.Paths.Told(), []byte(s.Lacks)); err != nil {
		slog.Warn("keep what was told", "error", err)
	}
	return s.Text != ""
}
