package chat

import "testing"

func TestResumeLineNamesTheNotes(t *testing.T) {
	for want, notes := range map[string][]string{
		"lifehub -r 0123456789": nil,
		"lifehub -r 0123456789 --notes examples/notes --notes /srv/w.a": {"examples/notes", "/srv/w.a"},
		`lifehub -r 0123456789 --notes 'my notes' --notes 'Ada'\''s'`:   {"my notes", "Ada's"},
		`lifehub -r 0123456789 --notes '$(rm)' --notes 'a;b'`:           {"$(rm)", "a;b"},
		`lifehub -r 0123456789 --notes Öl/学中文 --notes ''`:               {"Öl/学中文", ""},
	} {
		if got := resumeCommand("0123456789abcdef", notes); got != want {
			t.Errorf("%q\n got %s\nwant %s", notes, got, want)
		}
	}
}
