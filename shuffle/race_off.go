//go:build !race

package shuffle

func raceRead([]byte)  {}
func raceWrite([]byte) {}
