package tools

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"lifehub/agent"
	"lifehub/llm"
)

// Mail says how mail is sent. The zero value sends none. Password is asked
// for the user's when a mail is sent, and is required with User.
type Mail struct {
	Host     string
	Port     int    // 0: 587, or 465 with TLS "tls"
	User     string // "": without signing in
	Password func() (string, error)
	From     string // the user's own address
	TLS      string // starttls, tls or none; none is for a server on this machine

	roots *x509.CertPool // who vouches for the server; nil: those that the system trusts
}

// The limits of a mail.
const (
	maxRecipients = 50
	maxSubject    = 500       // characters
	maxName       = 100       // characters of a name before an address
	maxMail       = 256 << 10 // bytes of text
)

// smtpTimeout bounds each exchange with the server.
const smtpTimeout = 30 * time.Second

type mailArgs struct {
	To      []string `json:"to"`
	Cc      []string `json:"cc,omitempty"`
	Bcc     []string `json:"bcc,omitempty"`
	Subject string   `json:"subject"`
	Body    string   `json:"body"`
}

const mailSchema = `{
	"type": "object",
	"properties": {
		"to": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "addresses"},
		"cc": {"type": "array", "items": {"type": "string"}, "description": "addresses that get a copy"},
		"bcc": {"type": "array", "items": {"type": "string"}, "description": "addresses that get a copy unseen by the others"},
		"subject": {"type": "string", "description": "one line"},
		"body": {"type": "string", "description": "the whole text"}
	},
	"required": ["to", "subject", "body"],
	"additionalProperties": false
}`

// sendEmail is the tool. It asks each time: no rule lets a mail pass unseen.
type sendEmail struct {
	Mail
	spec   llm.ToolSpec
	now    func() time.Time
	drafts artifacts       // nil: none are kept
	sent   func(bytes int) // told what went to a server elsewhere; nil: nobody is

	mu sync.Mutex // held while a draft is kept
}

var (
	_ agent.Tool      = (*sendEmail)(nil)
	_ agent.Previewer = (*sendEmail)(nil)
)

func newSendEmail(m Mail, now func() time.Time, drafts artifacts, sent func(bytes int)) *sendEmail {
	return &sendEmail{Mail: m, spec: spec("send_email", mailSchema), now: now, drafts: drafts, sent: sent}
}

func (s *sendEmail) Spec() llm.ToolSpec                { return s.spec }
func (s *sendEmail) Level(json.RawMessage) agent.Level { return agent.ConfirmEach }

// Preview shows the envelope; subject and text stand in the arguments. What it
// shows is kept as a draft, so that a mail which is refused, or which the server
// does not take, is not lost.
func (s *sendEmail) Preview(ctx context.Context, raw json.RawMessage) (agent.Preview, error) {
	letter, err := s.write(raw)
	if err != nil {
		return agent.Preview{}, err
	}
	if _, err := s.keepDraft(ctx, letter); err != nil {
		return agent.Preview{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "From: %s\n", letter.from)
	for _, to := range letter.all() {
		fmt.Fprintf(&b, "Goes to: %s\n", to)
	}
	fmt.Fprintf(&b, "Through: %s\nMessage-ID: <%s>", s.Host, letter.id(ctx))
	return agent.Preview{Text: b.String()}, nil
}

// Run sends the mail, to all of its recipients or to none.
func (s *sendEmail) Run(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
	letter, err := s.write(raw)
	if err != nil {
		return agent.Result{}, err
	}
	draft, err := s.keepDraft(ctx, letter)
	if err != nil {
		return agent.Result{}, err
	}
	if err := s.send(ctx, letter); err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Text: fmt.Sprintf("sent to %s", strings.Join(letter.all(), ", ")), Artifact: draft}, nil
}

// keepDraft keeps the letter as an artifact, once; nil: none are kept.
func (s *sendEmail) keepDraft(ctx context.Context, l letter) (*agent.Artifact, error) {
	origin := agent.OriginOf(ctx)
	if s.drafts == nil || origin.Conversation == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := clip("mail: "+l.subject, maxArtifactName-len("…"))
	was, err := s.drafts.Artifact(ctx, origin.Conversation, name, 0)
	switch {
	case err == nil && was.Text == l.text():
		return &was, nil
	case err != nil && !errors.Is(err, agent.ErrNoArtifact):
		return nil, fmt.Errorf("keep the draft: %w", err)
	}
	draft := agent.Artifact{
		Conversation: origin.Conversation, Name: name, Version: was.Version + 1, Text: l.text(), By: origin.Agent, Why: "draft of a mail",
		Foreign: origin.Foreign, Turn: origin.Turn, Call: agent.CallKey(ctx),
	}
	if err := s.drafts.KeepArtifact(ctx, draft); err != nil {
		return nil, fmt.Errorf("keep the draft: %w", err)
	}
	return &draft, nil
}

// text is the whole letter as a user reads it.
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

// letter is a mail whose every part was checked.
type letter struct {
	from          *mail.Address
	to, cc, bcc   []*mail.Address
	subject, body string
}

