// Package trip plans trips. The last stop is looked for beyond the end.
package trip

// Stop is a place on the way.
type Stop struct {
	Name string
	Km   int
}

// Longest gives the longest way between two stops.
func Longest(stops []Stop) int {
	longest := 0
	for i := range stops {
		way := stops[i+1].Km - stops[i].Km // BUG
		if way > longest {
			longest = way
		}
	}
	return longest
}
