// What plain widgets cannot do: the strip with its keys, the prompt editor, the busy state while the kernel is away.
// HTML that comes from the kernel is escaped there; everything else is set as text. Nothing is loaded from anywhere.

const DEBOUNCE = 250; // milliseconds after the last key before the kernel is asked for lint
const PATIENCE = 1500; // milliseconds without an answer before the kernel is called busy

const ITEM = "[data-step][tabindex]"; // a step of the strip, or an input of a comparison

const KEYS = [
  ["← →", "select the step before or after (in the strip)"],
  ["Home, End", "select the first or last step (in the strip)"],
  ["1 … 7", "open a tab"],
  ["[ ]", "turn the page"],
  ["e", "edit the prompt; Escape leaves the editor"],
  ["s", "step"],
  ["r", "run from here"],
  ["t", "try the edit on one step"],
  ["a", "accept the edit"],
  ["w", "rewind to before the selected step"],
  ["g", "run to the end"],
  ["u", "undo"],
  ["c", "cancel the run"],
  ["?", "show or hide this list"],
];
const GRID_KEYS = [
  ["↑ ↓", "select the input before or after"],
  ["Home, End", "select the first or last input of the page"],
  ["[ ]", "turn the page"],
  ["?", "show or hide this list"],
];
const PRESSES = {
  s: "step", r: "run_from_here", t: "try_edit", a: "accept_edit", w: "rewind", g: "run_to_end", u: "undo", c: "cancel",
  "[": "back", "]": "on",
};

function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

/** Call `use` with the explorer's box once `el` is in it. */
function whenInExplorer(el, use) {
  const root = el.closest(".adknb-explorer");
  if (root) use(root);
  else if (!el.dataset.gone) requestAnimationFrame(() => whenInExplorer(el, use));
}

const isText = (target) => target.matches("textarea, input, select, [contenteditable]");

function renderStrip({ model, el }) {
  const hides = element("style");
  const says = element("div", { class: "adknb-dim adknb-says-busy", role: "status", "aria-live": "polite" });
  const strip = element("div");
  const isStrip = model.get("kind") === "strip";
  const help = element("button", { class: "jupyter-button adknb-help-button", type: "button", "aria-expanded": "false" }, "Keys (?)");
  const keys = element("div", { class: "adknb-keys", hidden: "" });
  for (const [key, meaning] of isStrip ? KEYS : GRID_KEYS) keys.append(element("kbd", {}, key), element("span", {}, meaning));
  el.append(hides, strip, says, help, keys);
  let root = null;
  let waiting = 0;

  const toggleHelp = () => {
    keys.toggleAttribute("hidden");
    help.setAttribute("aria-expanded", String(!keys.hasAttribute("hidden")));
  };
  help.addEventListener("click", (event) => { event.stopPropagation(); toggleHelp(); });

  const idle = () => {
    clearTimeout(waiting);
    waiting = 0;
    const running = model.get("data").running;
    root?.setAttribute("aria-busy", String(Boolean(running)));
    says.textContent = running ? "A run is going on …" : "";
  };
  const busy = () => {
    root?.setAttribute("aria-busy", "true");
    if (waiting) return;
    waiting = setTimeout(() => {
      says.textContent = "The kernel is busy with a cell: this is done when it is free.";
    }, PATIENCE);
  };
  const select = (name) => { busy(); model.send({ what: "select", value: name }); };

  const draw = () => {
    const hadFocus = strip.contains(document.activeElement);
    strip.innerHTML = model.get("html");
    const chosen = strip.querySelector('[aria-selected="true"], [aria-pressed="true"]') ?? strip.querySelector(ITEM);
    chosen?.setAttribute("tabindex", "0");
    if (hadFocus) chosen?.focus({ preventScroll: true });
    const list = strip.querySelector(".adknb-strip");
    if (chosen && list) list.scrollLeft = Math.max(0, chosen.offsetLeft + chosen.offsetWidth - list.clientWidth);
  };
  const drawTwin = () => {
    if (!model.get("data").twin) return;
    const twin = `.adknb-twin[data-explorer="${Number(model.get("data").twin)}"]`;
    hides.textContent = `${twin} { display: none } .jp-OutputArea-child:has(${twin}) { display: none }`;
  };

  strip.addEventListener("click", (event) => {
    const option = event.target.closest(ITEM);
    if (option) { option.focus({ preventScroll: true }); select(option.dataset.step); }
  });

  const move = (event) => {
    const options = [...strip.querySelectorAll(ITEM)];
    const here = options.indexOf(event.target.closest(ITEM));
    if (here < 0) return false;
    const places = { ArrowLeft: here - 1, ArrowUp: here - 1, ArrowRight: here + 1, ArrowDown: here + 1, Home: 0, End: options.length - 1 };
    if (!(event.key in places)) {
      if (event.key !== "Enter" && event.key !== " ") return false;
      select(options[here].dataset.step);
      return true;
    }
    const next = options[Math.min(Math.max(places[event.key], 0), options.length - 1)];
    for (const option of options) option.setAttribute("tabindex", option === next ? "0" : "-1");
    next.focus();
    if (next !== options[here]) select(next.dataset.step);
    return true;
  };
  const press = (key) => {
    if (key === "?") return toggleHelp(), true;
    if (key === "e") {
      const editor = root.querySelector(".adknb-editor textarea");
      if (editor) editor.focus();
      else root.querySelector(".widget-toggle-buttons button")?.click();
      return true;
    }
    const tab = Number(key) >= 1 && root.querySelectorAll(".widget-toggle-buttons button")[Number(key) - 1];
    if (tab) return tab.click(), true;
    const name = PRESSES[key];
    const button = name && root.querySelector(`.adknb-do-${name}`);
    if (button && !button.disabled) button.click();
    return Boolean(button);
  };
  // Keys with Ctrl, Alt or Meta are the front end's. A plain key inside the explorer is the explorer's alone, whether it
  // means something or not: in JupyterLab's command mode x and d would cut the cell.
  const onKey = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.key === "Tab") return;
    if (event.shiftKey && event.key === "Enter") return;
    if (isText(event.target)) {
      if (event.key === "Escape") strip.querySelector('[tabindex="0"]')?.focus();
      event.stopPropagation();
      return;
    }
    if (move(event) || press(event.key)) event.preventDefault();
    if (event.key !== "Escape") event.stopPropagation();
  };
  const onClick = (event) => { if (event.target.closest("button:not(.adknb-help-button)")) busy(); };

  model.on("change:html", draw);
  model.on("change:beat", idle);
  model.on("change:data", drawTwin);
  draw();
  drawTwin();
  whenInExplorer(el, (found) => {
    root = found;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "Explorer");
    root.addEventListener("keydown", onKey);
    root.addEventListener("click", onClick);
    root.addEventListener("change", busy);
    idle();
  });
  return () => {
    el.dataset.gone = "1";
    clearTimeout(waiting);
    model.off("change:html", draw);
    model.off("change:beat", idle);
    model.off("change:data", drawTwin);
    root?.removeEventListener("keydown", onKey);
    root?.removeEventListener("click", onClick);
    root?.removeEventListener("change", busy);
  };
}

