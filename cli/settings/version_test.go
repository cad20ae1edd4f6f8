package settings

import (
	"runtime/debug"
	"testing"
)

func TestVersionOfBuild(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "39bfe90012345678"}
	other := debug.BuildSetting{Key: "-trimpath", Value: "true"}
	for _, c := range []struct {
		of   debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{
			Main:     debug.Module{Path: "lifehub", Version: "v0.2.0"},
			Settings: []debug.BuildSetting{commit},
		}, "v0.2.0"},
		{debug.BuildInfo{Main: debug.Module{
			Path: "lifehub", Version: "v0.0.0-20261123041300-39bfe9001234+dirty",
			Sum: "h1:x",
		}}, "v0.0.0-20261123041300-39bfe9001234+dirty"},
		{debug.BuildInfo{
			Main:     debug.Module{Path: "lifehub", Version: "(devel)"},
			Settings: []debug.BuildSetting{other, commit},
		}, "0.1.0-dev+39bfe9001234"},
		{debug.BuildInfo{
			Main: debug.Module{Path: "lifehub", Version: "(devel)"},
			Deps: []*debug.Module{{Path: "x", Version: "v1.0.0"}},
		}, "0.1.0-dev"},
		{debug.BuildInfo{}, "0.1.0-dev"},
	} {
		if got := versionOf(&c.of); got != c.want {
			t.Errorf("the version of\n%s is %q, want %q", c.of.String(), got, c.want)
		}
	}
}
