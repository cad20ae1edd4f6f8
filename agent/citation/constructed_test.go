package citation

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/internal/text"
)

// construction is a kind of answer constructed from real notes.
type construction struct {
	kind string
	make func(c *constructor) (answer string, ok bool)
	true bool // the cited note supports all of it
}

// constructor draws from the notes, by a seed.
type constructor struct {
	random    *rand.Rand
	sources   []agent.Source // [1] and [2] of the answer
	sentence1 string         // a sentence of [1]
	other     string         // a sentence of [2]
	changed   bool           // [1] has changed since
	gone      bool
}

var aNumber = regexp.MustCompile(`\d+`)

var constructions = []construction{
	{"quoted", func(c *constructor) (string, bool) { return "Your note says “" + c.sentence1 + "” [1].", true }, true},
	{"quoted in a block", func(c *constructor) (string, bool) { return "Here it is [1]:\n\n> " + c.sentence1, true }, true},
	{"quoted without a number", func(c *constructor) (string, bool) {
		return "Your note says “" + c.sentence1 + "”.", lengthOf(c.sentence1) > maxTerm
	}, true},
	{"quoted after any words", func(c *constructor) (string, bool) {
		before := []string{"As you put it, ", "The guide recommends: ", "I found ", "", "Remember:\n\n> "}[c.random.IntN(5)]
		if strings.HasSuffix(before, "> ") {
			return before + c.sentence1 + " [1]", true
		}
		return before + "“" + c.sentence1 + "” [1].", true
	}, true},
	{"quoted in part", func(c *constructor) (string, bool) {
		words := strings.Fields(c.sentence1)
		half := len(words) / 2
		if strings.ContainsAny(strings.Join(words[half-1:half+1], ""), "`*_(){}[]=") {
			return "", false
		}
		return "It says “" + strings.Join(words[:half], " ") + "” [1].", true
	}, true},
	{"paraphrased: words in another order", func(c *constructor) (string, bool) {
		words := strings.Fields(strings.TrimRight(c.sentence1, ".:!"))
		half := len(words) / 2
		return strings.Join(append(words[half:], words[:half]...), " ") + " [1].", true
	}, false},
	{"paraphrased: a word for another", func(c *constructor) (string, bool) {
		words := strings.Fields(c.sentence1)
		at := c.random.IntN(len(words))
		if text.Empty(strings.ToLower(strings.Trim(words[at], ",.*_`"))) || len(contentOf(words[at])) == 0 {
			return "", false
		}
		words[at] = "gizmo"
		return strings.Join(words, " ") + " [1]", true
	}, false},
	{"negated", func(c *constructor) (string, bool) {
		words := strings.Fields(c.sentence1)
		at := 1 + c.random.IntN(len(words)-1)
		return strings.Join(words[:at], " ") + " not " + strings.Join(words[at:], " ") + " [1]", true
	}, false},
	{"another figure", func(c *constructor) (string, bool) {
		at := aNumber.FindStringIndex(c.sentence1)
		if at == nil || len(text.Tokens(c.sentence1[at[0]:at[1]])) == 0 {
			return "", false
		}
		said := c.sentence1[:at[0]] + "4711" + c.sentence1[at[1]:]
		return "“" + said + "” [1]", indexOf(text.Tokens(c.sentence1), text.Tokens(said), 0) < 0
	}, false},
	{"the number of the other note", func(c *constructor) (string, bool) { return "“" + c.sentence1 + "” [2]", true }, false},
	{"the words with the other number", func(c *constructor) (string, bool) { return c.sentence1 + " [2]", true }, false},
	{"a number never given: the words are in [1]", func(c *constructor) (string, bool) {
		return fmt.Sprintf("“%s” [%d]", c.sentence1, 3+c.random.IntN(90)), lengthOf(c.sentence1) > maxTerm
	}, true},
	{"an invented path", func(c *constructor) (string, bool) {
		return fmt.Sprintf("%s (notes/invented-%d.md:%d)", c.sentence1, c.random.IntN(100), 1+c.random.IntN(50)), true
	}, false},
	{"stitched of two notes", func(c *constructor) (string, bool) { return "“" + c.sentence1 + " " + c.other + "” [1][2]", true }, false},
	{"stitched with an ellipsis", func(c *constructor) (string, bool) {
		return "“" + c.sentence1 + " … " + c.other + "” [1, 2]", true
	}, false},
	{"a word put into the quotation", func(c *constructor) (string, bool) {
		words := strings.Fields(c.sentence1)
		at := 1 + c.random.IntN(len(words)-1)
		return "“" + strings.Join(words[:at], " ") + " gizmo " + strings.Join(words[at:], " ") + "” [1]", true
	}, false},
	{"a word put into a quotation without a number", func(c *constructor) (string, bool) {
		words := strings.Fields(c.sentence1)
		at := 1 + c.random.IntN(len(words)-1)
		return "> " + strings.Join(words[:at], " ") + " gizmo " + strings.Join(words[at:], " "), true
	}, false},
	{"stitched of two notes without a number", func(c *constructor) (string, bool) { return "“" + c.sentence1 + " … " + c.other + "”", true }, false},
	{"the sentence was changed since", func(c *constructor) (string, bool) {
		c.changed = true
		return "“" + c.sentence1 + "” [1]", true
	}, false},
	{"the note is gone", func(c *constructor) (string, bool) {
		c.gone = true
		return c.sentence1 + " [1]", true
	}, false},
}

