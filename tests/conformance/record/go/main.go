// Command record prints what the ADK for Go does with each case, one JSON line a case: record CASES.jsonl
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
)

const app, user, id = "app", "user-42", "s"

// play runs a case's turns in one session, up to the first error. Where an agent is refused, the panic is the error.
func play(c testCase, t *trace) (err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case error:
			err = failed
		default:
			err = fmt.Errorf("panic: %v", failed)
		}
	}()
	ctx := context.Background()
	sessions := session.InMemoryService()
	config := runner.Config{AppName: app, Agent: c.Root.build(t), SessionService: sessions}
	if c.Root.uses("save_note") { // to read an artifact without a service is an error, which some cases show
		config.ArtifactService = artifact.InMemoryService()
	}
	run := must(runner.New(config))
	start := &session.CreateRequest{AppName: app, UserID: user, SessionID: id, State: nativeObject(c.State)}
	must(sessions.Create(ctx, start))
	defer func() {
		end := must(sessions.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id}))
		t.state = maps.Collect(end.Session.State().All())
	}()
	for _, turn := range c.Turns {
		for event, err := range run.Run(ctx, user, id, t.message(turn), agent.RunConfig{StreamingMode: agent.StreamingModeNone}) {
			if err != nil {
				return err
			}
			t.addEvent(event)
		}
	}
	return nil
}

func record(cases io.Reader, traces io.Writer) error {
	decoder, encoder := json.NewDecoder(cases), json.NewEncoder(traces)
	decoder.UseNumber()
	encoder.SetEscapeHTML(false)
	for {
		var c testCase
		if err := decoder.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		t := newTrace()
		failed := play(c, t)
		if err := encoder.Encode(t.json(c.ID, failed)); err != nil {
			return err
		}
	}
}

func main() {
	log.SetOutput(io.Discard)
	cases, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	traces := bufio.NewWriter(os.Stdout)
	if err := errors.Join(record(cases, traces), traces.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
