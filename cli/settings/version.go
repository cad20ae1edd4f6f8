package settings

import "runtime/debug"

// Version returns the version of the module or, if there is none, the commit it was built from.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return versionOf(info)
	}
	return versionOf(&debug.BuildInfo{})
}

func versionOf(info *debug.BuildInfo) string {
	const next = "0.1.0-dev"
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return next + "+" + s.Value[:12]
		}
	}
	return next
}
