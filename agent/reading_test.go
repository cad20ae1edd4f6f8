package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

func TestReadingIsOneLine(t *testing.T) {
	var lines strings.Builder
	for _, r := range []Reading{
		{Tokens: 2613, Took: 40_200, PerSecond: 22.4},
		{Tokens: 2613, Read: 512, Took: 40_000},
		{Tokens: 2613, Read: 512, Took: 40_000, Beginning: true},
		{Model: "qwen3:8b", Took: 3000},
		{Tokens: 2613, Took: 40_000, Waiting: "the server is busy"},
	} {
		fmt.Fprintln(&lines, r)
	}
	golden.RequireEqual(t, lines.String())
}
