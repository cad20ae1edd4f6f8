package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/apptest"
)

func TestMailPasswordIsReadFromPrivatePlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(open, []byte("from file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ file, env, want, fails string }{
		"environment": {file: file, env: "from env", want: "from env"},
		"file":        {file: file, want: "from file"},
		"open file":   {file: open, fails: "chmod 600"},
		"no file":     {file: file + "x", fails: "no such file"},
		"nothing":     {fails: "mail.password_file"},
	} {
		t.Run(name, func(t *testing.T) {
			c := settings.Defaults()
			c.Mail.PasswordFile = tc.file
			got, err := app.MailOf(c, apptest.Environment{settings.PasswordEnv + "=" + tc.env}).Password.Read()
			if got != tc.want || (err != nil) != (tc.fails != "") ||
				err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
