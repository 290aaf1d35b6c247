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
