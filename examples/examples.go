// Package examples holds the starter notes, so that they come along in the
// binary.
package examples

import "embed"

// Notes are the starter notes, below the folder notes.
//
//go:embed notes
var Notes embed.FS
