package esql_test

import (
	"fmt"
	"time"

	"github.com/qmgrd/qmgrd/internal/esql"
	"github.com/qmgrd/qmgrd/internal/esql/domain"
)

// flow is what a Compute node would be: it writes what is propagated.
type flow struct{ bodies domain.Set }

func (f flow) Propagate(p esql.Propagation) error {
	d, _ := f.bodies.Domain(p.Message.Last().Domain)
	b, err := d.Serialize(p.Message.Last(), esql.ParseOptions{})
	fmt.Printf("%s: %s\n", p.Terminal, b)
	return err
}

func (flow) Log(esql.LogRecord) {}

func (flow) Sleep(time.Duration) error { return nil }

// A Compute module sends a message for every item of an order.
func Example() {
	p, err := esql.Compile("split.esql", []byte(`
CREATE COMPUTE MODULE Split
  CREATE FUNCTION Main() RETURNS BOOLEAN
  BEGIN
    FOR line AS InputRoot.XMLNSC.Order.Item[] DO
      SET OutputRoot.JSON.Data.product = line;
      SET OutputRoot.JSON.Data.order = CAST(InputBody.Order.(XMLNSC.Attribute)id AS INTEGER);
      PROPAGATE TO TERMINAL 'out1';
    END FOR;
    RETURN FALSE;
  END;
END MODULE;`), esql.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	module, _ := p.Module("Split")
	f := flow{}
	inv := &esql.Invocation{InputRoot: esql.NewRoot(), Host: f, Domain: f.bodies.Domain}
	if err := f.bodies.Body(inv.InputRoot, "XMLNSC", []byte(`<Order id="7"><Item>tea</Item><Item>milk</Item></Order>`), esql.ParseOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	outcome, err := module.Run(inv)
	fmt.Println(outcome, err)
	// Output:
	// OUT1: {"product":"tea","order":7}
	// OUT1: {"product":"milk","order":7}
	// FALSE <nil>
}
