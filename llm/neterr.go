package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// Error describes a failed request. The original error of the system or the
// server is available with [Cause].
type Error struct {
	Problem string // what is wrong
	Advice  string // what to do; empty if it depends on the request
	Refused bool   // nothing listens at the address
	cause   error
}

func (e *Error) Error() string {
	if e.Advice == "" {
		return e.Problem
	}
	return e.Problem + "; " + e.Advice
}

func (e *Error) Unwrap() error { return e.cause }

// Cause returns the original error text of the system or server in err, or "" if
// err contains no Error.
func Cause(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) && e.cause != nil {
		return e.cause.Error()
	}
	return ""
}

// Problem returns the description of err without advice.
func Problem(err error) string {
	err = Explain(err)
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Problem
	}
	return err.Error()
}

// Explain converts a network error to an Error and returns other errors
// unchanged. The result does not contain the address, which may include a
// password.
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
		refused *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		dial    *net.OpError
		errno   syscall.Errno
		timeout interface{ Timeout() bool }
	)
	_ = errors.As(err, &errno) // zero if err contains none
	switch {
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		e.Problem, e.Advice = "the proxy cannot be reached",
			"correct it in HTTPS_PROXY or HTTP_PROXY, or list the server's host in NO_PROXY"
	case errors.As(err, &name):
		e.Problem, e.Advice = fmt.Sprintf("the host %s was not found", name.Name),
			"check that this machine is online, and the spelling"
	case errors.As(err, &refused):
		e.Problem, e.Advice = "the server's certificate is not accepted",
			"check the host and the date of this machine; SSL_CERT_FILE names a file of further certificates"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e.Problem, e.Advice = "the server does not use TLS at this address",
			"write it with http://, or use its TLS port"
	case is(errno, syscall.ECONNREFUSED, 10061):
		e.Problem, e.Advice, e.Refused = "connection refused", "check the address, and that it is running", true
	case is(errno, syscall.ENETUNREACH, 10051), is(errno, syscall.EHOSTUNREACH, 10065):
		e.Problem, e.Advice = "the server is unreachable from this network", "check that this machine is online"
	case is(errno, syscall.ECONNRESET, 10054), is(errno, syscall.EPIPE, 10053), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		e.Problem, e.Advice = "the server closed the connection", "try again, or check the address"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Problem, e.Advice = "the server did not answer in time", "try again later, or check the address"
	case errors.As(err, &dial):
		if e.Problem = dial.Err.Error(); errno != 0 {
			e.Problem = errno.Error()
		}
	default:
		return err
	}
	return e
}

// is compares errno with an error, which has another number on Windows.
func is(errno, want, windows syscall.Errno) bool { return errno == want || errno == windows }

// Status describes an HTTP error status. who is the subject, such as "the
// server"; said is the body of the response, if any.
func Status(subject string, code int, body string) *Error {
	predicate, advice := "", ""
	switch {
	case code == http.StatusUnauthorized, code == http.StatusPaymentRequired:
		predicate = "requires signing in"
	case code == http.StatusProxyAuthRequired:
		predicate, advice = "requires signing in", "put the user name and password into HTTPS_PROXY or HTTP_PROXY"
	case code == http.StatusForbidden:
		predicate = "refuses access"
	case code == http.StatusNotFound, code == http.StatusGone:
		predicate = "has nothing at this address"
	case code == http.StatusTooManyRequests:
		predicate, advice = "was asked too often", "try again later"
	case code >= 500:
		predicate, advice = "has a problem", "try again later"
	}
	status := strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code)))
	if predicate == "" {
		return &Error{Problem: subject + " answered " + status, cause: answer(status, body)}
	}
	return &Error{
		Problem: fmt.Sprintf("%s %s (%s)", subject, predicate, status), Advice: advice,
		cause: answer(status, body),
	}
}

// answer returns a status with the text of its response.
func answer(status, body string) error {
	if body == "" {
		return errors.New(status)
	}
	return fmt.Errorf("%s: %s", status, body)
}