function renderEditor({ model, el }) {
  const label = element("div", { class: "adknb-label" });
  const box = element("div", { class: "adknb-editor" });
  const marks = element("div", { "aria-hidden": "true" });
  const text = element("textarea", { spellcheck: "false", rows: "4" });
  const findings = element("ul", { class: "adknb-findings", "aria-live": "polite" });
  const discard = element("button", { class: "jupyter-button adknb-do-discard", type: "button" }, "Discard edit");
  box.append(marks, text);
  el.append(label, box, findings, discard);
  let agent = null;
  let timer = 0;
  let sent = null; // what the kernel has not answered yet
  let root = null;

  const mark = (stretches) => {
    marks.replaceChildren();
    for (const [words, kind] of stretches) {
      marks.append(kind === "text" ? document.createTextNode(words) : element("mark", { class: `adknb-m-${kind}` }, words));
    }
    marks.append(document.createTextNode("\u200b\n"));
  };
  const send = () => {
    clearTimeout(timer);
    timer = 0;
    sent = text.value;
    model.send({ what: "edit", value: sent });
  };
  const flush = (event) => { if (timer && event.target !== text) send(); };

  const draw = () => {
    const data = model.get("data");
    el.hidden = !data.agent;
    if (!data.agent) { agent = null; return; }
    if (data.agent !== agent) {
      clearTimeout(timer);
      timer = 0;
      sent = null;
      agent = data.agent;
      text.value = data.text;
    }
    if (data.text === sent) sent = null;
    if (!timer && sent === null && text.value !== data.text) text.value = data.text;
    label.textContent = `Prompt of ${agent}, ${data.edited ? "edited here" : "as it is written"}`;
    text.setAttribute("aria-label", `Prompt of ${agent}`);
    discard.hidden = !data.edited;
    if (data.text !== text.value) return; // typed on since: the next answer fits
    mark(data.stretches);
    findings.replaceChildren();
    for (const each of data.findings) {
      const where = each.line === null ? "" : `line ${each.line}: `;
      findings.append(element("li", { "data-severity": each.severity }, `${each.severity}: ${where}${each.message} ${each.fix}`));
    }
    if (data.error) findings.append(element("li", { "data-severity": "error" }, data.error));
  };

  text.addEventListener("input", () => {
    mark([[text.value, "text"]]);
    clearTimeout(timer);
    timer = setTimeout(send, DEBOUNCE);
  });
  text.addEventListener("change", (event) => event.stopPropagation());
  discard.addEventListener("click", () => {
    clearTimeout(timer);
    timer = 0;
    model.send({ what: "discard" });
  });
  model.on("change:data", draw);
  draw();
  whenInExplorer(el, (found) => {
    root = found;
    root.addEventListener("click", flush, true);
    root.addEventListener("keydown", flush, true);
  });
  return () => {
    el.dataset.gone = "1";
    clearTimeout(timer);
    model.off("change:data", draw);
    root?.removeEventListener("click", flush, true);
    root?.removeEventListener("keydown", flush, true);
  };
}

export default {
  render(context) {
    return context.model.get("kind") === "editor" ? renderEditor(context) : renderStrip(context);
  },
};
