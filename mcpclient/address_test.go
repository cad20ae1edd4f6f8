package mcpclient

import "testing"

func TestArgumentThatIsAnAddressIsFound(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"path":{"type":"string"}}}`:                                        false,
		`{"properties":{"url":{}}}`:                                                                        true,
		`{"properties":{"imageUrl":{}}}`:                                                                   true,
		`{"properties":{"base_uri":{}}}`:                                                                   true,
		`{"properties":{"HOST":{}}}`:                                                                       true,
		`{"properties":{"target":{"type":"string","format":"uri"}}}`:                                       true,
		`{"properties":{"target":{"type":"string","format":"uri-reference"}}}`:                             true,
		`{"properties":{"target":{"type":"string","format":"hostname"}}}`:                                  true,
		`{"properties":{"to":{"anyOf":[{"type":"null"},{"type":"string","format":"ipv4"}]}}}`:              true,
		`{"properties":{"list":{"type":"array","items":{"properties":{"website":{}}}}}}`:                   true,
		`{"$defs":{"a":{"properties":{"endpoint":{}}}},"properties":{"a":{"$ref":"#/$defs/a"}}}`:           true,
		`{"properties":{"curly":{},"hosting":{},"ghost":{},"day":{"format":"date"},"purist":{},"x":true}}`: false,
		`{"properties":{"pattern":{"description":"a url or host"}}}`:                                       false,
		`{}`: false, `true`: false,
	} {
		if got := takesAddress([]byte(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}
