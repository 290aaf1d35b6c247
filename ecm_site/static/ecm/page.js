// Everything here is a shortcut: all pages work without it.

// Second key after `g`, as templates/components/keys.html lists them.
const paths = {
  o: "overview", s: "sessions", m: "compactions", x: "context", h: "cache", t: "tables", r: "sources",
  p: "policy", c: "connect", a: "alerts", e: "me",
};

function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
}

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (menu !== except) menu.open = false;
  }
}

// A call beyond the shown page of the table: ask for the page that holds it.
function showCall() {
  const match = /^#c(\d{1,9})$/.exec(location.hash);
  if (!match || document.getElementById(`c${match[1]}`) || !document.getElementById("calls")) return;
  const asked = new URLSearchParams(location.search);
  if (asked.get("at") === match[1]) return;
  location.replace(`?at=${match[1]}${location.hash}`);
}

// A part that refreshes itself keeps what the reader opened, scrolled and focused; htmx knows elements with an id alone.
const focusable = "a[href], summary, button, [tabindex]";
let kept = null;

document.addEventListener("htmx:beforeSwap", (event) => {
  const part = event.detail.target;
  if (!event.detail.shouldSwap || part.id !== "follow") return;
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const alike = [...part.querySelectorAll(focusable)].filter((one) => focused && name(one) === name(focused));
  kept = {
    open: new Map([...part.querySelectorAll("details[id]")].map((one) => [one.id, one.open])),
    scrolled: [...part.querySelectorAll("[role=region]")].map((one) => [one.getAttribute("aria-label"), one.scrollLeft]),
    name: focused && name(focused),
    at: alike.indexOf(focused),
  };
});

document.addEventListener("htmx:afterSettle", () => {
  const part = document.getElementById("follow");
  if (!kept || !part) return;
  for (const [id, open] of kept.open) {
    const one = document.getElementById(id);
    if (one) one.open = open;
  }
  for (const region of part.querySelectorAll("[role=region]")) {
    const before = kept.scrolled.find(([label]) => label === region.getAttribute("aria-label"));
    if (before) region.scrollLeft = before[1];
  }
  if (kept.name && !part.contains(document.activeElement)) {
    const alike = [...part.querySelectorAll(focusable)].filter((one) => name(one) === kept.name);
    (alike[kept.at] ?? alike[0])?.focus({ preventScroll: true });
  }
  kept = null;
});

function name(element) {
  return `${element.localName} ${element.getAttribute("href") ?? element.getAttribute("aria-label") ?? element.textContent}`;
}

let waitsForPage = false;

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus(null);
  if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    const field = document.querySelector("[data-focus-key='/']");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  } else if (event.key === "?") {
    document.getElementById("keys")?.togglePopover();
  } else if (waitsForPage && paths[event.key]) {
    document.querySelector(`[data-page='${paths[event.key]}']`)?.click();
  }
  waitsForPage = event.key === "g";
});

document.addEventListener("click", (event) => {
  closeMenus(event.target instanceof Element ? event.target.closest("details.menu") : null);
});

window.addEventListener("hashchange", showCall);
showCall();
