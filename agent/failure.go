package agent

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"lifehub/internal/text"
	"lifehub/llm"
)

// UnsavedError reports that a turn was made, but could not be saved.
type UnsavedError struct {
	Did string // its effects; "" if there are none
	Err error
}

func (e *UnsavedError) Error() string {
	text := "the conversation could not be saved: " + e.Err.Error()
	if e.Did != "" {
		text = e.Did + "; but " + text
	}
	return text
}

func (e *UnsavedError) Unwrap() error { return e.Err }

// FailedFrom explains an error of a model or turn, and what to do next.
func FailedFrom(err error) Failed {
	f := Failed{Message: text.AsSentence(err.Error()), Err: err}
	var missing *llm.NotFoundError
	var unsupported *llm.UnsupportedError
	var network *llm.Error
	var status *llm.StatusError
	var foreign *llm.ForeignError
	switch {
	case errors.As(err, &foreign):
		f.Hint = text.AsSentence(foreign.Advice())
	case errors.As(err, &missing) && missing.Fixed:
		f.Hint = "`lifehub models list` shows which it has; choose one with /model or -m."
	case errors.As(err, &missing):
		f.Message = fmt.Sprintf("The model %q is not installed.", missing.Model)
		f.Hint = fmt.Sprintf("Get it with /pull %[1]s in the chat, or with `lifehub models pull %[1]s`.", missing.Model)
	case errors.As(err, &unsupported):
		f.Hint = "Choose another model with /model or -m; `lifehub models list` shows what each can do."
	case errors.Is(err, llm.ErrUnreachable):
		f.Hint = "Start the model server" + howToStart(err) +
			", or set `provider: offline` to work without one. Run `lifehub doctor` for details."
		if errors.As(err, &network) && !network.Refused && network.Advice != "" {
			f.Hint = text.AsSentence(network.Advice)
		}
	case errors.As(err, &status):
		f.Hint = adviceOn(status)
	case errors.Is(err, llm.ErrCut):
		f.Message = "The answer was cut off" + whyCut(err) + "; what arrived is saved."
		f.Hint = "Ask again, or ask it to continue."
	case errors.Is(err, ErrDamaged):
		f.Hint = "Check your notes for what it already did, then ask again: each step is planned and asked about again."
	case errors.Is(err, ErrBusy):
		f.Hint = "Continue there, or wait until it is done."
	case errors.Is(err, ErrEmpty):
		f.Hint = "Write a question."
	case errors.Is(err, ErrNoAnswer), errors.Is(err, ErrPlanned):
		f.Hint = "Ask again, or choose another model with /model or -m."
	}
	return f
}

// howToStart returns the command that starts the model server, in parentheses;
// "" if unknown.
func howToStart(err error) string {
	var unreachable *llm.UnreachableError
	if !errors.As(err, &unreachable) || unreachable.Start == "" {
		return ""
	}
	return " (`" + unreachable.Start + "`)"
}

// adviceOn returns what to do about an HTTP status of a model server.
func adviceOn(status *llm.StatusError) string {
	switch code := status.Code; {
	case status.Long && status.Refused() || code == http.StatusRequestEntityTooLarge:
		return "If the conversation is long, start a new one, or choose a model with a larger window."
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return "Check the key for the model server: OPENAI_API_KEY holds it, or `providers` says where it is."
	case code == http.StatusNotFound || code == http.StatusOK:
		return "Check the address of the model server, which usually ends in /v1, and the model's name."
	case code == http.StatusProxyAuthRequired:
		return "Put the user name and password for the proxy into HTTPS_PROXY or HTTP_PROXY."
	case code == http.StatusTooManyRequests:
		return "Ask again later, or choose another model with /model or -m."
	case code >= http.StatusBadRequest:
		return "See the model server's log; ask again, or choose another model with /model or -m."
	}
	return ""
}

// whyCut returns the cause in parentheses; "" if unknown.
func whyCut(err error) string {
	_, why, known := strings.Cut(err.Error(), llm.ErrCut.Error()+": ")
	if !known {
		return ""
	}
	return " (" + why + ")"
}

// ErrShutdown is the cause of a cancelled context when LifeHub itself exits. The turn
// stays open, as after a crash, and its questions are asked again.
var ErrShutdown = errors.New("LifeHub is shutting down")

// Errors of a turn; test for them with errors.Is.
var (
	ErrNoAnswer = errors.New("no answer from the model")
	ErrPlanned  = errors.New("the model answered with a plan or call that cannot be used")
	// ErrDamaged means that what a turn was about to do is unknown.
	ErrDamaged = errors.New("the saved state of this turn cannot be read, so none of it is run")
	ErrEmpty   = errors.New("the message is empty")
)
