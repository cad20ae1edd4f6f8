package text

import "testing"

func TestControlsAreFoundOutsideFlags(t *testing.T) {
	const scotland, texas = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
		"\U0001f3f4\U000e0075\U000e0073\U000e0074\U000e0078\U000e007f"
	for s, want := range map[string]struct {
		found string
		clean string
	}{
		"plain\ttext\r\nof two lines\n":   {"", "plain\ttext\nof two lines\n"},
		"a\x1bb\x7fc\u0080d\u009be":       {"\x1b\x7f\u0080\u009b", "abcde"},
		"x\u202ay\u202ez\u2066\u2069":     {"\u202a\u202e\u2066\u2069", "xyz"},
		"one\u2028two\u2029three":         {"\u2028\u2029", "one two three"},
		"t\U000e0041\U000e007fu":          {"\U000e0041\U000e007f", "tu"},
		scotland + " and " + texas:        {"", scotland + " and " + texas},
		scotland + "\U000e0068":           {"\U000e0068", scotland},
		"\U0001f3f4\U000e0068\U000e0069":  {"\U000e0068\U000e0069", "\U0001f3f4"}, // not ended
		"a\u200bb\u00adc \u05d0\u200f ok": {"", "a\u200bb\u00adc \u05d0\u200f ok"},
		"\r alone":                        {"\r", " alone"},
	} {
		if got := string(Controls(s)); got != want.found {
			t.Errorf("%q: found %q, want %q", s, got, want.found)
		}
		if got := WithoutControls(s); got != want.clean {
			t.Errorf("%q: cleaned %q, want %q", s, got, want.clean)
		}
	}
}
