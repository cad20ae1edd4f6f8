package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/internal/text"
)

// layouts are ways in which a note may have a sentence S below a heading; L is a label, O another sentence.
var layouts = []string{
	"S", "- S", "3. S", "- [x] S", "**L:** S", "L: S", "- L: S", "- **L**: S", "<!-- O -->\nS",
	"%% O %% S", "~~O~~ S", "- ~~O~~ S",
	"SCHEDULED: <2026-10-01 Thu>\nS", "S\nDEADLINE: <2026-10-01 Thu>", "due:: 2026-10-01\nS",
	"| L | S |\n|---|---|\n| Z | O |", "| Z | L |\n|---|---|\n| L | S |",
	"## S", "- [x] S 📅 2026-10-02 ✅ 2026-10-03", "> [!note] L\n> S", "1. O\n2. S", "O S", "S\n\n- [ ] O",
	"2026-10-01: S", "10:30 S", "*S*", "- DONE S",
}

// quoting are ways in which an answer may quote a sentence S of source 1.
var quoting = []string{
	"“S” [1]", "\"S\" [1]", "„S“ [1]", "« S » [1]", "「S」[1]", "> S\n\n— [1]", "L: “S” [1]", "- “S” [1]", "1. “S” [1]",
	"“S”", "[1] “S”", "**L:** “S” [1].", "| L | “S” [1] |", "S [1]",
}

// dresses are ways in which a note may write a sentence, and ways in which an answer may.
var dresses = []func(sentence string) string{
	func(s string) string { return s },
	func(s string) string { return onLongest(s, "**W**") },
	func(s string) string { return onLongest(s, "[[W]]") },
	func(s string) string { return onLongest(s, "[[Some note|W]]") },
	func(s string) string { return onLongest(s, "[W](https://example.org/a_b)") },
	func(s string) string { return onLongest(s, "==W==") },
	func(s string) string { return onLongest(s, "_W_") },
	func(s string) string { return onLongest(s, "`W`") },
	func(s string) string { return onLongest(s, "W[^1]") },
	func(s string) string { return onLongest(s, "<b>W</b>") },
	func(s string) string { return s + " #home" },
	func(s string) string { return s + " ^a1b2c3" },
	func(s string) string { return strings.Replace(s, ", ", ",\n  ", 1) },
	func(s string) string { return strings.ReplaceAll(s, "'", "’") },
}

var wordings = []func(sentence string) string{
	func(s string) string { return s },
	func(s string) string { return strings.ReplaceAll(s, "'", "’") },
	func(s string) string { return strings.Replace(s, " ", "\u00a0", 1) },
	func(s string) string { return onLongest(s, "**W**") },
	func(s string) string { return strings.Replace(s, ": ", " : ", 1) },
	func(s string) string { return strings.TrimRight(s, ".。") + "," },
	func(s string) string { return strings.TrimRight(s, ".。") + "…" },
}

// onLongest writes a word of a sentence in another form.
func onLongest(sentence, form string) string {
	word := ""
	for _, w := range regexp.MustCompile(`[\pL]+`).FindAllString(sentence, -1) {
		if len(w) > len(word) && !text.Unspaced([]rune(w)[0]) {
			word = w
		}
	}
	if word == "" {
		return sentence
	}
	return strings.Replace(sentence, word, strings.Replace(form, "W", word, 1), 1)
}

// tongue is a language of the notes, with a label of it.
var tongues = []struct{ name, label string }{
	{"en", "Note"},
	{"de", "Notiz"},
	{"fr", "Rappel"},
	{"es", "Nota"},
	{"zh", "备注"},
}

