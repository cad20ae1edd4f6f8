package app

import (
	"lifehub/agent/tools"
	"lifehub/cli/settings"
)

// MailOf returns the mail account from the settings. The password is read when it is needed.
func MailOf(c *settings.Config, env Environment) tools.MailAccount {
	return tools.MailAccount{
		Host: c.Mail.Host, Port: c.Mail.Port, User: c.Mail.User, From: c.Mail.From, TLS: c.Mail.TLS,
		Password: &mailPassword{env, c.Mail.PasswordFile},
	}
}

// mailPassword is in a variable or in a file.
type mailPassword struct {
	env  Environment
	file string
}

func (p *mailPassword) Read() (string, error) {
	if password, ok := p.env.Getenv(settings.PasswordEnv); ok && password != "" {
		return password, nil
	}
	return settings.ReadSecret(p.file)
}
