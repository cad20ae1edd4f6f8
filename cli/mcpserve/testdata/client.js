// Uses a server of notes as a program does that is built on the TypeScript SDK:
//   node client.js SDK_FOLDER NOTES_FOLDER COMMAND ARGUMENT…
// It prints what it got as one JSON object.
const path = require("node:path"), fs = require("node:fs")
const [sdk, notes, command, ...args] = process.argv.slice(2)
const load = (file) => require(path.join(sdk, "dist", "cjs", file))
const { Client } = load("client/index.js"), { StdioClientTransport } = load("client/stdio.js"), types = load("types.js")

async function main() {
  const client = new Client({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } })
  const asked = [], got = {}
  client.setRequestHandler(types.ElicitRequestSchema, async (request) => {
    asked.push(request.params.message)
    return { action: "accept", content: { allow: true } }
  })
  const changed = new Promise((resolve) => client.setNotificationHandler(types.ResourceListChangedNotificationSchema, () => resolve("yes")))
  await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }))
  got.tools = (await client.listTools()).tools.map((t) => t.name)
  const found = await client.callTool({ name: "search_notes", arguments: { query: "how often do I run?" } }) // validated against the schema
  got.found = found.structuredContent.passages[0]
  got.checked = (await client.callTool({ name: "check_citations", arguments: { text: `“${"The Brisk Lane have 431 km."}” [shoes.md:3]` } })).structuredContent.verdicts
  got.added = (await client.callTool({ name: "add_task", arguments: { text: "buy laces" } })).content[0].text
  got.asked = asked
  got.resources = (await client.listResources()).resources.map((r) => r.uri)
  got.templates = (await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate)
  got.read = (await client.readResource({ uri: "note:///running/plan.md" })).contents[0].text
  got.completed = (await client.complete({ ref: { type: "ref/resource", uri: got.templates[0] }, argument: { name: "path", value: "sho" } })).completion.values
  got.prompts = (await client.listPrompts()).prompts.map((p) => p.name)
  got.prompt = (await client.getPrompt({ name: "answer_with_quotations", arguments: { question: "How far?" } })).messages[0].content.text
  const stop = new AbortController()
  const cancelled = client.callTool({ name: "list_notes", arguments: {} }, undefined, { signal: stop.signal }).then(() => "answered", () => "cancelled")
  stop.abort()
  got.cancelled = await cancelled
  fs.writeFileSync(path.join(notes, "more.md"), "# More\n")
  got.changed = await changed
  await client.close()
  console.log(JSON.stringify(got))
}
main().catch((err) => { console.error(err); process.exit(1) })
