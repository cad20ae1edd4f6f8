package apptest

import (
	"path/filepath"
	"testing"
)

// Rider is a note, a quotation from it, and the qualification that must follow
// the check mark of the quotation wherever it is shown; Said may be empty.
type Rider struct{ Path, Note, Words, Said string }

// Riders has one Rider of each kind.
var Riders = []Rider{
	{
		"marks/key.md", "# Key\n\nMia has the second key of the house. It is brass.\n",
		"Mia has the second key of the house.", "",
	},
	{
		"marks/pass.md", "# May\n\n- [ ] Renew the passport before May ends\n",
		"Renew the passport before May ends", "but open task",
	},
	{
		"marks/rent.md", "# Rent\n\n~~The rent of the flat is 900 €.~~\n",
		"The rent of the flat is 900 €.", "but struck out",
	},
	{
		"marks/hall.md", "# Hall\n\n## Rejected\n\nPaint the hall black as night.\n",
		"Paint the hall black as night.", "but under “Rejected”",
	},
	{
		"marks/bus.md", "# Bus\n\n> The last bus leaves at seven.\n",
		"The last bus leaves at seven.", "but in a quotation",
	},
}

// WriteRiders writes the notes of Riders into a folder.
func WriteRiders(t *testing.T, dir string) {
	t.Helper()
	for _, r := range Riders {
		Write(t, filepath.Join(dir, filepath.FromSlash(r.Path)), r.Note)
	}
}
