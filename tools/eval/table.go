package main

import (
	"fmt"
	"strings"
)

// percent is a share, printed as 12.3 %.
type percent float64

func (p percent) String() string { return fmt.Sprintf("%.1f %%", 100*float64(p)) }

// printHead prints the head of a Markdown table. All columns but the first are figures.
func printHead(columns ...string) {
	fmt.Printf("\n| %s |\n|---%s|\n", strings.Join(columns, " | "), strings.Repeat("|---:", len(columns)-1))
}

// printRow prints a row of a table.
func printRow(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		if texts[i] = fmt.Sprint(cell); fmt.Sprintf("%T", cell) == "float64" {
			texts[i] = fmt.Sprintf("%.4f", cell)
		}
	}
	fmt.Printf("| %s |\n", strings.Join(texts, " | "))
}
