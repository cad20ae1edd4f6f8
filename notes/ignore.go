package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"lifehub/internal/files"
)

// ignoreName is a file with patterns in .gitignore syntax that excludes notes of
// its folder and those below.
const ignoreName = ".lifehubignore"

// ignoreRules are the patterns that apply in a folder, outermost first. The last
// matching one decides.
type ignoreRules []ignoreRule

type ignoreRule struct {
	base    string   // folder of the ignore file; "" is the root
	parts   []string // pattern, split at slashes
	keep    bool     // "!": matching names are included again
	dirOnly bool     // "name/"
}

// with adds the rules in dir itself. Unreadable rules are an error, because
// without them excluded notes would be read.
func (r ignoreRules) with(root *os.Root, dir string) (ignoreRules, error) {
	text, err := files.ReadIn(root, path.Join(dir, ignoreName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", ignoreName, err)
	}
	return append(r[:len(r):len(r)], parseIgnore(dir, string(text))...), nil
}

func parseIgnore(dir, text string) ignoreRules {
	if dir == "." {
		dir = ""
	}
	var rules ignoreRules
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " \t")
		}
		rule := ignoreRule{base: dir}
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '!':
			rule.keep, line = true, line[1:]
		}
		if rest, ok := strings.CutSuffix(line, "/"); ok {
			rule.dirOnly, line = true, rest
		}
		anchored := strings.Contains(line, "/")
		line = strings.ReplaceAll(strings.TrimPrefix(line, "/"), "[!", "[^")
		if line == "" {
			continue
		}
		if !anchored {
			line = "**/" + line
		}
		rule.parts = strings.Split(line, "/")
		rules = append(rules, rule)
	}
	return rules
}

// ignore reports whether a file or folder is excluded. Notes in an excluded
// folder cannot be included again.
func (r ignoreRules) ignore(name string, dir bool) bool {
	for i := len(r) - 1; i >= 0; i-- {
		if r[i].match(name, dir) {
			return !r[i].keep
		}
	}
	return dir && slices.ContainsFunc(neverNotes, func(folder string) bool {
		return name == folder ||
			strings.HasSuffix(name, "/"+folder)
	})
}

// neverNotes are folders of the readmes of programs, of older versions and of deleted files, unless a pattern includes
// them.
var neverNotes = []string{
	"node_modules", "logseq/bak", "logseq/version-files", "#recycle", "@eaDir",
	"$RECYCLE.BIN", "lost+found",
}

func (r ignoreRule) match(name string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.base != "" {
		rest, ok := strings.CutPrefix(name, r.base+"/")
		if !ok {
			return false
		}
		name = rest
	}
	return matchParts(r.parts, strings.Split(name, "/"))
}

// matchParts matches a pattern with a path, part by part. ** matches any number
// of folders, and at the end everything inside.
func matchParts(pattern, name []string) bool {
	for len(pattern) > 0 && pattern[0] != "**" {
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	if len(pattern) == 0 {
		return len(name) == 0
	}
	for len(pattern) > 1 && pattern[1] == "**" {
		pattern = pattern[1:] // collapse consecutive **, which would multiply the cost
	}
	if len(pattern) == 1 {
		return len(name) > 0
	}
	for i := range name {
		if matchParts(pattern[1:], name[i:]) {
			return true
		}
	}
	return false
}
