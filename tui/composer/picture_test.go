package composer

import "testing"

func TestPastedPathOfAnImageIsRecognised(t *testing.T) {
	for text, want := range map[string]string{
		"/home/ana/a chart.png\n": "/home/ana/a chart.png", `/home/ana/a\ chart.png`: "/home/ana/a chart.png",
		"'/tmp/x.JPG'":           "/tmp/x.JPG",
		"file:///tmp/a%20b.webp": "/tmp/a b.webp", "see /tmp/x.png": "", "x.png": "", "/tmp/x.txt": "",
		"/tmp/x.png\n/tmp/y.png":  "",
		"https://a.example/x.png": "", "/tmp/\x1bx.png": "", `/tmp/"x.png`: "", "": "",
	} {
		if got := PicturePath(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
