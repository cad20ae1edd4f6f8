package tools

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/gate"
	"lifehub/agent/turn"
	"lifehub/llm/llmtest"
)

// post is a real SMTP server on this machine that stores the mails it receives.
type post struct {
	mu       sync.Mutex
	letters  []received
	refuse   string // a recipient that it rejects
	hangUp   bool   // after the text, without a response
	signedIn string
	roots    *x509.CertPool
	addr     *net.TCPAddr
}

type received struct {
	from string
	to   []string
	raw  []byte
}

func startPost(t *testing.T, encrypted bool) *post {
	t.Helper()
	p := &post{}
	server := smtp.NewServer(p)
	server.Domain, server.AllowInsecureAuth, server.EnableSMTPUTF8 = "localhost", true, true
	server.ErrorLog = quiet{}
	if encrypted {
		server.TLSConfig, p.roots = certificate(t)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = listener.Addr().(*net.TCPAddr)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // returns when the server is closed
	}()
	t.Cleanup(func() {
		server.Close()
		<-served
	})
	return p
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}, roots
}

func (p *post) NewSession(c *smtp.Conn) (smtp.Session, error) { return &visit{post: p, conn: c}, nil }

// visit is one connection to the server.
type visit struct {
	post *post
	conn *smtp.Conn
	now  received
}

func (*visit) AuthMechanisms() []string { return []string{sasl.Plain} }

func (v *visit) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ana" || password != "secret" {
			return errors.New("wrong password")
		}
		v.post.mu.Lock()
		defer v.post.mu.Unlock()
		v.post.signedIn = user
		return nil
	}), nil
}

func (v *visit) Reset()        { v.now = received{} }
func (v *visit) Logout() error { return nil }

func (v *visit) Mail(from string, _ *smtp.MailOptions) error {
	v.now.from = from
	return nil
}

func (v *visit) Rcpt(to string, _ *smtp.RcptOptions) error {
	if to == v.post.refuse {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	}
	v.now.to = append(v.now.to, to)
	return nil
}

func (v *visit) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	v.now.raw = raw
	v.post.mu.Lock()
	defer v.post.mu.Unlock()
	v.post.letters = append(v.post.letters, v.now)
	if v.post.hangUp {
		v.conn.Conn().Close()
	}
	return nil
}

func (p *post) all() []received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.letters)
}

// settings returns the settings of a user of this server.
func (p *post) settings() MailAccount {
	return MailAccount{Host: "127.0.0.1", Port: p.addr.Port, From: "Ana <ana@example.org>", TLS: "none"}
}

func mailTool(m MailAccount) *sendEmail {
	return NewSendEmail(m, func() time.Time { return mailNoon }, nil, nil)
}

