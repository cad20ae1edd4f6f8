package heap

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"testing"
)

func TestWhenTheHeapIsCollected(t *testing.T) {
	if told := os.Getenv("HEAP_TOLD"); told != "" {
		if got := percent(); os.Getenv("GOGC") == "" && got != first {
			os.Exit(int(got))
		}
		if told == "50" {
			Collect(50)
		}
		for range 3 {
			collect()
		}
		os.Exit(int(percent()))
	}
	for _, test := range []struct {
		told, gogc string
		want       int
	}{
		{"nothing", "", 100},
		{"50", "", 50},
		{"50", "70", 70},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "HEAP_TOLD="+test.told, "GOGC="+test.gogc)
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != test.want {
			t.Errorf("told %s, GOGC %q: after its first collection the heap is collected at %d %% of growth, want %d", test.told, test.gogc, got, test.want)
		}
	}
}

// collect returns when the heap was collected and a cleanup has run.
func collect() {
	done := make(chan bool)
	runtime.AddCleanup(new([16]byte), func(int) { close(done) }, 0)
	runtime.GC()
	<-done
}

func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
