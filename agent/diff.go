package agent

import (
	"fmt"
	"slices"
	"strings"
)

// FileDiff is the part of a unified diff about one file.
type FileDiff struct {
	From, To string // paths; [NoFile] if the file is new or removed
	Hunks    []Hunk
}

// NoFile stands in a diff for the path of a file that does not exist.
const NoFile = "/dev/null"

// Hunk is a place at which a file changes.
type Hunk struct {
	Line  int      // the first one in the old file; 0 if that has none
	Lines []string // without line ends, each after its sign: a blank, + or -
}

// Place returns the line of the old file at which the first change is.
func (h Hunk) Place() int {
	return h.Line + max(0, slices.IndexFunc(h.Lines, func(line string) bool { return line[0] != ' ' }))
}

// Diffs splits the preview's diff by file. The head of a hunk gives its number of lines, so that a removed line "-- x"
// is not read as the head of a file. Anything else is ignored.
func (p Preview) Diffs() (files []FileDiff) {
	oldLeft, newLeft := 0, 0 // lines that the hunk still has
	for line := range strings.SplitSeq(p.Diff, "\n") {
		var file *FileDiff
		if n := len(files); n > 0 {
			file = &files[n-1]
		}
		switch {
		case oldLeft+newLeft > 0 && line != "" && strings.Contains(" +-", line[:1]):
			hunk := &file.Hunks[len(file.Hunks)-1]
			hunk.Lines = append(hunk.Lines, line)
			if line[0] != '+' {
				oldLeft--
			}
			if line[0] != '-' {
				newLeft--
			}
		case strings.HasPrefix(line, "--- "):
			files = append(files, FileDiff{From: line[len("--- "):]})
		case file == nil:
		case strings.HasPrefix(line, "+++ "):
			file.To = line[len("+++ "):]
		case strings.HasPrefix(line, "@@ "):
			var hunk Hunk
			if hunk.Line, oldLeft, newLeft = hunkHead(line); oldLeft+newLeft > 0 {
				file.Hunks = append(file.Hunks, hunk)
			}
		}
	}
	return files
}

// hunkHead reads "@@ -1,2 +3,4 @@": the first line and the number of lines in the old file, and that in the new one.
func hunkHead(line string) (first, old, fresh int) {
	var ranges [2]string
	if _, err := fmt.Sscanf(line, "@@ -%s +%s @@", &ranges[0], &ranges[1]); err != nil {
		return 0, 0, 0
	}
	old, fresh = 1, 1 // if a number is left out
	_, _ = fmt.Sscanf(ranges[0], "%d,%d", &first, &old)
	_, _ = fmt.Sscanf(ranges[1], "%d,%d", new(int), &fresh)
	return first, old, fresh
}