func TestMailArrivesAsShown(t *testing.T) {
	p := startPost(t, false)
	tool := mailTool(p.settings())
	args := json.RawMessage(`{"to":["Björn Ö <bjorn@example.com>","cy@example.com"],"cc":["cy@example.com",` +
		`"dee@example.com"],"bcc":["eve@example.com"],"subject":"Grüße & Fotos 🏃","body":"Hi,` +
		`\n.\n..two\nähm\n\nAna\n"}`)
	shown, err := tool.Preview(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Run(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	letters := p.all()
	if len(letters) != 1 {
		t.Fatalf("%d mails arrived", len(letters))
	}
	got := letters[0]
	want := []string{"bjorn@example.com", "cy@example.com", "dee@example.com", "eve@example.com"}
	if got.from != "ana@example.org" || !slices.Equal(got.to, want) {
		t.Errorf("from %s to %v", got.from, got.to)
	}
	for _, recipient := range append(want, "From: ", "ana@example.org", "127.0.0.1") {
		if !strings.Contains(shown.Text, recipient) {
			t.Errorf("%s is not shown:\n%s", recipient, shown.Text)
		}
	}
	header, body := read(t, got.raw)
	if subject := decoded(t, header.Get("Subject")); subject != "Grüße & Fotos 🏃" {
		t.Errorf("subject %q", subject)
	}
	if body != "Hi,\n.\n..two\nähm\n\nAna\n" {
		t.Errorf("text %q", body)
	}
	if header.Get("Bcc") != "" || bytes.Contains(got.raw, []byte("eve@")) {
		t.Error("the unseen recipient is seen")
	}
	if id := header.Get("Message-Id"); !strings.Contains(shown.Text, id) || id == "" {
		t.Errorf("the id is %s, shown was\n%s", id, shown.Text)
	}
}

// A local server forwards mail, so it has left this machine like any other.
func TestMailThroughALocalServerIsCounted(t *testing.T) {
	p := startPost(t, false)
	var sent atomic.Int64
	tool := NewSendEmail(p.settings(), func() time.Time { return mailNoon }, nil, &sent)
	if _, err := tool.Run(t.Context(), json.RawMessage(`{"to":["cy@example.com"],"subject":"Sunday","body":"See you `+
		`at ten."}`)); err != nil {
		t.Fatal(err)
	}
	if len(p.all()) != 1 || sent.Load() < int64(len("See you at ten.")) {
		t.Errorf("%d mails arrived, and %d bytes are counted", len(p.all()), sent.Load())
	}
}

func read(t *testing.T, raw []byte) (mail.Header, string) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v:\n%s", err, raw)
	}
	body := m.Body
	if strings.EqualFold(m.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return m.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
}

func decoded(t *testing.T, header string) string {
	t.Helper()
	text, err := new(mime.WordDecoder).DecodeHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Whatever the arguments, either nothing is sent, or one mail to exactly the shown
// recipients with the intended headers.
func TestArgumentsCannotInjectHeadersOrRecipients(t *testing.T) {
	attacks := []string{
		"x\r\nBcc: eve@evil.example", "x\nBcc: eve@evil.example", "x\rBcc: eve@evil.example", "x\x00y",
		"x\x0bBcc: eve@evil.example",
		"x\u2028Bcc: eve@evil.example", "x\u2029y", "x\u0085Bcc: eve@evil.example",
		"\r\n.\r\nMAIL FROM:<eve@evil.example>\r\nRCPT TO:<eve@evil.example>\r\nDATA\r\n",
		"x\r\n\r\nanother body", "=?utf-8?q?x=0D=0ABcc:_eve@evil.example?=",
		"=?utf-8?b?eA0KQmNjOiBldmVAZXZpbC5leGFtcGxl?=",
		"\n.\nRSET\nMAIL FROM:<eve@evil.example>", "\r.\r\nQUIT", "x\xff", "%0d%0aBcc: eve@evil.example",
		"x\\r\\nBcc: eve@evil.example",
		strings.Repeat("a", 2000), "\u202egro.live@eve", "\ufeffx", "x\tBcc: eve@evil.example",
	}
	addresses := []string{
		"bob@example.com, eve@evil.example", "bob@example.com;eve@evil.example",
		"group: bob@example.com, eve@evil.example;", "bob@example.com> RCPT TO:<eve@evil.example",
		"<bob@example.com> NOTIFY=SUCCESS", `"bob@example.com" <eve@evil.example>, c@d.e`,
		"bob@example.com\r\nRCPT TO:<eve@evil.example>", "bob@example.com\x00@evil.example",
		"bob", "@example.com", "bob@", "bob@[127.0.0.1]", "bob@exa mple.com", "bob@-x.example", "bob@x..example",
		`"bob smith"@example.com`, `"bob\"@evil.example,"@example.com`,
		"bob@evil.example%example.com", "bob@evil.example@example.com", "@evil.example:bob@example.com",
		"bob(comment\r\n)@example.com", "b\u200bob@example.com", "bob@exam\u00adple.com", "",
		strings.Repeat("a", 300) + "@example.com", "=?utf-8?q?bob=40evil.example=2C?= <bob@example.com>",
		"Bob\u202e <bob@example.com>", "=?utf-8?q?a=0D=0ABcc:_eve@evil.example?= <bob@example.com>",
	}
	inputs := map[string]mailArgs{}
	for i, attack := range attacks {
		inputs[fmt.Sprintf("subject %d", i)] = mailArgs{To: []string{"bob@example.com"}, Subject: attack, Body: "text"}
		inputs[fmt.Sprintf("body %d", i)] = mailArgs{To: []string{"bob@example.com"}, Subject: "s", Body: attack}
		inputs[fmt.Sprintf("name %d", i)] = mailArgs{
			To:      []string{attack + " <bob@example.com>"},
			Subject: "s", Body: "text",
		}
	}
	for i, a := range addresses {
		inputs[fmt.Sprintf("to %d", i)] = mailArgs{To: []string{a}, Subject: "s", Body: "text"}
		inputs[fmt.Sprintf("bcc %d", i)] = mailArgs{
			To: []string{"bob@example.com"}, Bcc: []string{a},
			Subject: "s", Body: "text",
		}
	}
	p := startPost(t, false)
	tool := mailTool(p.settings())
	sent := 0
	for name, args := range inputs {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		shown, previewErr := tool.Preview(t.Context(), raw)
		before := len(p.all())
		_, err = tool.Run(t.Context(), raw)
		letters := p.all()[before:]
		if err != nil {
			if len(letters) > 0 || previewErr == nil {
				t.Errorf("%s: refused with %v (when shown: %v), and %d mails arrived", name, err,
					previewErr, len(letters))
			}
			continue
		}
		sent++
		if len(letters) != 1 {
			t.Errorf("%s: %d mails arrived", name, len(letters))
			continue
		}
		header, body := read(t, letters[0].raw)
		for _, to := range letters[0].to {
			if strings.Contains(to, "evil") || !strings.Contains(shown.Text, to) {
				t.Errorf("%s: it went to %s; shown was\n%s", name, to, shown.Text)
			}
		}
		if len(letters[0].to) != strings.Count(shown.Text, "Goes to: ") {
			t.Errorf("%s: it went to %v; shown was\n%s", name, letters[0].to, shown.Text)
		}
		for field, values := range header {
			if !slices.Contains([]string{
				"From", "To", "Subject", "Date", "Message-Id", "Mime-Version", "Content-Type",
				"Content-Transfer-Encoding",
			}, field) || len(values) != 1 {
				t.Errorf("%s: header %s: %q", name, field, values)
			}
		}
		if want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(args.Body,
			"\ufffd")); strings.TrimRight(body, "\n") != strings.TrimRight(want, "\n") {
			t.Errorf("%s: the text is %q, want %q", name, body, want)
		}
	}
	t.Logf("%d inputs, %d of them were sent, with 0 recipients, headers or mails too many", len(inputs), sent)
}

func TestMailGoesToAllRecipientsOrNone(t *testing.T) {
	p := startPost(t, false)
	p.refuse = "cy@example.com"
	_, err := mailTool(p.settings()).Run(t.Context(), json.RawMessage(`{"to":["bob@example.com","cy@example.com"],`+
		`"subject":"s","body":"b"}`))
	if err == nil || !strings.Contains(err.Error(), "no such user") ||
		!strings.Contains(err.Error(), "nothing was sent") || len(p.all()) != 0 {
		t.Errorf("%v; %d mails arrived", err, len(p.all()))
	}
}

func TestSilentServerIsReported(t *testing.T) {
	p := startPost(t, false)
	p.hangUp = true
	_, err := mailTool(p.settings()).Run(t.Context(), json.RawMessage(`{"to":["bob@example.com"],"subject":"s",`+
		`"body":"b"}`))
	if !errors.Is(err, errMaybeSent) {
		t.Errorf("got %v", err)
	}
	gone := p.settings()
	gone.Port = 1
	_, err = mailTool(gone).Run(t.Context(), json.RawMessage(`{"to":["bob@example.com"],"subject":"s","body":"b"}`))
	if err == nil || !strings.Contains(err.Error(), "nothing was sent") {
		t.Errorf("no server: %v", err)
	}
}

type password string

func (p password) Read() (string, error) { return string(p), nil }

func TestPasswordIsSentOnlyOverTLS(t *testing.T) {
	p := startPost(t, true)
	m := p.settings()
	m.User, m.Password, m.TLS = "ana", password("secret"), "starttls"
	args := json.RawMessage(`{"to":["bob@example.com"],"subject":"s","body":"b"}`)
	if _, err := mailTool(m).Run(t.Context(), args); err == nil || p.signedIn != "" {
		t.Errorf("a certificate that nobody vouches for is taken: %v", err)
	}
	m.roots = p.roots
	if _, err := mailTool(m).Run(t.Context(), args); err != nil || p.signedIn != "ana" || len(p.all()) != 1 {
		t.Errorf("%v; signed in %q, %d mails", err, p.signedIn, len(p.all()))
	}
	plain := startPost(t, false)
	m = plain.settings()
	m.User, m.Password, m.TLS = "ana", password("secret"), ""
	if _, err := mailTool(m).Run(t.Context(), args); err == nil || plain.signedIn != "" {
		t.Errorf("signed in without TLS: %v", err)
	}
	m.TLS, m.Host = "none", "mail.example.org"
	if _, err := mailTool(m).Run(t.Context(), args); err == nil || !strings.Contains(err.Error(), "on this machine") {
		t.Errorf("got %v", err)
	}
}

func TestInvalidAddressInSettingsIsReported(t *testing.T) {
	tool := mailTool(MailAccount{Host: "localhost", From: "ana"})
	_, err := tool.Preview(t.Context(), json.RawMessage(`{"to":["bob@example.com"],"subject":"s","body":"b"}`))
	if err == nil || !strings.Contains(err.Error(), "mail.from") {
		t.Errorf("got %v", err)
	}
}

func TestEachMailNeedsPermission(t *testing.T) {
	tool := mailTool(MailAccount{Host: "localhost", From: "ana@example.org"})
	all := (*gate.Rules)(nil).With(gate.Rule{Tool: "*", Level: agent.Auto},
		gate.Rule{Tool: "send_email", Level: agent.Auto, From: "--allow"})
	if level, why := turn.New(turn.Options{Rules: all}).Decide(t.Context(), tool, nil,
		agent.Origin{}); level != agent.ConfirmEach || !strings.Contains(why, "each time") {
		t.Errorf("%v: %s", level, why)
	}
	all = all.With(gate.Rule{Tool: "send_email", Level: agent.Deny})
	if level, _ := turn.New(turn.Options{Rules: all}).Decide(t.Context(), tool, nil,
		agent.Origin{}); level != agent.Deny {
		t.Errorf("a deny is %v", level)
	}
}

func TestMailIsFirstSavedAsADraft(t *testing.T) {
	const plan = `{"reasoning":"","steps":[{"id":"1","tool":"send_email","input":{"to":["Bob <bob@example.com>"],` +
		`"bcc":["eve@example.com"],"subject":"Sunday","body":"Shall we run?"}}]}`
	p, kept := startPost(t, false), &artifactShelf{}
	tool := NewSendEmail(p.settings(), func() time.Time { return mailNoon }, kept, nil)
	turn := func(decision agent.Decision) (drafts []string, effects agent.Effects) {
		a := turn.New(turn.Options{
			Model: llmtest.NewScript().Say(plan, "Done.", "Done."), History: noHistory{}, Tools: agenttest.Tools(tool),
		})
		for e := range a.Ask(t.Context(), "c1", "Ask Bob to run on Sunday.") {
			switch b := e.Body.(type) {
			case agent.PermissionAsked:
				if len(kept.list) != 1 || len(p.all()) != 0 {
					t.Errorf("the user is asked with %d drafts and %d mails", len(kept.list), len(p.all()))
				}
				b.Reply(agent.Reply{Decision: decision})
			case agent.ArtifactChanged:
				drafts = append(drafts, fmt.Sprintf("%s, version %d", b.Name, b.Version))
			case agent.Ended:
				effects = b.Effects
			}
		}
		return drafts, effects
	}
	if drafts, effects := turn(agent.Refuse); len(drafts) != 0 || len(p.all()) != 0 ||
		effects.String() != "! nothing was changed" {
		t.Errorf("refused: told %v, %d mails, %s", drafts, len(p.all()), effects)
	}
	if drafts, effects := turn(agent.AllowOnce); !slices.Equal(drafts, []string{"mail: Sunday, version 1"}) ||
		len(p.all()) != 1 || effects.String() != "1 mail sent to bob@example.com, eve@example.com" {
		t.Errorf("allowed: told %v, %d mails, %s", drafts, len(p.all()), effects)
	}
	want := "From: Ana <ana@example.org>\nTo: Bob <bob@example.com>\nBcc: eve@example.com\nSubject: Sunday\n\nShall " +
		"we run?"
	if len(kept.list) != 1 || kept.list[0].Text != want || kept.list[0].Conversation != "c1" ||
		kept.list[0].Turn != "t1" {
		t.Errorf("kept %+v, want once\n%s", kept.list, want)
	}
}

// noon is the time of all tests.
var mailNoon = time.Date(2026, 10, 8, 12, 0, 0, 0, time.Local)

// noHistory is a history that saves nothing.
type noHistory struct{}

func (noHistory) Begin(context.Context, string, string) (string, error) { return "t1", nil }
func (noHistory) Window(context.Context, string, int) (agent.Window, error) {
	return agent.Window{}, nil
}
func (noHistory) Exchanges(context.Context, string) ([]agent.Exchange, error) { return nil, nil }
func (noHistory) Finish(context.Context, string, agent.Answer) error          { return nil }

// shelf stores drafts in memory.
type artifactShelf struct{ list []agent.Artifact }

func (s *artifactShelf) SaveArtifact(_ context.Context, a agent.Artifact) error {
	s.list = append(s.list, a)
	return nil
}

func (s *artifactShelf) Artifact(_ context.Context, _, name string, _ int) (agent.Artifact, error) {
	for _, a := range slices.Backward(s.list) {
		if a.Name == name {
			return a, nil
		}
	}
	return agent.Artifact{}, agent.ErrNoArtifact
}
