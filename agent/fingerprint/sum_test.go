package fingerprint

import (
	"hash/fnv"
	"testing"
)

func TestFingerprintsMatchSavedOnes(t *testing.T) {
	letters := Letters("Grüße aus Pico: 3 Nächte, 日本語のメモ und ein Fährticket für den Morgen")
	for i, run := range runsOf(letters) {
		hash := fnv.New64a()
		hash.Write([]byte(string(letters[i : i+Run])))
		if want := int64(hash.Sum64()); run != want || fingerprint(letters[i:i+Run]) != want {
			t.Errorf("run %d is %d, and was saved as %d", i, run, want)
		}
	}
}
