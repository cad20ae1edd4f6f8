package safetext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"lifehub/internal/hostile"
)

// fault returns why s must not be printed, or "". It is independent of the cleaner on purpose and
// uses lists of what is forbidden.
func fault(s string) string {
	if !utf8.ValidString(s) {
		return "not UTF-8"
	}
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case r == '\n', r == '\u200c', r == '\u200d':
		case unicode.IsControl(r):
			return "a control character"
		case unicode.In(r, unicode.Bidi_Control, unicode.Noncharacter_Code_Point, unicode.Cs):
			return "a character that rearranges or is none"
		case r >= 0xe0000 && r <= 0xe0fff && !(r >= 0xe0100 && r <= 0xe01ef) &&
			!strings.Contains(s, "\U0001f3f4\U000e0067\U000e0062"):
			return "a tag"
		case strings.ContainsRune("\u00ad\u034f\u115f\u1160\u180e\u200b\u2028\u2029\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0\ufff9\ufffa\ufffb", r):
			return "an invisible character"
		}
		if i >= maxMarks && unicode.Is(unicode.Mn, r) {
			tower := true
			for _, m := range runes[i-maxMarks : i] {
				tower = tower && unicode.Is(unicode.Mn, m)
			}
			if tower {
				return "a tower of marks"
			}
		}
	}
	return ""
}

func TestNoHostileTextReachesTheScreen(t *testing.T) {
	if len(hostile.Payloads) < 200 {
		t.Fatalf("only %d payloads", len(hostile.Payloads))
	}
	ways := map[string]func(string) string{"Text": Text, "Line": Line, "Reveal": Reveal}
	for name, way := range ways {
		for _, p := range hostile.Payloads {
			got := way(p.Text)
			if why := fault(got); why != "" {
				t.Errorf("%s lets %q pass: %s in %q", name, p.Name, why, got)
			}
			if name == "Line" && strings.Contains(got, "\n") {
				t.Errorf("Line(%q) has more than one line", p.Name)
			}
			if !strings.Contains(got, hostile.Mark) {
				t.Errorf("%s of %q lost the text after it: %q", name, p.Name, got)
			}
			if again := way(got); name != "Reveal" && again != got {
				t.Errorf("%s of %q differs the second time:\n%q\n%q", name, p.Name, got, again)
			}
		}
	}
}

func TestVisibleTextIsUnchanged(t *testing.T) {
	for _, s := range []string{
		"", "plain", "two\nlines\n", "Grüße, naïve café", "Tiếng Việt: ệ ữ",
		"e\u0301 combining", "日本語と中文、한국어", "ﾊﾝｶｸ ｶﾅ",
		"العربية فارسی", "می\u200cخواهم", "עִבְרִית", "हिन्दी क्\u200dष न्\u200cन",
		"മലയാളം ന്\u200d", "ไทย ภาษา", "ភាសាខ្មែរ",
		"👩\u200d👩\u200d👧\u200d👦 family", "🏳\ufe0f\u200d🌈", "👍🏽 👩🏽\u200d💻",
		"❤\ufe0f ☺\ufe0f 1\ufe0f\u20e3 #\ufe0f\u20e3", "🇩🇪🇯🇵",
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"葛\U000e0100", "│ ─ ┼ █ ▓ ⠹ ✓ ○", "∑ ∫ √ ≤ → ⇒", "“quotes” – dash … • § ©", "\u00a0nbsp\u3000wide",
		"Z͑͗ȃ", "\ue0b0 private use",
	} {
		if got := Text(s); got != s {
			t.Errorf("Text(%q) = %q", s, got)
		}
	}
}

func TestLineEndsAndTabs(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc\nd": "a\nb\nc\nd", "a\tb": "a    b", "\tb": "    b", "a\u2028b": "a\nb", "x\ny\tz": "x\ny    z",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := Line("a\r\nb\n\tc\u2029d"), "a b  c d"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
	if got, want := Source("a\tb\r\nc"), "a\tb\nc"; got != want {
		t.Errorf("Source = %q, want %q", got, want)
	}
}

func TestSequencesAreRemovedWithinTheirLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb": "ab", "a\x1b[31": "a", "a\x1b]0;t\ab": "ab", "a\x1b]0;t\x1b\\b": "ab", "a\x1b]0;t": "a",
		"a\x1b]0;t\nb": "a\nb", "a\x1b[3\nb": "a\nb",
		"a\u009b31mb": "ab", "a\x9b31mb": "a\ufffd31mb", "a\u009d0;t\u009cb": "ab", "a\x1bPq#0\x1b\\b": "ab",
		"a\x1b(0b": "ab", "a\x1bcb": "ab", "a\x1b[31жb": "aжb",
		"a\x1b]0;é\u009cb": "ab", "a\x1b]0;“”\x1b\\b": "ab", "\x1b\x1b[0m[2J": "[2J",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRevealHidesNothing(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\nsecond":                    "plain text\nsecond",
		"a\x1b[2Jb":                             "a␛[2Jb",
		"a\x00\a\x7fb":                          "a␀␇␡b",
		"a\rb":                                  "a␍b",
		"gpj\u202eexe":                          "gpj⟨U+202E⟩exe",
		"a\u200bb\u00adc":                       "a⟨U+200B⟩b⟨U+00AD⟩c",
		"a\xffb":                                "a⟨byte FF⟩b",
		"a\u009bb":                              "a⟨U+009B⟩b",
		"ls" + strings.Repeat(" ", 2500) + "rm": "ls⟨2500 spaces⟩rm",
		"a" + strings.Repeat("\n", 40) + "b":    "a⟨40 blanks, 40 line ends⟩\nb",
		"a        b":                            "a        b",
		"раypal":                                "р⟨U+0440⟩а⟨U+0430⟩ypal",
		"привет, мир":                           "привет, мир",
		"日本語 Go":                                "日本語 Go",
		"𝐚dmin":                                 "𝐚⟨U+1D41A⟩dmin",
		"hi\U000e0069":                          "hi⟨U+E0069⟩",
		"👩\u200d👧 ❤\ufe0f":                      "👩\u200d👧 ❤\ufe0f",
	} {
		if got := Reveal(in); got != want {
			t.Errorf("Reveal(%q) = %q, want %q", in, got, want)
		}
	}
}

