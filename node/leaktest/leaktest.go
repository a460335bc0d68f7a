// Package leaktest holds tests of hosts to leaving no goroutines behind, and runs them beside each other. What a host of
// go-libp2p has begun may take some time to end after it is closed, and longer on a busy machine. So a test fails only
// when goroutines are left a minute later. Lateness tells tests how busy the machine is.
package leaktest

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const patience = time.Minute

// AtOnce has n of the tests marked as parallel run at a time, unless -parallel says otherwise. It is called before tests
// run. Those with hosts mostly wait, so they may be more than there are processors.
func AtOnce(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", fmt.Sprint(n))
	}
}

// Main is the body of a TestMain. It runs the tests of a package, and fails if they leave goroutines.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := wait(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Check fails a test unless all goroutines end that began since before, which is goleak.IgnoreCurrent of then.
func Check(t testing.TB, before goleak.Option) {
	t.Helper()
	if err := wait(before); err != nil {
		t.Fatal(err)
	}
}

// wait returns nil as soon as no goroutines are left, or which are after patience.
func wait(ignored ...goleak.Option) error {
	for end := time.Now().Add(patience); ; {
		err := goleak.Find(ignored...)
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
