package mcpclient

import (
	"testing"
	"time"
)

func TestFiguresReportTheP95OfRecentCalls(t *testing.T) {
	t.Parallel()
	var f figures
	if f.p95() != 0 {
		t.Error("without calls")
	}
	for i := range 300 {
		f.add(time.Duration(i)*time.Millisecond, i%3 == 0)
	}
	if f.count != 300 || f.failed != 100 || f.p95() != 294*time.Millisecond {
		t.Errorf("got %d, %d, %v", f.count, f.failed, f.p95())
	}
}
