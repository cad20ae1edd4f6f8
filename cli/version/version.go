// Package version knows which LifeHub this is, and tells it to who asks with
// --version alone before the rest of the program is made ready.
package version

import (
	"os"
	"runtime/debug"
)

// Shells and scripts ask for the version often, and three quarters of the time
// that took went to the initialization of packages that had no part in the
// answer. Go initializes the packages that are ready in the order of their
// paths: this one imports little, and is among the first (docs/design/performance.md).
func init() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		if _, err := os.Stdout.WriteString("lifehub version " + Text() + "\n"); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// Text is the module's version, else the commit it was built from.
func Text() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	if ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return "0.1.0-dev+" + s.Value[:12]
			}
		}
	}
	return "0.1.0-dev"
}
