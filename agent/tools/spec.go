package tools

import (
	"embed"

	"lifehub/agent/tools/describe"
	"lifehub/llm"
)

//go:embed *.md
var descriptions embed.FS

func spec[Args any](name string) llm.ToolSpec { return describe.Tool[Args](descriptions, name) }
