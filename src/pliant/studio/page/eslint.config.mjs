import tseslint from "typescript-eslint";

export default tseslint.config(...tseslint.configs.strict, {
  ignores: ["node_modules/**"],
  rules: {
    "@typescript-eslint/no-non-null-assertion": "off",
    eqeqeq: "error",
    "prefer-const": "error",
    "no-console": "error",
  },
});
