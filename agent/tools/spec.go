package tools

import (
	"embed"

	"lifehub/agent"
	"lifehub/llm"
)

//go:embed *.md
var descriptions embed.FS

func spec[Args any](name string) llm.ToolSpec { return agent.DescribeTool[Args](descriptions, name) }