// TestFalseConstructedAnswersAreNotVerified constructs some two hundred answers from real notes. None of
// the false ones is verified, and nearly all of the true ones are.
func TestFalseConstructedAnswersAreNotVerified(t *testing.T) {
	var passages []agent.Source
	for _, folder := range []string{"til-jbranchaud", "kepano-vault", "logseq-docs", "obsidian-tasks"} {
		passages = append(passages, agenttest.Passages(t, "data/corpora/"+folder, 60)...)
	}
	const each, seed = 12, 14
	random := rand.New(rand.NewPCG(seed, seed))
	trueOnes, recognised, falseOnes := 0, 0, 0
	for _, k := range constructions {
		made, verified := 0, 0
		for tries := 0; made < each && tries < 100*each; tries++ {
			c := &constructor{random: random, sources: numbered(passages[random.IntN(len(passages))], passages[random.IntN(len(passages))])}
			c.sentence1, c.other = c.sentence(0), c.sentence(1)
			if c.sentence1 == "" || c.other == "" || c.sources[0].Path == c.sources[1].Path || strings.Contains(c.sources[1].Text, c.sentence1) {
				continue
			}
			answer, ok := k.make(c)
			if !ok {
				continue
			}
			made++
			for _, v := range Check(answer, c.sources, c.reread) {
				if v.Verdict == agent.Verified {
					verified++
					if !k.true {
						t.Errorf("%s: %q is verified by %q", k.kind, answer, v.Quote)
					}
				} else if k.true {
					t.Logf("%s: %q is %s", k.kind, answer, v.Verdict)
				}
			}
		}
		if made < each {
			t.Errorf("only %d answers could be made: %s", made, k.kind)
		}
		if k.true {
			trueOnes, recognised = trueOnes+made, recognised+verified
		} else {
			falseOnes += made
		}
	}
	t.Logf("%d answers that are true, %d of them verified (%.1f %%); %d that are not, none verified", trueOnes, recognised, 100*float64(recognised)/float64(trueOnes), falseOnes)
	if recognised*100 < 95*trueOnes {
		t.Errorf("%d of %d true answers are verified", recognised, trueOnes)
	}
}

// sentence draws a sentence of a source that an answer can repeat; "" if there is none.
func (c *constructor) sentence(of int) string {
	note := c.sources[of].Text
	list := text.Sentences(note)
	if len(list) == 0 {
		return ""
	}
	s := list[c.random.IntN(len(list))]
	sentence := strings.Join(strings.Fields(note[s.Start:s.End]), " ")
	if s.Kind != text.Prose || len(contentOf(sentence)) < 4 || len(strings.Fields(sentence)) < 4 || strings.HasPrefix(sentence, "#") || strings.HasPrefix(sentence, "|") || strings.ContainsAny(sentence, "“”\"„«»[]<>") || strings.Contains(sentence, "...") || strings.Contains(sentence, "…") {
		return ""
	}
	return strings.TrimLeft(sentence, "-*+ ")
}

// reread returns the source as it is on disk.
func (c *constructor) reread(s agent.Source) (string, bool) {
	for _, have := range c.sources {
		if have.Path != s.Path {
			continue
		}
		if have.N == 1 && c.gone {
			return "", false
		}
		if have.N == 1 && c.changed {
			return "This is another text by now.", true
		}
		return have.Text, true
	}
	return "", false
}
