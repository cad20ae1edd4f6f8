// An editor by the protocol's own SDK, which checks each message against its
// schema: asks the questions it is given, answers permissions with the option
// it is given, and prints what it was told as one line of JSON.
// node editor.mjs SDK CWD OPTION PROGRAM ARG… -- QUESTION…
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

const [sdk, cwd, option, program, ...rest] = process.argv.slice(2);
const cut = rest.indexOf("--");
const acp = await import(sdk);
const agent = spawn(program, rest.slice(0, cut), { stdio: ["pipe", "pipe", "inherit"] });
const told = { updates: [], asked: [], stops: [] };

const editor = acp
  .client({ name: "test-editor" })
  .onNotification(acp.methods.client.session.update, ({ params }) => { told.updates.push(params.update); })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    told.asked.push(params);
    return { outcome: { outcome: "selected", optionId: option } };
  });

await editor.connectWith(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (ctx) => {
  const methods = acp.methods.agent;
  told.initialized = await ctx.request(methods.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
  const session = await ctx.request(methods.session.new, { cwd, mcpServers: [] });
  told.options = session.configOptions;
  await ctx.request(methods.session.setMode, { sessionId: session.sessionId, modeId: "plan" });
  for (const question of rest.slice(cut + 1)) {
    const answer = await ctx.request(methods.session.prompt, { sessionId: session.sessionId, prompt: [{ type: "text", text: question }] });
    told.stops.push(answer.stopReason);
  }
  told.listed = await ctx.request(methods.session.list, {});
  told.loadedFrom = told.updates.length;
  await ctx.request(methods.session.load, { sessionId: session.sessionId, cwd, mcpServers: [] });
});
console.log(JSON.stringify(told));
agent.kill();
