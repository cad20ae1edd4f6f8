package ttytest

import "testing"

func TestUnrestoredStateIsFound(t *testing.T) {
	for sent, want := range map[string]int{
		"plain text": 0,
		"\x1b[?1049h\x1b[?25l…\x1b[?25h\x1b[?1049l": 0,
		"\x1b[?1049h":                            1,
		"\x1b[?25l":                              1,
		"\x1b[?1002;1006h\x1b[?1002l":            1,
		"\x1b[>1u\x1b[>1u\x1b[<u":                1,
		"\x1b[>4;2m…\x1b[>4m":                    0,
		"\x1b[>4;2m":                             1,
		"\x1b]9;4;1;50\a":                        1,
		"\x1b]9;4;1;50\a\x1b]9;4;0\a":            0,
		"\x1b[22;2t\x1b]2;x\a":                   1,
		"\x1b[22;2t\x1b]2;x\a\x1b[23;2t":         0,
		"\x1b]8;;https://a.example\ax":           1,
		"\x1b]8;;https://a.example\ax\x1b]8;;\a": 0,
		"\x1b[1;31mred":                          1,
		"\x1b[1;31mred\x1b[m":                    0,
		"\x1b[5 q":                               1,
	} {
		if got := Left(sent); len(got) != want {
			t.Errorf("%q leaves %q, want %d", sent, got, want)
		}
	}
}
