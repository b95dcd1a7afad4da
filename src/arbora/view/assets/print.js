// On paper: light colors, the picture in its own proportions.
export function preparePrint(app) {
  let theme = null;
  addEventListener("beforeprint", () => {
    theme = app.theme;
    if (theme === "dark") app.setTheme("light");
    app.stage.paint();
  });
  addEventListener("afterprint", () => {
    if (theme === "dark") app.setTheme("dark");
    theme = null;
  });
}
