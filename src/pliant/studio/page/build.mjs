// Bundles the page: node build.mjs OUTPUT_FOLDER
import { build } from "esbuild";

await build({
  entryPoints: { studio: "src/main.ts" },
  outdir: process.argv[2] ?? "../static",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
});