// inLanguages prints the same for sentences of five languages in every layout of a note, quoted whole and in
// part, in every form, as they are and with another word, number or character.
func inLanguages(missed *misses) error {
	raw, err := os.ReadFile(filepath.Join("testdata", "languages.json"))
	if err != nil {
		return err
	}
	var notes map[string]map[string][2]string
	if err := json.Unmarshal(raw, &notes); err != nil {
		return err
	}
	printHead("sentences in", "asked", "plain ✓", "✗", "a remark")
	random := rand.New(rand.NewPCG(47, 47))
	for _, in := range tongues {
		var sentences []string
		for _, name := range sortedKeys(notes) {
			md := notes[name][in.name][0]
			for _, s := range text.Sentences(md) {
				if sentence := md[s.Start:s.End]; !strings.HasPrefix(sentence, "#") && len(parts(sentence)) > 3 {
					sentences = append(sentences, sentence)
				}
			}
		}
		for _, kind := range []string{"true", "false"} {
			var v verdicts
			remarks := 0
			for i, sentence := range sentences {
				for _, layout := range layouts {
					form := quoting[random.IntN(len(quoting))]
					said, other := sentence, sentences[(i+5)%len(sentences)]
					fill := func(s, sentence string) string {
						return strings.NewReplacer("S", sentence, "L", in.label, "O", other, "Z", "Z").Replace(s)
					}
					dress := dresses[random.IntN(len(dresses))](sentence)
					if strings.Contains(layout, "|") || strings.Contains(layout, "##") {
						dress = sentence
					}
					note := "# X\n\n" + fill(strings.NewReplacer("SCHEDULED", "\x00", "DEADLINE", "\x01", "DONE",
						"\x02").Replace(layout), dress)
					note = strings.NewReplacer("\x00", "SCHEDULED", "\x01", "DEADLINE", "\x02", "DONE").Replace(note)
					switch cut := parts(said); random.IntN(4) {
					case 0: // its beginning
						said = strings.Join(cut[:max(4, len(cut)/2)], "")
					case 1: // its end
						said = strings.Join(cut[len(cut)-max(4, len(cut)/2):], "")
					case 2:
						said = strings.TrimRight(said, ".。")
					}
					said = wordings[random.IntN(len(wordings))](strings.TrimSpace(said))
					if form == "S [1]" && said != sentence {
						form = "“S” [1]"
					}
					if kind == "false" {
						said = misquoted(said, sentence, other, random)
						if said == "" {
							continue
						}
					}
					answer := fill(form, said)
					source := agent.Source{
						N: 1, Path: "x.md", Line: 1,
						EndLine: 1 + strings.Count(note, "\n"), Text: note,
					}
					before := v
					shown := v.check(answer, "", source, note)
					if shown == accused && !v.refused {
						remarks++
						v.accused = before.accused
					}
					switch {
					case kind == "true" && shown == accused && v.refused, kind == "false" && shown == verified:
						missed.add("%s, %s: %q on %q", in.name, kind, answer, note)
					case kind == "true" && shown != verified && os.Getenv("VERBOSE") != "":
						fmt.Printf("%s, no tick: %q on %q\n", in.name, answer, note)
					}
				}
			}
			printRow(in.name+", "+kind, v.asked, v.verified, v.accused, remarks)
			if kind == "true" && remarks*20 > v.asked {
				missed.add("%s: %d of %d have a remark", in.name, remarks, v.asked)
			}
		}
	}
	return nil
}

// parts cuts a sentence after each word or, in Chinese, each character.
func parts(sentence string) (list []string) {
	from := 0
	for _, t := range text.Tokens(sentence) {
		if t.Start > from && unicode.IsSpace(rune(sentence[t.Start-1])) ||
			text.Unspaced([]rune(sentence[t.Start:])[0]) && t.Start > from {
			list, from = append(list, sentence[from:t.Start]), t.Start
		}
	}
	return append(list, sentence[from:])
}

// misquoted returns what is said with a word of another sentence in the place of one of its own.
func misquoted(said, sentence, other string, random *rand.Rand) string {
	cut, strange := parts(said), parts(strings.TrimRight(other, ".。"))
	at := random.IntN(len(cut))
	word := strange[random.IntN(len(strange))]
	if trimmed := strings.TrimRight(cut[at], " "); len(trimmed) < len(cut[at]) {
		word = strings.TrimRight(word, " ") + " "
	}
	cut[at] = word
	joined := strings.TrimSpace(strings.Join(cut, ""))
	if citation.InOrder(text.Tokens(sentence), [][]text.Token{text.Tokens(joined)}) {
		return ""
	}
	return joined
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