// anyText generates strings rich in characters that the cleaner treats specially.
var anyText = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"a", " ", "word", "\n", "\r", "\t", "\x1b", "[", "]", "31", ";", "m", "\a", "\\", "\x9b", "\u009b", "\x9c",
			"\u009c", "\x9d", "P", "é", "\u0301", "漢", "👩", "\u200d", "\u200c",
			"\ufe0f", "\ufe0e", "1", "\u20e3", "🏽", "🇩", "🏴", "\U000e0067", "\U000e007f", "\xff", "\xc2", "\xe2\x80",
			"م", "ی", "क", "्", "ष", "\u202e", "\u180b", "ᠠ", "\u1161", "가", "\U000e0100",
			"\u2028", "8", "http://x",
		}),
		rapid.StringN(0, 4, 8),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 24).Draw(t, "pieces"), "")
})

func TestTextIsSafeAndSafeTextUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText.Draw(t, "s")
		for name, way := range map[string]func(string) string{"Text": Text, "Line": Line, "Reveal": Reveal} {
			got := way(s)
			if why := fault(got); why != "" {
				t.Fatalf("%s(%q) = %q: %s", name, s, got, why)
			}
			if name != "Reveal" && way(got) != got {
				t.Fatalf("%s(%q) = %q, a second time %q", name, s, got, way(got))
			}
		}
	})
}

func TestRandomBytesBecomeTextOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		for name, way := range map[string]func(string) string{"Text": Text, "Line": Line, "Source": Source} {
			got := way(s)
			for _, r := range got {
				switch {
				case r == '\n' && name != "Line", r == '\t' && name == "Source":
				case r < ' ', r >= 0x7f && r < 0xa0, unicode.Is(unicode.Bidi_Control, r):
					t.Fatalf("%s(%q) has %U", name, s, r)
				}
			}
			if !utf8.ValidString(got) || way(got) != got {
				t.Fatalf("%s(%q) is %q, a second time %q", name, s, got, way(got))
			}
		}
	})
}

func TestCleanTextCostsNoMemory(t *testing.T) {
	s := strings.Repeat("plain text, 80 columns\n", 100)
	if n := testing.AllocsPerRun(10, func() { Text(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzText(f *testing.F) {
	for _, p := range hostile.Payloads {
		if len(p.Text) < 4096 {
			f.Add(p.Text)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, way := range map[string]func(string) string{"Text": Text, "Line": Line, "Reveal": Reveal} {
			if why := fault(way(s)); why != "" {
				t.Errorf("%s(%q) = %q: %s", name, s, way(s), why)
			}
		}
		if got := Text(s); Text(got) != got {
			t.Errorf("Text(%q) = %q, a second time %q", s, got, Text(got))
		}
	})
}

func BenchmarkText(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":   strings.Repeat("plain text of a note, nothing else in it\n", 100),
		"mixed":   strings.Repeat("Grüße – „naïve“ café, 漢字 👩\u200d👧\n", 100),
		"hostile": strings.Repeat("a\x1b[31mb\u202e\x1b]0;x\ac", 200),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Text(s)
			}
		})
	}
}

func TestRevealDoesNotDependOnLaterText(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab .~\n       \t\r\x7f\x00")))
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "s")
		if got, want := Reveal(s)+"é", Reveal(s+"é"); got != want {
			t.Fatalf("Reveal(%q) is %q, with a letter behind it %q", s, got, want)
		}
	})
}

func TestDroppedCharactersCountAsHidden(t *testing.T) {
	for r := rune(0); r < 0x110000; r++ {
		if Text(string(r)) == "" && utf8.ValidRune(r) && !Hidden(r) && !unicode.Is(unicode.M, r) {
			t.Errorf("%U is dropped and not hidden", r)
		}
	}
	for _, r := range "\u00ad\u061c\u2060\U0001d173\U0002fffe\U000e0041" {
		if !Hidden(r) {
			t.Errorf("%U is not hidden", r)
		}
	}
	for _, r := range "a \n\té漢👩́🇩\u0600" {
		if Hidden(r) {
			t.Errorf("%U is hidden", r)
		}
	}
}