// write makes a letter of the arguments, or says what is wrong with them.
func (s *sendEmail) write(raw json.RawMessage) (letter, error) {
	var args mailArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return letter{}, fmt.Errorf("read arguments of send_email: %w", err)
	}
	from, err := address(s.From)
	if err != nil {
		return letter{}, fmt.Errorf("the setting mail.from: %w", err)
	}
	l := letter{from: from, subject: strings.TrimSpace(args.Subject)}
	seen := map[string]bool{}
	for _, list := range []struct {
		from []string
		into *[]*mail.Address
	}{{args.To, &l.to}, {args.Cc, &l.cc}, {args.Bcc, &l.bcc}} {
		for _, text := range list.from {
			a, err := address(text)
			if err != nil {
				return letter{}, err
			}
			if !seen[a.Address] {
				seen[a.Address] = true
				*list.into = append(*list.into, a)
			}
		}
	}
	switch {
	case len(l.to) == 0:
		return letter{}, errors.New("to whom? There is no address")
	case len(seen) > maxRecipients:
		return letter{}, fmt.Errorf("%d recipients are more than the %d that a mail may have", len(seen), maxRecipients)
	case utf8.RuneCountInString(l.subject) > maxSubject:
		return letter{}, fmt.Errorf("the subject is longer than %d characters", maxSubject)
	}
	if err := oneLiner("the subject", l.subject); err != nil {
		return letter{}, err
	}
	l.body, err = mailText(args.Body)
	return l, err
}

// address reads one address. What could be taken for more than one line or
// more than one recipient is refused.
func address(text string) (*mail.Address, error) {
	text = strings.TrimSpace(text)
	if err := oneLiner("an address", text); err != nil {
		return nil, err
	}
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no mail address", text)
	}
	local, domain := splitAddress(a.Address)
	if local == "" || strings.ContainsFunc(local, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"<>,;:\()[]@`, r) }) ||
		!isDomain(domain) || len(a.Address) > 254 {
		return nil, fmt.Errorf("%q is no mail address that can be sent to", text)
	}
	if err := oneLiner("a name", a.Name); err != nil { // it may have been encoded
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

// splitAddress is what stands before and after the last @.
func splitAddress(address string) (local, domain string) {
	at := strings.LastIndexByte(address, '@')
	return address[:max(at, 0)], address[at+1:]
}

// isDomain tells a host's name from anything else.
func isDomain(domain string) bool {
	if domain == "" || strings.HasPrefix(domain, ".") || strings.HasPrefix(domain, "-") {
		return false
	}
	for _, r := range domain {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '-' && !unicode.IsMark(r) {
			return false
		}
	}
	return !strings.Contains(domain, "..")
}

// oneLiner refuses what would end a header and begin another.
func oneLiner(what, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s is not UTF-8", what)
	}
	for _, r := range text {
		if unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return fmt.Errorf("%s holds the character %U, which has no place in a line of a mail", what, r)
		}
	}
	return nil
}

// mailText is the text with plain line ends.
func mailText(text string) (string, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return "", errors.New("the mail has no text")
	case len(text) > maxMail:
		return "", fmt.Errorf("the text is longer than %d KiB", maxMail>>10)
	case !utf8.ValidString(text):
		return "", errors.New("the text is not UTF-8")
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return "", fmt.Errorf("the text holds the character %U, which has no place in a mail", r)
		}
	}
	return text, nil
}

// all are the recipients, as they are shown.
func (l letter) all() []string {
	var list []string
	for _, part := range [][]*mail.Address{l.to, l.cc, l.bcc} {
		for _, a := range part {
			list = append(list, shownAddress(a))
		}
	}
	return list
}

func shownAddress(a *mail.Address) string {
	if a.Name == "" {
		return a.Address
	}
	return fmt.Sprintf("%s <%s>", a.Name, a.Address)
}

// id is the same when a mail is sent again after LifeHub was stopped in the
// middle: servers and readers know by it that it is one mail.
func (l letter) id(ctx context.Context) string {
	sum := sha256.Sum256([]byte(agent.CallKey(ctx) + "\n" + l.subject + "\n" + l.body))
	_, domain := splitAddress(l.from.Address)
	return hex.EncodeToString(sum[:12]) + ".lifehub@" + domain
}

// message is the letter as it goes out.
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

// errMaybeSent is told when the server took the text and did not say what
// became of it.
var errMaybeSent = errors.New("the server did not say whether it took the mail: it may have been sent")

// send hands the letter to the server.
func (s *sendEmail) send(ctx context.Context, l letter) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("reach the mail server %s: %w; nothing was sent", s.Host, err)
	}
	// The library does not heed ctx from here on.
	leave := context.AfterFunc(ctx, func() { connection.Close() })
	defer leave()
	defer connection.Close()
	m := l.message(ctx, s.now())
	if s.sent != nil && !isThisMachine(s.Host) {
		s.sent(len(l.text()))
	}
	err = client.SendWithSMTPClient(connection, m)
	if m.IsDelivered() { // what went wrong after that changes nothing
		_ = client.CloseWithSMTPClient(connection)
		return nil
	}
	var failure *gomail.SendError
	if errors.As(err, &failure) && failure.Reason == gomail.ErrSMTPDataClose && failure.ErrorCode() == 0 {
		return errMaybeSent
	}
	if err == nil {
		err = errors.New("the server refused it")
	}
	return fmt.Errorf("send the mail: %w; nothing was sent", err)
}

// client is the connection as the settings want it.
func (s *sendEmail) client() (*gomail.Client, error) {
	options := []gomail.Option{
		gomail.WithTimeout(smtpTimeout), gomail.WithHELO("localhost"),
		gomail.WithTLSConfig(&tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12, RootCAs: s.roots}),
	}
	switch s.TLS {
	case "tls":
		options = append(options, gomail.WithSSLPort(false))
	case "none":
		if !isThisMachine(s.Host) {
			return nil, fmt.Errorf("mail.tls: none is for a server on this machine, which %s is not", s.Host)
		}
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPortPolicy(gomail.TLSMandatory))
	}
	if s.Port != 0 {
		options = append(options, gomail.WithPort(s.Port))
	}
	if s.User != "" {
		password, err := s.Password()
		if err != nil {
			return nil, fmt.Errorf("sign in to %s: %w", s.Host, err)
		}
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.User), gomail.WithPassword(password))
	}
	client, err := gomail.NewClient(s.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("settings of mail: %w", err)
	}
	return client, nil
}

func isThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
