package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"lifehub/agent/tools"
	"lifehub/cli/settings"
)

// mailOf is how mail is sent.
func mailOf(c *settings.Config, getenv func(string) (string, bool)) tools.Mail {
	return tools.Mail{
		Host: c.Mail.Host, Port: c.Mail.Port, User: c.Mail.User, From: c.Mail.From, TLS: c.Mail.TLS,
		Password: func() (string, error) {
			if password, ok := getenv(settings.PasswordEnv); ok && password != "" {
				return password, nil
			}
			return readSecret(c.Mail.PasswordFile)
		},
	}
}

// readSecret reads the first line of a file that only its owner may read.
func readSecret(file string) (string, error) {
	if file == "" {
		return "", errors.New("there is no password: put it into " + settings.PasswordEnv + ", or name its file as mail.password_file")
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("%s can be read by others than you: chmod 600 %s", file, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, "\r"), nil
}
