// Package version knows which LifeHub this is, and tells it to who asks with
// --version alone before the rest of the program is made ready.
package version

import (
	"os"
	_ "unsafe" // for go:linkname
)

// Shells and scripts ask for the version often, and most of the time that took
// went to the initialization of packages that had no part in the answer. Go
// initializes the packages that are ready in the order of their paths: this one
// imports os alone, which nearly all others wait for too, and is the first of
// them (docs/design/performance.md).
func init() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		if _, err := os.Stdout.WriteString("lifehub version " + Text() + "\n"); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// modinfo is what [runtime/debug.ReadBuildInfo] parses, in the lines of
// [runtime/debug.BuildInfo.String]. That package is not imported, as it waits for
// reflect and fmt, and all that comes before them.
//
//go:linkname modinfo runtime/debug.modinfo
func modinfo() string

// Text is the module's version, else the commit it was built from.
func Text() string { return text(modinfo()) }

func text(info string) string {
	if version := field(info, "\nmod\tlifehub\t", '\t'); version != "" && version != "(devel)" {
		return version
	}
	if commit := field(info, "\nbuild\tvcs.revision=", '\n'); len(commit) >= 12 {
		return "0.1.0-dev+" + commit[:12]
	}
	return "0.1.0-dev"
}

// field is what stands between the first mark and the end after it.
func field(info, mark string, end byte) string {
	for at := 0; at+len(mark) <= len(info); at++ {
		if info[at:at+len(mark)] != mark {
			continue
		}
		from := at + len(mark)
		for to := from; to < len(info); to++ {
			if info[to] == end || info[to] == '\n' {
				return info[from:to]
			}
		}
	}
	return ""
}
