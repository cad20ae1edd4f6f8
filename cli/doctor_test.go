package cli

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"lifehub/store"
)

func TestDoctorLooksAtTheConversations(t *testing.T) {
	p := paths{data: t.TempDir()}
	if f := examineConversations(p); !f.OK || f.Says != "none are kept yet" {
		t.Errorf("of none: %+v", f)
	}
	if _, err := os.Stat(p.database()); err == nil {
		t.Error("looking made a file")
	}
	s, err := store.Open(p.database())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if f := examineConversations(p); !f.OK || f.Says != p.database() {
		t.Errorf("of a sound file: %+v", f)
	}
	db, err := sql.Open("sqlite", p.database())
	if err == nil {
		_, err = db.Exec("UPDATE schema SET version = 99")
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if f := examineConversations(p); f.OK || !strings.Contains(f.Says, "newer LifeHub") || f.Mend != "" {
		t.Errorf("of a newer one: %+v", f)
	}
	if err := os.WriteFile(p.database(), []byte(strings.Repeat("nonsense ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := examineConversations(p); f.OK || !strings.Contains(f.Says, "chats restore") {
		t.Errorf("of a damaged one: %+v", f)
	}
}
