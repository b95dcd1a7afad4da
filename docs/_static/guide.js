// Embedded explorer pages take the guide's light or dark theme: it is part of their address.
(function () {
  const theme = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");

  function show(frame) {
    const address = new URL(frame.dataset.page, document.baseURI);
    const state = new URLSearchParams(frame.dataset.state || "");
    state.set("theme", theme());
    // The query makes the frame load again; what follows the # alone would not.
    address.search = "theme=" + theme();
    address.hash = state.toString();
    if (frame.src !== address.href) frame.src = address.href;
  }

  function showAll() {
    document.querySelectorAll("iframe[data-page]").forEach(show);
  }

  document.addEventListener("DOMContentLoaded", () => {
    showAll();
    new MutationObserver(showAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  });
})();
