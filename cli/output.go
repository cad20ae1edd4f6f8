package cli

import (
	"fmt"
)

// count is a number of things, in words: 1 note, 2 notes.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
