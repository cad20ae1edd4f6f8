package shape

import (
	"slices"
	"testing"
)

func TestMeasureCountsCirclesFieldsAndMethods(t *testing.T) {
	got, err := Measure("testdata/house", "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Fatalf("measured %d packages", len(got))
	}
	p := got[0]
	// a needs b by a method, b needs c by a field, c needs a by a call; d is needed only.
	if want := []string{"a.go", "b.go", "c.go"}; !slices.Equal(p.Circle, want) {
		t.Errorf("circle %v, want %v", p.Circle, want)
	}
	if p.Files != 4 || p.Lines != 23 {
		t.Errorf("%d files, %d lines", p.Files, p.Lines)
	}
	if p.Fields["Room"] != 2 || p.Spread["Room"] != 3 {
		t.Errorf("Room has %d fields and methods in %d files", p.Fields["Room"], p.Spread["Room"])
	}
}
