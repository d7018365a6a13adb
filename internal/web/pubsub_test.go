package web

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A property that is no number, as JMS programs can set one, does not end a stream.
func TestFloatsThatJSONLacks(t *testing.T) {
	md, body := mqi.DefaultMD(), []byte("text")
	var list []mqi.Property
	for i, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1.5} {
		list = append(list, mqi.Property{Name: string(rune('a' + i)), Value: mqi.PropFloat(mqi.MQTYPE_FLOAT64, f)})
	}
	body, err := mqi.JoinProps(&md, body, list)
	if err != nil {
		t.Fatal(err)
	}
	props, rest := takeProps(&md, body)
	b, err := json.Marshal(props)
	if want := `{"a":"NaN","b":"+Inf","c":"-Inf","d":1.5}`; err != nil || string(b) != want || string(rest) != "text" {
		t.Errorf("%s, %v, %q", b, err, rest)
	}
}
