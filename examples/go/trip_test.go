package trip

import "testing"

func TestLongest(t *testing.T) {
	stops := []Stop{{"Ulm", 0}, {"Augsburg", 80}, {"Munich", 150}}
	if got := Longest(stops); got != 80 {
		t.Fatalf("got %d", got)
	}
}
