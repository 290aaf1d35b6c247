// Shortcuts of the table's editor: each presses a button that is there for everybody.

const acts = { ArrowUp: "up", ArrowDown: "down", d: "copy", x: "off" };

function rows() {
  return [...document.querySelectorAll("details.rule > summary")];
}

function isTyping(target) {
  return target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
}

function step(row, by) {
  const all = rows();
  const next = row ? all[all.indexOf(row) + by] : all[by > 0 ? 0 : all.length - 1];
  next?.focus();
}

function press(row, act) {
  row.parentElement.querySelector(`button[value^="${act}:"]`)?.click();
}

function leave(target) {
  const rule = target.closest("details.rule");
  if (!rule) return;
  rule.open = false;
  rule.querySelector("summary").focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
  if (event.key === "Escape") return leave(event.target);
  if (isTyping(event.target)) return;
  const row = event.target.closest("details.rule")?.querySelector("summary");
  if (event.key === "j" || event.key === "k") {
    step(row, event.key === "j" ? 1 : -1);
  } else if (event.key === "s") {
    document.querySelector("#table button[value=save]").click();
  } else if (row && acts[event.key]) {
    press(row, acts[event.key]);
  } else {
    return;
  }
  event.preventDefault();
});

// Enter on a rule opens it by itself; the first field is where one goes on.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.matches("details.rule[open]")) return;
    if (document.activeElement?.parentElement === target) target.querySelector("input:not([type=hidden])")?.focus();
  },
  true,
);
