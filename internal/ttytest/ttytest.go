// Package ttytest checks the output of a program for a terminal.
package ttytest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	modes     = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)
	kitty     = regexp.MustCompile(`\x1b\[([<>])\d*u`)
	otherKeys = regexp.MustCompile(`\x1b\[>4(?:;(\d*))?m`)
	progress  = regexp.MustCompile(`\x1b\]9;4;(\d)`)
	titles    = regexp.MustCompile(`\x1b\[2([23]);2t`)
	links     = regexp.MustCompile(`\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)`)
	colours   = regexp.MustCompile(`\x1b\[([0-9;:]*)m`)
	shapes    = regexp.MustCompile(`\x1b\[(\d*) q`)
)

// modesAtFirst are the initial modes of a terminal: line wrapping and a visible
// cursor.
var modesAtFirst = map[string]bool{"7": true, "25": true}

// Left returns the terminal state that a program's output changed and did not
// restore: modes, keyboard protocols, a progress bar, the title, an open link, a
// colour, the cursor's shape. It returns nil if everything is restored.
func Left(sent string) []string {
	var left []string
	last := func(what string, pattern *regexp.Regexp, clean ...string) {
		if all := pattern.FindAllStringSubmatch(sent, -1); len(all) > 0 && !slices.Contains(clean, all[len(all)-1][1]) {
			left = append(left, fmt.Sprintf("%s %q", what, all[len(all)-1][0]))
		}
	}
	open := func(what string, pattern *regexp.Regexp, begin string) {
		depth := 0
		for _, m := range pattern.FindAllStringSubmatch(sent, -1) {
			if m[1] == begin {
				depth++
			} else {
				depth = max(0, depth-1)
			}
		}
		if depth > 0 {
			left = append(left, fmt.Sprintf("%s, %d deep", what, depth))
		}
	}
	state := maps.Clone(modesAtFirst)
	for _, m := range modes.FindAllStringSubmatch(sent, -1) {
		for mode := range strings.SplitSeq(m[1], ";") {
			state[mode] = m[2] == "h"
		}
	}
	for _, mode := range slices.Sorted(maps.Keys(state)) {
		if state[mode] != modesAtFirst[mode] {
			left = append(left, fmt.Sprintf("mode %s is %t", mode, state[mode]))
		}
	}
	open("a keyboard protocol", kitty, ">")
	open("a title", titles, "2")
	last("the keys of xterm", otherKeys, "", "0")
	last("a progress bar", progress, "0")
	last("a link", links, "")
	last("a colour", colours, "", "0")
	last("the cursor's shape", shapes, "", "0", "1")
	return left
}
