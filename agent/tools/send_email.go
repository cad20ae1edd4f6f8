package tools

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// MailAccount is the configuration for sending mail. Without a Host, none is sent.
// Password is read when a mail is sent, and is required if User is set.
type MailAccount struct {
	Host     string
	Port     int    // 0: 587, or 465 with TLS "tls"
	User     string // "": no authentication
	Password Password
	From     string // the user's own address
	TLS      string // starttls, tls or none; none only for a server on this machine

	roots *x509.CertPool // trusted certificate authorities; nil: those of the system
}

// Password is the password of an account, wherever it is. *app.mailPassword is the real one.
type Password interface {
	Read() (string, error)
}

// Limits of a mail.
const (
	maxRecipients = 50
	maxSubject    = 500       // characters
	maxName       = 100       // characters in a display name
	maxMail       = 256 << 10 // bytes of text
)

// smtpTimeout bounds each exchange with the server.
const smtpTimeout = 30 * time.Second

type mailArgs struct {
	To      []string `json:"to" description:"addresses"`
	Cc      []string `json:"cc,omitempty"`
	Bcc     []string `json:"bcc,omitempty"`
	Subject string   `json:"subject"`
	Body    string   `json:"body"`
}

// drafts stores mails that were not sent yet. *store.Store implements it.
type drafts interface {
	SaveArtifact(ctx context.Context, a agent.Artifact) error
	Artifact(ctx context.Context, conversation, name string, version int) (agent.Artifact, error)
}

// sendEmail is the tool that sends mail. The user confirms every call; no rule can
// allow it.
type sendEmail struct {
	MailAccount
	spec   llm.ToolSpec
	now    func() time.Time
	drafts drafts        // nil: no drafts are saved
	sent   *atomic.Int64 // counts the bytes handed to any server, even on this machine; may be nil

	mu sync.Mutex // held while a draft is saved
}

var (
	_ agent.Tool      = (*sendEmail)(nil)
	_ agent.Previewer = (*sendEmail)(nil)
)

// NewSendEmail returns the tool that sends mail, exactly as the user has seen it. If keeps is nil, no drafts are saved.
func NewSendEmail(m MailAccount, now func() time.Time, keeps drafts, sent *atomic.Int64) *sendEmail {
	return &sendEmail{MailAccount: m, spec: spec[mailArgs]("send_email"), now: now, drafts: keeps, sent: sent}
}

func (s *sendEmail) Spec() llm.ToolSpec           { return s.spec }
func (s *sendEmail) Properties() agent.Properties { return agent.Properties{Level: agent.ConfirmEach} }

// Preview shows the envelope; the subject and text are in the arguments. It
// saves what it shows as a draft, so that a mail that is refused or cannot be
// sent is not lost.
func (s *sendEmail) Preview(ctx context.Context, raw json.RawMessage) (agent.Preview, error) {
	letter, err := s.write(raw)
	if err != nil {
		return agent.Preview{}, err
	}
	if _, err := s.keepDraft(ctx, letter); err != nil {
		return agent.Preview{}, err
	}
	var b strings.Builder
	all := letter.all()
	fmt.Fprintf(&b, "Send a mail to %s", all[0])
	if more := len(all) - 1; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	fmt.Fprintf(&b, "\nFrom: %s\n", letter.from)
	for _, to := range all {
		fmt.Fprintf(&b, "Goes to: %s\n", to)
	}
	fmt.Fprintf(&b, "Through: %s\nMessage-ID: <%s>", s.Host, letter.id(ctx))
	return agent.Preview{Text: b.String()}, nil
}

// Run sends the mail, to all recipients or to none.
func (s *sendEmail) Run(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
	letter, err := s.write(raw)
	if err != nil {
		return agent.Result{}, agent.NothingDone{Err: err}
	}
	draft, err := s.keepDraft(ctx, letter)
	if err != nil {
		return agent.Result{}, agent.NothingDone{Err: err}
	}
	if err := s.send(ctx, letter); err != nil {
		return agent.Result{}, err
	}
	sent := agent.Effect{Kind: agent.MailSent, Count: 1}
	for _, to := range slices.Concat(letter.to, letter.cc, letter.bcc) {
		sent.To = append(sent.To, to.Address)
	}
	agent.HostFrom(ctx).Did(sent)
	return agent.Result{Text: fmt.Sprintf("sent to %s", strings.Join(letter.all(), ", ")), Artifact: draft}, nil
}

// keepDraft saves the mail as an artifact unless it is saved already; nil if
// drafts are not saved.
func (s *sendEmail) keepDraft(ctx context.Context, l letter) (*agent.Artifact, error) {
	origin := agent.CallerOf(ctx)
	if s.drafts == nil || origin.Conversation == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := text.Cut("mail: "+l.subject, agent.MaxArtifactName-len("…"))
	was, err := s.drafts.Artifact(ctx, origin.Conversation, name, 0)
	switch {
	case err == nil && was.Text == l.text():
		return &was, nil
	case err != nil && !errors.Is(err, agent.ErrNoArtifact):
		return nil, fmt.Errorf("save the draft: %w", err)
	}
	draft := agent.Artifact{
		Conversation: origin.Conversation, Name: name, Version: was.Version + 1, Text: l.text(),
		By: origin.Agent, Why: "draft of a mail",
		Turn: origin.Turn, Call: agent.IdempotencyKey(ctx),
	}
	if err := s.drafts.SaveArtifact(ctx, draft); err != nil {
		return nil, fmt.Errorf("save the draft: %w", err)
	}
	return &draft, nil
}

// write converts the arguments to a checked mail.
func (s *sendEmail) write(raw json.RawMessage) (letter, error) {
	var args mailArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return letter{}, fmt.Errorf("read arguments of send_email: %w", err)
	}
	from, err := parseAddress(s.From)
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
			a, err := parseAddress(text)
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
		return letter{}, errors.New("recipient missing")
	case len(seen) > maxRecipients:
		return letter{}, fmt.Errorf("%d recipients are more than the %d that a mail may have", len(seen), maxRecipients)
	case utf8.RuneCountInString(l.subject) > maxSubject:
		return letter{}, fmt.Errorf("the subject is longer than %d characters", maxSubject)
	}
	if err := checkLine("the subject", l.subject); err != nil {
		return letter{}, err
	}
	l.body, err = mailText(args.Body)
	return l, err
}

// errMaybeSent is returned if the server accepted the text but did not confirm.
var errMaybeSent = errors.New("the server did not say whether it took the mail: it may have been sent")

// send hands the mail to the server.
func (s *sendEmail) send(ctx context.Context, l letter) error {
	client, err := s.client()
	if err != nil {
		return agent.NothingDone{Err: err}
	}
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return agent.NothingDone{Err: fmt.Errorf("reach the mail server %s: %w; nothing was sent",
			s.Host, llm.Explain(err))}
	}
	// The library ignores ctx from here on.
	leave := context.AfterFunc(ctx, func() { connection.Close() })
	defer leave()
	defer connection.Close()
	m := l.message(ctx, s.now())
	if s.sent != nil { // even a server on this machine passes the mail on
		s.sent.Add(int64(len(l.text())))
	}
	err = client.SendWithSMTPClient(connection, m)
	if m.IsDelivered() { // later errors do not matter
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
	return agent.NothingDone{Err: fmt.Errorf("send the mail: %w; nothing was sent", llm.Explain(err))}
}

// client returns a client with the configured settings.
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
		password, err := s.Password.Read()
		if err != nil {
			return nil, fmt.Errorf("sign in to %s: %w", s.Host, err)
		}
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.User),
			gomail.WithPassword(password))
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
