package agent

import "strings"

// Steering is a message that the user sends to a turn while it runs.
type Steering struct {
	ID   string `json:"id"` // chosen by the front end, unique
	Text string `json:"text"`
}

// steeringMark starts a steering message inside the message that it belongs to.
const steeringMark = "sent while this was answered"

// WithSteering returns a message as it is saved once the turn that answers it
// has taken another one: that follows in a labelled fence longer than any inside
// it, so that whatever reads the saved message reads both.
func WithSteering(message, steering string) string {
	mark := fenceOutside(steering)
	return strings.TrimRight(message, "\n") + "\n\n" + mark + steeringMark + "\n" +
		strings.TrimRight(steering, "\n") + "\n" + mark
}

// SplitSteering returns a saved message as it was first sent, and the messages
// that were sent while it was answered, in order.
func SplitSteering(saved string) (message string, steering []string) {
	m, steering := parseMessage(saved)
	if len(steering) == 0 {
		return saved, nil
	}
	return m.String(), steering
}

// QuoteSteering returns a saved message for reading: as it was first sent, then
// each of those that were sent while it was answered as a quotation.
func QuoteSteering(saved string) string {
	text, steering := SplitSteering(saved)
	for _, sent := range steering {
		text += "\n\n> " + strings.ReplaceAll(sent, "\n", "\n> ")
	}
	return text
}

// JoinSteering returns a saved message as one that can be asked again, with those
// that were sent while it was answered.
func JoinSteering(saved string) string {
	if _, steering := SplitSteering(saved); len(steering) == 0 {
		return saved
	}
	return ParseMessage(saved).String()
}
