package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"lifehub/agent"
)

// letter is a mail whose fields were all checked.
type letter struct {
	from          *mail.Address
	to, cc, bcc   []*mail.Address
	subject, body string
}

// text returns the mail as shown to the user.
func (l letter) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "From: %s\n", shownAddress(l.from))
	for _, part := range []struct {
		name string
		list []*mail.Address
	}{{"To", l.to}, {"Cc", l.cc}, {"Bcc", l.bcc}} {
		for _, a := range part.list {
			fmt.Fprintf(&b, "%s: %s\n", part.name, shownAddress(a))
		}
	}
	fmt.Fprintf(&b, "Subject: %s\n\n%s", l.subject, l.body)
	return b.String()
}

// all returns all recipients as shown to the user.
func (l letter) all() []string {
	var list []string
	for _, part := range [][]*mail.Address{l.to, l.cc, l.bcc} {
		for _, a := range part {
			list = append(list, shownAddress(a))
		}
	}
	return list
}

// id returns the Message-ID. It is the same if a mail is sent again after a
// crash, so that servers and mail programs can recognize the duplicate.
func (l letter) id(ctx context.Context) string {
	sum := sha256.Sum256([]byte(agent.IdempotencyKey(ctx) + "\n" + l.subject + "\n" + l.body))
	_, domain := splitAddress(l.from.Address)
	return hex.EncodeToString(sum[:12]) + ".lifehub@" + domain
}

// message returns the mail in the form that is sent.
func (l letter) message(ctx context.Context, now time.Time) *gomail.Msg {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(l.from)
	m.ToMailAddress(l.to...)
	if len(l.cc) > 0 {
		m.CcMailAddress(l.cc...)
	}
	if len(l.bcc) > 0 {
		m.BccMailAddress(l.bcc...)
	}
	m.Subject(l.subject)
	m.SetMessageIDWithValue(l.id(ctx))
	m.SetDateWithValue(now)
	m.SetBodyString(gomail.TypeTextPlain, l.body)
	return m
}

// parseAddress parses a single address. It rejects anything that could be read as
// several lines or several recipients.
func parseAddress(text string) (*mail.Address, error) {
	text = strings.TrimSpace(text)
	if err := checkLine("an address", text); err != nil {
		return nil, err
	}
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a mail address", text)
	}
	local, domain := splitAddress(a.Address)
	if local == "" || strings.ContainsFunc(local, func(r rune) bool {
		return unicode.IsSpace(r) ||
			strings.ContainsRune(`"<>,;:\()[]@`, r)
	}) ||
		!domainName.MatchString(domain) || len(a.Address) > 254 {
		return nil, fmt.Errorf("%q is not a mail address that can be sent to", text)
	}
	if err := checkLine("a name", a.Name); err != nil { // it may have been encoded
		return nil, err
	}
	if utf8.RuneCountInString(a.Name) > maxName {
		return nil, fmt.Errorf("a name before an address is longer than %d characters", maxName)
	}
	if strings.ContainsFunc(a.Name+a.Address, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) {
		return nil, fmt.Errorf("%q holds characters that cannot be seen", text)
	}
	return a, nil
}

// splitAddress splits an address at the last @.
func splitAddress(address string) (local, domain string) {
	at := strings.LastIndexByte(address, '@')
	return address[:max(at, 0)], address[at+1:]
}

// domainName matches a host name.
var domainName = regexp.MustCompile(`^[\pL\p{Nd}\pM](?:\.?[\pL\p{Nd}\pM-])*\.?$`)

// checkLine rejects text that could end a header line.
func checkLine(what, text string) error { return checkPrintable(what, text, "a line of a mail", "") }

// checkPrintable rejects control characters and line separators, unless they are in
// except.
func checkPrintable(what, text, where, except string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s is not UTF-8", what)
	}
	for _, r := range text {
		if (unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) && except == "") &&
			!strings.ContainsRune(except, r) {
			return fmt.Errorf("%s holds the character %U, which has no place in %s", what, r, where)
		}
	}
	return nil
}

// mailText returns the text with \n line endings.
func mailText(text string) (string, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return "", errors.New("the mail has no text")
	case len(text) > maxMail:
		return "", fmt.Errorf("the text is longer than %d KiB", maxMail>>10)
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return text, checkPrintable("the text", text, "a mail", "\n\t")
}

func shownAddress(a *mail.Address) string {
	if a.Name == "" {
		return a.Address
	}
	return fmt.Sprintf("%s <%s>", a.Name, a.Address)
}
