// js/theme.js -- light or dark, before the first paint.
//
// A plain script in the head, not a module: modules run after the first paint,
// and the page would flash.  A stored choice wins over the system's.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; /* storage may be off */
    }
  };
  const apply = () => {
    const t = stored();
    document.documentElement.dataset.theme = t === "light" || t === "dark" ? t : dark.matches ? "dark" : "light";
    dispatchEvent(new Event("themechange"));
  };
  apply();
  dark.addEventListener("change", apply);
  // Paper is white: charts and pictures are drawn light while the page is printed.
  let screen = "";
  addEventListener("beforeprint", () => {
    screen = document.documentElement.dataset.theme ?? "";
    document.documentElement.dataset.theme = "light";
    dispatchEvent(new Event("themechange"));
  });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = screen;
    dispatchEvent(new Event("themechange"));
  });
  addEventListener("storage", (e) => {
    if (e.key === "theme") apply();
  });
})();
