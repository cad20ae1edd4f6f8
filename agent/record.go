package agent

import (
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
)

// Did returns in one line what the turn changed, sent or called, or that it
// changed nothing where it should have, whatever its answer claims. It is empty
// if the turn only read or asked, and for a turn of a version without effects.
// Its names are untrusted text.
func (e Exchange) Did() string {
	effects := slices.DeleteFunc(slices.Clone(e.Answer.Effects),
		func(e Effect) bool { return e.Kind == RequestSent || e.Kind == WithoutNotes })
	if len(effects) == 0 {
		return ""
	}
	did := text.OneLine(effects.String())
	if e.Undone {
		did += ", taken back since"
	}
	return did
}

// Record returns the line that tells a model in the user's next message, as data
// between marks, what the turn did; empty if [Exchange.Did] is.
func (e Exchange) Record(mark string) string {
	did := e.Did()
	if did == "" {
		return ""
	}
	return mark + " LifeHub's record of the turn before: " + strings.ReplaceAll(did, mark, "") + " " + mark
}

var (
	// record matches a record as this version and earlier ones write it, up to the
	// last mark or parenthesis of its line.
	record = regexp.MustCompile(`(?:\(|«[0-9a-f]{8}» ?)?LifeHub['’]s record of (?:this turn|the turn ` +
		`before):(?:[^\n]*[)»]|[^\n]*)`)
	// recordBegun matches at the end of a text what is a record or may become one:
	// all that a record may begin with, and some more.
	recordBegun = regexp.MustCompile(`(?:\(|«[0-9a-f]{0,8}(?:» ?)?)?` +
		`(?:LifeHub['’]s record of th[^\n]*|Li?f?e?H?u?b?['’]?s?(?: r?e?c?o?r?d?(?: o?f?(?: t?h?)?)?)?)?\x{FFFD}*$`)
)

// WithoutRecords returns an answer without the records that a model wrote into
// it: only the program knows what was done.
func WithoutRecords(answer string) string { return record.ReplaceAllString(answer, "") }

// CutRecords is like [WithoutRecords] for the beginning of an answer that grows.
// It returns what is certain, and the rest, which may become a record and is to be
// given again with what follows.
func CutRecords(answer string) (certain, rest string) {
	at := len(answer)
	if begun := recordBegun.FindStringIndex(answer); begun != nil {
		at = begun[0]
	}
	return WithoutRecords(answer[:at]), answer[at:]
}
