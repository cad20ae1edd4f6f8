package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// at paints texts with the left end of their baseline at x, y.
func at(x, y float64, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "BT /F1 10 Tf %g %g Td (%s) Tj ET\n", x, y-14*float64(i), text)
	}
	return b.String()
}

// byRows paints columns of texts line by line.
func byRows(columns ...[]string) string {
	var b strings.Builder
	for row := range columns[0] {
		for i, column := range columns {
			if row < len(column) && column[row] != "" {
				b.WriteString(at(50+260*float64(i)/float64(len(columns)-1), 700-14*float64(row), column[row]))
			}
		}
	}
	return b.String()
}

func TestRowsOfATableAreLines(t *testing.T) {
	const head, rows = "The offer of May.", "| Item | Pieces | Price |\u2028| Valve, brass | 4 | 12.50 |\u2028| Seal | | 0.80 |"
	items, pieces, prices := []string{"Item", "Valve, brass", "Seal"}, []string{"Pieces", "4", ""}, []string{"Price", "12.50", "0.80"}
	want := head + "\u2028" + rows + "\u2028It is valid for a month."
	before, after := at(50, 720, head), at(50, 600, "It is valid for", "a month.")
	for name, table := range map[string]string{
		"painted by rows":    byRows(items, pieces, prices),
		"painted by columns": at(50, 700, items...) + at(180, 700, "Pieces", "4") + at(310, 700, prices...),
		"painted by cells": at(50, 700, "Item") + at(180, 700, "Pieces") + at(310, 700, "Price") + at(50, 686, "Valve, brass") + at(180, 686, "4") +
			at(310, 686, "12.50") + at(50, 672, "Seal") + at(310, 672, "0.80"),
		"with tabs": "BT /F1 10 Tf 50 700 Td 14 TL [(Item)-11000(Pieces)-10300(Price)] TJ T* [(Valve, brass)-8000(4)-12000(12.50)] TJ T* [(Seal)-24500(0.80)] TJ ET",
	} {
		if got := painted(t, helvetica, before+table+after); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	turned := "q 0 1 -1 0 600 0 cm " + byRows(items, pieces, prices) + " Q"
	if got := painted(t, helvetica, turned); got != rows {
		t.Errorf("turned by a quarter: %q, want %q", got, rows)
	}
}

func TestColumnsOfTextAreReadInOrder(t *testing.T) {
	left := []string{"The boiler was serviced in May by", "the same company as last year; its", "pressure had fallen to one bar, and", "a seal had to be exchanged, which"}
	right := []string{"took an hour. The next service is", "due in spring. Until then the pres-", "sure is to be read once a month."}
	want := "The boiler was serviced in May by the same company as last year; its pressure had fallen to one bar, and a seal had to be exchanged, which " +
		"took an hour. The next service is due in spring. Until then the pressure is to be read once a month."
	for name, page := range map[string]string{
		"painted by lines":   byRows(left, right),
		"painted by columns": at(50, 700, left...) + at(310, 700, right...),
		"on other baselines": at(50, 700, left...) + at(310, 695, right...),
	} {
		if got := painted(t, helvetica, page); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWideGapsAloneMakeNoTable(t *testing.T) {
	for name, test := range map[string]struct{ page, want string }{
		"a list":              {at(50, 700, "1.", "2.") + at(70, 700, "Open the valve", "Close it again"), "1. Open the valve 2. Close it again"},
		"one line":            {at(50, 700, "Report") + at(400, 700, "May 2026") + at(50, 686, "It was a quiet month for the boiler, which"), "Report May 2026 It was a quiet month for the boiler, which"},
		"gaps at two places":  {at(50, 700, "left") + at(120, 700, "middle") + at(50, 686, "a much longer first part of a line") + at(300, 686, "right"), "left middle a much longer first part of a line right"},
		"a heading and below": {at(50, 700, "Rooms") + at(50, 686, "Kitchen"), "Rooms Kitchen"},
	} {
		if got := painted(t, helvetica, test.page); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
