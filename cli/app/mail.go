package app

import (
	"lifehub/agent/tools"
	"lifehub/cli/settings"
)

// MailOf returns the mail account from the settings. The password is read when it is needed.
func MailOf(c *settings.Config, getenv func(string) (string, bool)) tools.MailAccount {
	return tools.MailAccount{
		Host: c.Mail.Host, Port: c.Mail.Port, User: c.Mail.User, From: c.Mail.From, TLS: c.Mail.TLS,
		Password: func() (string, error) {
			if password, ok := getenv(settings.PasswordEnv); ok && password != "" {
				return password, nil
			}
			return settings.ReadSecret(c.Mail.PasswordFile)
		},
	}
}
