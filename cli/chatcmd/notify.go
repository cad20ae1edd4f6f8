package chatcmd

import (
	"log/slog"
	"os"

	"lifehub/internal/files"
	"lifehub/llm"
)

// shouldNotify reports whether to show the text of a model server state. A missing capability is
// reported when it first occurs, not at every start.
func (bg *background) shouldNotify(s llm.State) bool {
	if s.Provider == "offline" {
		return s.Text != ""
	}
	last, _ := os.ReadFile(bg.App.Paths.Reported()) // on error nothing was reported yet
	if known := string(last) == s.Lacks; known {
		return s.Text != "" && (!s.First || s.Lacks == "")
	}
	if err := files.Write(bg.App.Paths.Reported(), []byte(s.Lacks)); err != nil {
		slog.Warn("keep what was told", "error", err)
	}
	return s.Text != ""
}
