// Bundles the tests and runs them with node's own test runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const out = mkdtempSync(join(tmpdir(), "pliant-page-"));
const files = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
await build({ entryPoints: files.map((name) => `test/${name}`), outdir: out, bundle: true, platform: "node", format: "esm", outExtension: { ".js": ".mjs" } });
const made = files.map((name) => join(out, name.replace(/ts$/, "mjs")));
const done = spawnSync(process.execPath, ["--test", ...made], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exit(done.status ?? 1);
