package main

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/mq"
)

// publish and subscribe, and the sample programs amqspub and amqssub.

func (e *env) publishCmd() *cobra.Command {
	var f messageFlags
	var r remoteFlags
	var retain bool
	c := &cobra.Command{Use: "publish QM TOPIC", Short: "publish each line of standard input to a topic string",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(f.check(c), r.check()); err != nil {
				return err
			}
			if r.on() {
				return e.remotePut(c, &r, args[0], f, target{topic: args[1], retain: retain})
			}
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			q := url.Values{"topic": {args[1]}}
			if retain {
				q.Set("retain", "yes")
			}
			if c.Flags().Changed("persistent") {
				q.Set("persistent", map[bool]string{true: "yes", false: "no"}[f.persistent])
			}
			if c.Flags().Changed("priority") {
				q.Set("priority", strconv.Itoa(f.priority))
			}
			if c.Flags().Changed("expiry") {
				q.Set("expiry", strconv.Itoa(f.expiry))
			}
			if f.file {
				q.Set("format", "none")
			}
			cl, err := connect(dir, args[0])
			if err != nil {
				return err
			}
			return e.send(cl, "/qmgrd/publish", q, f, nil)
		}}
	c.Flags().BoolVar(&retain, "retain", false, "keep the last line for later subscribers")
	c.Flags().BoolVar(&f.persistent, "persistent", false, "persistent publications; =false nonpersistent (default: DEFPSIST of the topic)")
	c.Flags().IntVar(&f.priority, "priority", 0, "priority, 0 to 9 (default: DEFPRTY of the topic)")
	c.Flags().IntVar(&f.expiry, "expiry", 0, "life in tenths of a second (default: unlimited)")
	c.Flags().BoolVar(&f.json, "json", false, "print a JSON line with the messageId of each publication")
	c.Flags().BoolVar(&f.file, "file", false, "the whole input is one publication, bytes as they are")
	r.remote(c)
	return c
}

func (e *env) subscribeCmd() *cobra.Command {
	var f messageFlags
	var r remoteFlags
	var durable bool
	var name, selector string
	c := &cobra.Command{Use: "subscribe QM TOPIC", Short: "print a line for each publication to a topic string",
		Long: "Prints a line for each publication. TOPIC may have wildcards: + is one level, # any number.\n" +
			"With --durable the subscription is made or resumed, and stays when the command ends.",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(f.check(c), r.check()); err != nil {
				return err
			}
			if durable && name == "" {
				return errors.New("--durable needs the subscription's --name")
			}
			if r.on() {
				wait := mq.Forever
				if c.Flags().Changed("wait") {
					wait = time.Duration(f.wait * float64(time.Second))
				}
				return e.remoteSubscribe(&r, args[0], mq.SubOptions{Topic: args[1], Name: name, Durable: durable, Selector: selector}, f, wait)
			}
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			q := url.Values{"topic": {args[1]}, "name": {name}, "selector": {selector}}
			if durable {
				q.Set("durable", "yes")
			}
			if c.Flags().Changed("wait") {
				q.Set("wait", strconv.FormatInt(int64(f.wait*1000), 10))
				f.wait = 0
			}
			cl, err := connect(dir, args[0])
			if err != nil {
				return err
			}
			n, err := e.receive(cl, "/qmgrd/subscribe", q, f, func(line []byte, m *received) error { return e.printMessage(line, m, f) })
			if err != nil {
				return err
			}
			if n < f.count {
				return withCode(exitRefused, fmt.Errorf("%d of %d publications came on %s", n, f.count, args[1]))
			}
			return nil
		}}
	c.Flags().BoolVar(&durable, "durable", false, "make or resume a durable subscription")
	c.Flags().StringVar(&name, "name", "", "subscription name")
	c.Flags().StringVar(&selector, "selector", "", "only publications that this SQL `condition` selects")
	c.Flags().IntVar(&f.count, "count", 0, "end after so many publications")
	c.Flags().Float64Var(&f.wait, "wait", 0, "end when none came for so many `seconds` (default: never)")
	c.Flags().BoolVar(&f.json, "json", false, "print descriptor, properties and body as JSON, one publication a line")
	c.Flags().BoolVar(&f.file, "file", false, "print bodies as they are, without line ends")
	r.remote(c)
	return c
}

// subscriberWait is how long amqssub waits for another publication, in seconds.
const subscriberWait = 30

// amqspub publishes lines until an empty one or the end of input.
func (e *env) amqspub(args []string) error {
	cl, topic, err := e.sample("amqspub", args)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "target topic is %s\n", topic)
	in := *e
	in.stdin = untilBlank(e.stdin)
	if err := in.send(cl, "/qmgrd/publish", url.Values{"topic": {topic}, "appl": {"amqspub"}}, messageFlags{}, nil); err != nil {
		return sampleError(err)
	}
	fmt.Fprintln(e.stdout, "amqspub end")
	return nil
}

// amqssub prints publications until none has come for subscriberWait seconds.
func (e *env) amqssub(args []string) error {
	cl, topic, err := e.sample("amqssub", args)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "waiting %d seconds for each publication to %s\n", subscriberWait, topic)
	q := url.Values{"topic": {topic}, "appl": {"amqssub"}, "wait": {strconv.Itoa(subscriberWait * 1000)}}
	_, err = e.receive(cl, "/qmgrd/subscribe", q, messageFlags{}, func(_ []byte, m *received) error {
		b, err := m.bytes()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "message <%s>\n", b)
		return err
	})
	if err != nil {
		return sampleError(err)
	}
	fmt.Fprintf(e.stdout, "no more publications\namqssub end\n")
	return nil
}
