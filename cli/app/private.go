package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"lifehub/cli/settings"
)

// MakePrivate removes access of other users to LifeHub's settings files and returns a notice naming
// those that were accessible. A settings file that holds a secret and cannot be made private is an
// error.
func MakePrivate(p settings.Paths, c *settings.Config) (notices []string, err error) {
	if runtime.GOOS == "windows" { // file modes mean nothing there
		return nil, nil
	}
	var open []string
	for _, file := range []string{
		p.ConfigFile(), p.PermissionsFile(), p.ServersFile(),
		p.TrustedFile(), p.TrustFile(),
	} {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm()&0o077 == 0 || !info.Mode().IsRegular() {
			continue
		}
		err = os.Chmod(file, info.Mode().Perm()&0o700)
		switch {
		case err == nil:
			open = append(open, filepath.Base(file))
		case file == p.ConfigFile() && holdsSecret(c, file):
			return nil, settings.UsageError{Err: fmt.Errorf("%s contains a key and is readable by others: chmod 600 %s",
				file, file)}
		case !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS):
			return nil, fmt.Errorf("make %s private: %w", file, err)
		}
	}
	for _, dir := range []string{p.Config, p.Data, p.State} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && info.Mode().Perm()&0o077 != 0 {
			_ = os.Chmod(dir, info.Mode().Perm()&0o700) // doctor reports one that stays open
		}
	}
	if len(open) > 0 {
		notices = []string{fmt.Sprintf("%s was readable by others; now only you can read it", strings.Join(open, ", "))}
	}
	return notices, nil
}

// holdsSecret reports whether the settings file contains a secret.
func holdsSecret(c *settings.Config, file string) bool {
	for _, s := range settings.All(c) {
		if s.Quiet && strings.HasPrefix(c.Origin[s.Name], file+":") {
			return true
		}
	}
	return false
}
