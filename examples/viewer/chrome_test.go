package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// browsers are the names of a Chromium, the first one that exists is used.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "chromium-headless-shell"}

// chrome is a headless browser, driven through the DevTools protocol on a pipe.
type chrome struct {
	out *os.File

	mu      sync.Mutex
	next    int
	answers map[int]chan reply
	logs    []string
}

// reply is an answer or an event of the browser.
type reply struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// startChrome starts a browser, which ends with the test. Without a browser the test fails.
func startChrome(t *testing.T) *chrome {
	t.Helper()
	name := ""
	for _, b := range browsers {
		if path, err := exec.LookPath(b); err == nil {
			name = path
			break
		}
	}
	if name == "" {
		t.Fatal("no Chromium: install the Debian package chromium, or test with -short")
	}
	toBrowser, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: helper processes of the browser may still write when the test ends.
	profile, err := os.MkdirTemp("", "viewer-chrome")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-extensions", "--hide-scrollbars", "--force-color-profile=srgb", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	c := &chrome{out: out, answers: map[int]chan reply{}}
	go c.receive(in)
	t.Cleanup(func() {
		out.Close() // the browser ends with the pipe
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			<-done
		}
		in.Close()
		for range 20 {
			if os.RemoveAll(profile) == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return c
}

// receive passes answers on.
func (c *chrome) receive(in *os.File) {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			break
		}
		var m reply
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		if wait := c.answers[m.ID]; wait != nil {
			delete(c.answers, m.ID)
			wait <- m
		}
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			c.logs = append(c.logs, m.Method+" "+string(m.Params))
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, wait := range c.answers {
		delete(c.answers, id)
		close(wait)
	}
}

// send sends a command and waits for its answer.
func (c *chrome) send(ctx context.Context, session, method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	c.next++
	id, wait := c.next, make(chan reply, 1)
	c.answers[id] = wait
	text, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params, "sessionId": session})
	if session == "" {
		text, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	if err == nil {
		_, err = c.out.Write(append(text, 0))
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case m, ok := <-wait:
		if !ok {
			return nil, fmt.Errorf("%s: the browser has ended", method)
		}
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// page is a tab.
type page struct {
	t       *testing.T
	c       *chrome
	session string
}

// newPage opens a tab of a size, with settings such as "prefers-color-scheme": "dark".
func (c *chrome) newPage(t *testing.T, width, height int, media map[string]string) *page {
	t.Helper()
	p := &page{t: t, c: c}
	var target struct{ TargetID string }
	p.command("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.command("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "DOM", "Accessibility"} {
		p.command(domain+".enable", nil, nil)
	}
	p.command("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	features := []map[string]string{}
	for name, value := range media {
		features = append(features, map[string]string{"name": name, "value": value})
	}
	p.command("Emulation.setEmulatedMedia", map[string]any{"features": features}, nil)
	t.Cleanup(func() { p.command("Page.close", nil, nil) })
	t.Cleanup(func() {
		if t.Failed() {
			p.shot("failed-" + filepath.Base(t.Name()) + ".png")
		}
		p.c.mu.Lock()
		defer p.c.mu.Unlock()
		for _, l := range p.c.logs {
			t.Errorf("the page logged %.2000s", l)
		}
		p.c.logs = nil
	})
	return p
}

// command sends a command of the tab and stores the answer in result, unless that is nil.
func (p *page) command(method string, params any, result any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if params == nil {
		params = map[string]any{}
	}
	b, err := p.c.send(ctx, p.session, method, params)
	if err == nil && result != nil {
		err = json.Unmarshal(b, result)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// eval evaluates JavaScript, which may be a promise, and stores its value in result, unless that is nil.
func (p *page) eval(script string, result any) {
	p.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	p.command("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", script, answer.ExceptionDetails.Exception.Description)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result.Value, result); err != nil {
			p.t.Fatalf("%s: %v: %s", script, err, answer.Result.Value)
		}
	}
}

// text returns the value of a script as text.
func (p *page) text(script string) string {
	p.t.Helper()
	var s string
	p.eval("(async () => String("+script+"))()", &s)
	return s
}

// wait waits until a script is true.
func (p *page) wait(script string) {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var ok bool
		if p.eval("Boolean("+script+")", &ok); ok {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("timeout waiting for %s; error: %s; status: %s", script, p.text("document.getElementById('error')?.textContent"), p.text("document.getElementById('status')?.textContent"))
		}
	}
}

// open opens a URL.
func (p *page) open(url string) {
	p.t.Helper()
	p.command("Page.navigate", map[string]any{"url": "about:blank"}, nil) // a new hash alone would not load the page
	p.command("Page.navigate", map[string]any{"url": url}, nil)
	p.wait("location.href !== 'about:blank' && document.readyState === 'complete'")
}

// keys are the codes of keys with names.
var keys = map[string]int{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "PageUp": 33, "PageDown": 34, "Enter": 13, "Tab": 9, "Home": 36, "End": 35, " ": 32}

// press presses keys, such as "ArrowDown", "+" or "Shift+ArrowLeft".
func (p *page) press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		modifiers := 0
		if rest, ok := strings.CutPrefix(name, "Shift+"); ok {
			name, modifiers = rest, 8
		}
		event := map[string]any{"type": "keyDown", "key": name, "code": name, "modifiers": modifiers, "windowsVirtualKeyCode": keys[name]}
		if len(name) == 1 {
			event["text"], event["windowsVirtualKeyCode"] = name, int(name[0])
		}
		if name == "Enter" {
			event["text"] = "\r"
		}
		p.command("Input.dispatchKeyEvent", event, nil)
		event["type"] = "keyUp"
		delete(event, "text")
		p.command("Input.dispatchKeyEvent", event, nil)
	}
}

// mouse sends a mouse event: mousePressed, mouseMoved, mouseReleased or mouseWheel.
func (p *page) mouse(kind string, x, y float64, more map[string]any) {
	p.t.Helper()
	event := map[string]any{"type": kind, "x": x, "y": y, "button": "none"}
	if kind == "mousePressed" || kind == "mouseReleased" {
		event["button"], event["clickCount"] = "left", 1
	}
	for k, v := range more {
		event[k] = v
	}
	p.command("Input.dispatchMouseEvent", event, nil)
}

// touch sends a touch event with the coordinates of the fingers: touchStart, touchMove or touchEnd.
func (p *page) touch(kind string, xy ...float64) {
	p.t.Helper()
	points := []map[string]any{}
	for i := 0; i < len(xy); i += 2 {
		points = append(points, map[string]any{"x": xy[i], "y": xy[i+1], "id": i / 2})
	}
	p.command("Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": points}, nil)
}

// screenshot writes a picture of the tab.
func (p *page) screenshot(name string) {
	p.t.Helper()
	var shot struct{ Data string }
	p.command("Page.captureScreenshot", map[string]any{"format": "png", "optimizeForSpeed": false}, &shot)
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(name, b, 0o666)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
