package transcript

import (
	"slices"
	"testing"
)

func TestCodeBlocks(t *testing.T) {
	source := "Text\n```go\na := 1\n\n  b\n```\nand `inline` and\n\n- item\n  ~~~\n  c\n  ```\n  ~~~\n````\n```\nd\n```\n````\n```sh\nopen"
	want := []string{"a := 1\n\n  b\n", "c\n```\n", "```\nd\n```\n", "open"}
	if got := codeBlocks(source); !slices.Equal(got, want) {
		t.Errorf("blocks = %q, want %q", got, want)
	}
	if got := codeBlocks("no ```code``` here"); len(got) != 0 {
		t.Errorf("blocks = %q, want none", got)
	}
}
