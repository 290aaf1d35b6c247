// Copy buttons. Without this script there are none, and the text can be selected as any other.

async function copy(source) {
  const text = source.textContent;
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    // Plain http on another machine: browsers give no clipboard there, so the text is selected instead.
    getSelection().selectAllChildren(source);
    return "Selected";
  }
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const label = button.textContent;
  button.hidden = !source;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    button.textContent = await copy(source);
    setTimeout(() => (button.textContent = label), 2000);
  });
}
