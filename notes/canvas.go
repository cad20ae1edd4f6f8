package notes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// canvas is Obsidian's JSON Canvas, as far as it is text.
type canvas struct {
	Nodes []canvasNode
	Edges []struct{ FromNode, ToNode, Label string }
}

type canvasNode struct {
	ID, Type, Text, File, URL, Label string
	X, Y                             float64
}

const damagedCanvas = "damaged canvas"

// fromCanvas converts a canvas to Markdown: its groups, cards, files and links from top
// to bottom, then what its arrows say.
func fromCanvas(raw []byte) ([]byte, error) {
	var c canvas
	if len(bytes.TrimSpace(raw)) == 0 { // a new canvas
		return nil, nil
	}
	if json.Unmarshal(raw, &c) != nil {
		return nil, errors.New(damagedCanvas)
	}
	slices.SortStableFunc(c.Nodes, func(a, b canvasNode) int {
		return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X))
	})
	var out bytes.Buffer
	names := map[string]string{}
	for _, n := range c.Nodes {
		shown := ""
		switch n.Type {
		case "text":
			shown = strings.ReplaceAll(n.Text, "\r\n", "\n")
		case "file":
			shown = "[[" + n.File + "]]"
		case "link":
			shown = "<" + n.URL + ">"
		case "group":
			shown = "**" + n.Label + "**"
		}
		if shown = strings.TrimSpace(shown); shown != "" && shown != "****" {
			out.WriteString(shown + "\n\n")
			names[n.ID], _, _ = strings.Cut(strings.TrimLeft(shown, "# "), "\n")
		}
	}
	for _, e := range c.Edges {
		if label := strings.TrimSpace(e.Label); label != "" {
			out.WriteString("- " + names[e.FromNode] + " → " + label + " → " + names[e.ToNode] + "\n")
		}
	}
	return out.Bytes(), nil
}
