package main

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/words"
)

// markdownLink matches [[target#heading|text]] and [text](target.md#heading).
var markdownLink = regexp.MustCompile(`!?\[\[([^\]|#\n]+)(?:#[^\]|\n]*)?(?:\|([^\]\n]+))?\]\]|` +
	`\[([^\]\n]+)\]\(([^)\s]+\.md)(?:#[^)]*)?\)`)

// links hides every third link of each folder, asks for the texts of the hidden links, and prints how often
// their notes are found: by texts that a remaining link has too, and by others. Without folders it takes
// those of the shared data.
func links(ctx context.Context, dir string, folders []string) error {
	if len(folders) == 0 {
		for _, name := range []string{"obsidian-tasks", "kepano-vault", "logseq-docs", "til-jbranchaud"} {
			folder, err := shared("data/corpora/" + name)
			if err != nil {
				return err
			}
			folders = append(folders, folder)
		}
	}
	printHead("folder", "questions", "of a text that", "nDCG@10", "R@10")
	for _, folder := range folders {
		copied, err := os.MkdirTemp(dir, "links")
		if err != nil {
			return err
		}
		others, only, err := hideLinks(ctx, folder, copied)
		if err != nil {
			return err
		}
		v, err := openVault(ctx, copied, dir, nil)
		if err != nil {
			return err
		}
		for _, kind := range []struct {
			name  string
			asked []question
		}{{"other links have too", others}, {"no other link has", only}} {
			if len(kind.asked) == 0 {
				continue
			}
			v.bench.Questions, v.ids = kind.asked, map[string]string{}
			for _, q := range kind.asked {
				for path := range q.Relevant {
					v.ids[path] = path
				}
			}
			all, err := v.ask(ctx, rag.Both, false)
			if err != nil {
				return err
			}
			printRow(filepath.Base(folder), len(all), kind.name, mean(all).NDCG, mean(all).Recall)
		}
		v.close()
	}
	return nil
}

// hideLinks copies a folder without every third link, and returns the texts of those as questions: texts
// that remaining links have too, and others.
func hideLinks(ctx context.Context, source, to string) (others, only []question, err error) {
	folder, err := notes.Open(source)
	if err != nil {
		return nil, nil, err
	}
	defer folder.Close() //nolint:errcheck // only read
	entries, _, err := folder.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	var names notes.Names
	all := map[string]notes.Note{}
	for _, e := range entries {
		if note, err := folder.Read(e.Path); err == nil {
			names.Add(e.Path, note.Titles()...)
			all[e.Path] = note
		}
	}
	type link struct{ text, to string }
	kept, seen := map[link]bool{}, 0
	var hidden []link
	for _, path := range slices.Sorted(maps.Keys(all)) {
		text := markdownLink.ReplaceAllStringFunc(all[path].Text, func(md string) string {
			m := markdownLink.FindStringSubmatch(md)
			target, text := strings.ReplaceAll(strings.TrimSpace(cmp.Or(m[1], m[4])), "%20", " "), cmp.Or(m[2], m[3])
			to := names.To(path, target)
			if to == "" || to == path {
				return md
			}
			if seen++; seen%3 != 0 {
				kept[link{words.NameKey(text), to}] = true
				return md
			}
			if tells(text) && !strings.EqualFold(text, all[to].Title) {
				hidden = append(hidden, link{text, to})
			}
			return ""
		})
		file := filepath.Join(to, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, nil, err
		}
	}
	for _, h := range hidden {
		q := question{ID: h.text, Text: h.text, Relevant: map[string]int{h.to: 1}}
		if kept[link{words.NameKey(h.text), h.to}] {
			others = append(others, q)
		} else {
			only = append(only, q)
		}
	}
	return others, only, nil
}

// tells reports whether the text of a link is more than a single name or number: two
// words, or some characters of a script without spaces.
func tells(text string) bool {
	letters := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || strings.ContainsRune("-_/.: ", r) {
			return -1
		}
		return r
	}, text)
	return letters != "" && (len(strings.Fields(text)) > 1 || len(text) > len([]rune(text))*2)
}
