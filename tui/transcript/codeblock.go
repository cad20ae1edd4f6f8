package transcript

import (
	"strings"

	"lifehub/tui/draw"
)

// CodeBlock returns the nth code block, counted from 1, or why there is none; a may
// be nil.
func (a *Answer) CodeBlock(n int) (text, problem string) {
	if a == nil {
		return "", "no answer to copy yet"
	}
	blocks := codeBlocks(a.Copied())
	if n < 1 || n > len(blocks) {
		return "", "the answer has " + draw.Count(len(blocks), "code block")
	}
	return blocks[n-1], ""
}

// codeBlocks returns the text of the fenced blocks of a Markdown source, in
// order. A block that is still open counts.
func codeBlocks(source string) []string {
	var blocks []string
	var block strings.Builder
	fence, indent := "", 0
	for line := range strings.Lines(source) {
		text := strings.TrimLeft(line, " ")
		mark := fenceOf(text)
		switch {
		case fence == "" && mark != "":
			fence, indent = mark, len(line)-len(text)
			block.Reset()
		case fence == "":
		case mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.TrimSpace(text) == mark:
			blocks = append(blocks, block.String())
			fence = ""
		default:
			for range indent { // the block may stand in a list
				line = strings.TrimPrefix(line, " ")
			}
			block.WriteString(line)
		}
	}
	if fence != "" {
		blocks = append(blocks, block.String())
	}
	return blocks
}

// fenceOf returns the run of three or more marks that a fence begins with, "".
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		run := line[:len(line)-len(strings.TrimLeft(line, mark))]
		if len(run) >= 3 && !(mark == "`" && strings.Contains(line[len(run):], "`")) {
			return run
		}
	}
	return ""
}
