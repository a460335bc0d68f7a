package directory

import (
	"testing"
)

func TestAnswersAreBounded(t *testing.T) {
	var a answers
	for range 100_000 {
		a.add(9, 1, maxAnswers)
	}
	if n := a.hits + a.misses; n > maxAnswers || n < maxAnswers/4 {
		t.Errorf("%d answers count, want %d at most", n, maxAnswers)
	}
	if a.Refuted() {
		t.Errorf("%+v: refuted though nine of ten keys were held", a)
	}
	a.add(0, 1<<40, maxAnswers)
	if n := a.hits + a.misses; n > maxAnswers || !a.Refuted() {
		t.Errorf("%+v: more than count, or not refuted by misses alone", a)
	}
	for range 50 {
		a.halve()
	}
	if (a != answers{hits: 1}) {
		t.Errorf("of %+v only one hit should stay", a)
	}
}
