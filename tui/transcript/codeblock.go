package transcript

import (
	"lifehub/tui/draw"
)

// CodeBlock returns the nth code block, counted from 1, or the reason why there is none. a
// may be nil.
func (a *Answer) CodeBlock(n int) (text, problem string) {
	if a == nil {
		return "", "no answer to copy yet"
	}
	blocks := draw.CodeBlocks(a.Copied())
	if n < 1 || n > len(blocks) {
		return "", "the answer has " + draw.Count(len(blocks), "code block")
	}
	return blocks[n-1], ""
}
