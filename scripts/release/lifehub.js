#!/usr/bin/env node
// Starts the binary of this system, which npm installed with this package.
const { spawn } = require("node:child_process")
const { signals } = require("node:os").constants
const system = `lifehub-${process.platform}-${process.arch}`
let binary
try {
  binary = require.resolve(`${system}/lifehub${process.platform === "win32" ? ".exe" : ""}`)
} catch {
  console.error(`lifehub: the package ${system} is missing: install without --omit=optional, or build from source`)
  process.exit(1)
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" })
process.on("SIGINT", () => {}) // the terminal sends it to the binary as well, which decides
process.on("SIGTERM", () => child.kill("SIGTERM"))
child.on("error", (err) => { console.error(`lifehub: ${binary}: ${err.message}`); process.exit(1) })
child.on("exit", (code, signal) => process.exit(code ?? 128 + signals[signal]))
