// Package neterr says in plain words why a request over the network failed.
package neterr

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// Error is a failed request in words. What the system or the server said itself
// is behind it, see [Cause].
type Error struct {
	Says    string // what is wrong
	Advice  string // what to do; "": it depends on what was asked for
	Refused bool   // nothing listens at the address
	cause   error
}

func (e *Error) Error() string {
	if e.Advice == "" {
		return e.Says
	}
	return e.Says + "; " + e.Advice
}

func (e *Error) Unwrap() error { return e.cause }

// Cause returns what the system or the server said about the failure in err;
// "": err holds none.
func Cause(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) && e.cause != nil {
		return e.cause.Error()
	}
	return ""
}

// Says returns what is wrong in err, without what to do about it.
func Says(err error) string {
	err = Explain(err)
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Says
	}
	return err.Error()
}

// Explain returns a failure of the network in words, and any other error as it
// is; neither names the address, which may hold a password.
func Explain(err error) error {
	if request := (*url.Error)(nil); errors.As(err, &request) {
		err = request.Err
	}
	if e := (*Error)(nil); err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) {
		return err
	}
	e := &Error{cause: err}
	var (
		name    *net.DNSError
		invalid x509.CertificateInvalidError
		other   x509.HostnameError
		refused *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		dial    *net.OpError
		errno   syscall.Errno
		timeout interface{ Timeout() bool }
	)
	_ = errors.As(err, &errno) // 0: none
	switch {
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		e.Says, e.Advice = "the proxy cannot be reached", "correct it in HTTPS_PROXY or HTTP_PROXY, or list the server's host in NO_PROXY"
	case errors.As(err, &name) && name.IsNotFound:
		e.Says, e.Advice = fmt.Sprintf("the host %s was not found", name.Name), "check that this machine is online, and the spelling"
	case errors.As(err, &name):
		e.Says, e.Advice = fmt.Sprintf("the host %s could not be looked up", name.Name), "check that this machine is online"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		e.Says, e.Advice = "the server's certificate has expired", "check the date of this machine; if it is right, the server needs a new one"
	case errors.As(err, &other):
		e.Says, e.Advice = "the server's certificate is for another host", "write the host as the certificate does"
	case errors.As(err, &refused):
		e.Says, e.Advice = "the server's certificate is not trusted", "add its issuer to this machine's certificates (SSL_CERT_FILE names a file of them)"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e.Says, e.Advice = "the server does not use TLS at this address", "write it with http://, or use its TLS port"
	case is(errno, syscall.ECONNREFUSED, 10061):
		e.Says, e.Advice, e.Refused = "the server refuses the connection", "check the address, and that it is running", true
	case is(errno, syscall.ENETUNREACH, 10051), is(errno, syscall.EHOSTUNREACH, 10065):
		e.Says, e.Advice = "there is no way to the server from this network", "check that this machine is online"
	case is(errno, syscall.ECONNRESET, 10054), is(errno, syscall.EPIPE, 10053), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Says, e.Advice = "the server closed the connection", "try again, or check the address"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Says, e.Advice = "the server did not answer in time", "try again later, or check the address"
	case errors.As(err, &dial):
		if e.Says = dial.Err.Error(); errno != 0 {
			e.Says = errno.Error()
		}
	default:
		return err
	}
	return e
}

// is compares with an error of the system and with its number on Windows.
func is(errno, want, windows syscall.Errno) bool { return errno == want || errno == windows }

// Status returns what an HTTP status other than success means. who is the
// server, as in "the server"; said is what it answered, if anything.
func Status(who string, code int, said string) *Error {
	what, advice := "", ""
	switch {
	case code == http.StatusUnauthorized, code == http.StatusPaymentRequired:
		what = "requires signing in"
	case code == http.StatusProxyAuthRequired:
		what, advice = "requires signing in", "put the user name and password into HTTPS_PROXY or HTTP_PROXY"
	case code == http.StatusForbidden:
		what = "refuses access"
	case code == http.StatusNotFound, code == http.StatusGone:
		what = "has nothing at this address"
	case code == http.StatusTooManyRequests:
		what, advice = "was asked too often", "try again later"
	case code >= 500:
		what, advice = "has a problem", "try again later"
	}
	status := strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code)))
	if what == "" {
		return &Error{Says: who + " answered " + status, cause: answer(status, said)}
	}
	return &Error{Says: fmt.Sprintf("%s %s (%s)", who, what, status), Advice: advice, cause: answer(status, said)}
}

// answer is a status with what came with it.
func answer(status, said string) error {
	if said == "" {
		return errors.New(status)
	}
	return fmt.Errorf("%s: %s", status, said)
}
