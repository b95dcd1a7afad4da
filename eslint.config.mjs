// Rules for the explorer's scripts; `make lint` runs them where npm is installed.
const browser = [
  "AbortController", "Blob", "DecompressionStream", "ResizeObserver", "Response", "TextDecoder", "URL", "URLSearchParams", "addEventListener", "atob",
  "clearTimeout", "confirm", "document", "fetch", "getComputedStyle", "history", "location", "matchMedia", "navigator", "performance",
  "requestAnimationFrame", "setTimeout", "window",
];
const node = ["Buffer", "URL", "process"];
const known = (names) => Object.fromEntries(names.map((name) => [name, "readonly"]));

const rules = {
  "array-callback-return": "error", "constructor-super": "error", "default-case-last": "error", eqeqeq: "error", "for-direction": "error",
  "getter-return": "error", "max-lines": ["error", 400], "no-cond-assign": "error", "no-const-assign": "error", "no-constant-condition": "error",
  "no-dupe-args": "error", "no-dupe-class-members": "error", "no-dupe-else-if": "error", "no-dupe-keys": "error", "no-duplicate-case": "error",
  "no-duplicate-imports": "error", "no-empty": "error", "no-eval": "error", "no-ex-assign": "error", "no-fallthrough": "error",
  "no-func-assign": "error", "no-implied-eval": "error", "no-import-assign": "error", "no-inner-declarations": "error",
  "no-invalid-regexp": "error", "no-irregular-whitespace": "error", "no-loss-of-precision": "error", "no-redeclare": "error",
  "no-self-assign": "error", "no-self-compare": "error", "no-setter-return": "error", "no-sparse-arrays": "error", "no-template-curly-in-string": "error",
  "no-this-before-super": "error", "no-undef": "error", "no-unreachable": "error", "no-unsafe-finally": "error", "no-unsafe-negation": "error",
  "no-unused-vars": "error", "no-useless-escape": "error", "no-var": "error", "prefer-const": "error", "require-yield": "error",
  "use-isnan": "error", "valid-typeof": "error",
};

export default [
  { files: ["src/arbora/view/assets/*.js"], languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: known(browser) }, rules },
  { files: ["tests/view/js/*.js"], languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: known(node) }, rules },
];
