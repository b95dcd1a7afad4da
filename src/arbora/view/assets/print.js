// On paper: light colors, the picture in its own proportions.
export function preparePrint(app, signal) {
  let theme = null;
  addEventListener("beforeprint", () => {
    theme = app.theme;
    if (theme === "dark") app.setTheme("light");
    app.stage.paint();
  }, { signal });
  addEventListener("afterprint", () => {
    if (theme === "dark") app.setTheme("dark");
    theme = null;
  }, { signal });
}
