"use strict";
// The page shows what the server sends as text, only by textContent, so that nothing in it is markup.

const find = (id) => document.getElementById(id);
const main = find("turns"), text = find("text");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const status = (words) => {
  const asks = document.querySelector(".ask");
  find("status").textContent = words || (asks ? "waiting for you" : "");
  document.title = asks ? "● LifeHub" : "LifeHub";
};

// make returns an element with a class, and text or elements in it.
function make(name, kind, ...inside) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...inside);
  return made;
}

const turnPath = (turn, what) => `/api/turns/${encodeURIComponent(turn)}/${what}`;

// ask sends a request; a body makes it a POST. It throws an error with the server's words.
async function ask(path, body, headers = {}) {
  headers["LifeHub-Key"] = localStorage.getItem("key") ?? "";
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
  if (answer.ok) return answer;
  throw Object.assign(new Error((await answer.text()).trim()), { status: answer.status });
}

// enter exchanges the token of the link, which then leaves the address.
async function enter() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  try {
    localStorage.setItem("key", (await (await ask("/api/session", { token })).json()).key);
  } catch (refused) {
    if (!localStorage.getItem("key")) throw refused; // else the link was opened again
  }
}

// inline adds a line of Markdown to an element: bold, code and citations.
function inline(to, line) {
  for (const part of line.split(/(\*\*[^*]+\*\*|`[^`]+`|\[\d+(?:, ?\d+)*\])/)) {
    if (/^\*\*.+\*\*$/.test(part)) to.append(make("strong", "", part.slice(2, -2)));
    else if (/^`.+`$/.test(part)) to.append(make("code", "", part.slice(1, -1)));
    else if (/^\[\d/.test(part)) to.append(make("span", "cite", part));
    else to.append(part);
  }
  return to;
}

// markdown shows the blocks of an answer. Links and images stay text.
function markdown(to, answer) {
  to.replaceChildren();
  let block = null, kind = "";
  for (const line of answer.split("\n")) {
    const fence = /^\s*(```|~~~)/.test(line), heading = /^#{1,6}\s+(.*)/.exec(line);
    const item = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)/.exec(line);
    if (kind === "pre") {
      if (fence) kind = "";
      else block.textContent += line + "\n";
    } else if (fence || line.startsWith("|")) {
      if (fence || kind !== "table") to.append(block = make("pre", ""));
      kind = fence ? "pre" : "table";
      if (!fence) block.textContent += line + "\n";
    } else if (item) {
      const list = item[1] ? "ol" : "ul";
      if (kind !== list) to.append(block = make(list, ""));
      kind = list;
      const entry = inline(make("li", ""), item[2]);
      if (item[1]) entry.value = Number(item[1]);
      block.append(entry);
    } else if (heading) {
      to.append(inline(make("h2", ""), heading[1]));
      kind = "";
    } else if (line.trim() === "") {
      if (kind !== "ol" && kind !== "ul") kind = "";
    } else {
      const quoted = /^>\s?(.*)/.exec(line), now = quoted ? "blockquote" : "p";
      if (kind !== now) to.append(block = make(now, ""));
      else block.append(make("br", ""));
      kind = now;
      inline(block, quoted ? quoted[1] : line);
    }
  }
}

// listed returns a list of lines, with verdicts in their colours.
function listed(kind, lines) {
  return make("ul", kind, ...lines.map((line) => {
    const verdict = /[✓✗].*$/.exec(line);
    if (!verdict) return make("li", "", line);
    const kind = verdict[0].startsWith("✓") ? "good" : "bad";
    return make("li", "", line.slice(0, verdict.index), make("span", kind, verdict[0]));
  }));
}

// Turn is a turn on the page. All of what it is given is what the server calls shown.
class Turn {
  constructor(id) {
    this.id = id;
    this.answer = "";
    this.asks = new Map();
    this.steps = make("ul", "lines");
    this.doing = make("summary", "");
    this.parts = {
      question: make("div", "question"),
      steps: make("details", "steps", this.doing, this.steps),
      answer: make("div", "answer"),
      after: make("div", ""),
    };
    this.root = make("section", "turn", ...Object.values(this.parts));
    this.parts.question.hidden = this.parts.steps.hidden = true;
  }

  show(shown, over) {
    if (shown.question) { this.parts.question.textContent = shown.question; this.parts.question.hidden = false; }
    if (shown.lines && !over) {
      this.steps.append(...listed("", shown.lines).children);
      this.doing.textContent = shown.lines.at(-1);
      this.parts.steps.hidden = false;
    }
    if (shown.answer !== undefined) this.answer = shown.answer;
    if (shown.text) this.answer += shown.text;
    if ((shown.text || shown.answer !== undefined) && !this.drawing) {
      this.drawing = requestAnimationFrame(() => {
        this.drawing = 0;
        atEnd(() => markdown(this.parts.answer, this.answer));
      });
    }
    if (shown.sources) this.parts.after.append(listed("sources", shown.sources));
    if (shown.lines && over) this.parts.after.append(listed("lines", shown.lines));
    if (shown.failed) this.parts.after.append(make("p", "failed", shown.failed));
    if (shown.ask) this.question(shown.ask);
    if (shown.settled) this.settle(shown.settled);
    if (over) for (const id of [...this.asks.keys()]) this.settle(id);
  }

  settle(id) {
    this.asks.get(id)?.remove();
    this.asks.delete(id);
    status("answering…");
  }

  // question shows a call, or a form, that waits for an answer.
  question(asked) {
    this.asks.get(asked.id)?.remove();
    const preview = make("div", "preview", ...asked.lines.map((line) => make("div", line.mark, line.text)));
    preview.tabIndex = 0;
    const inputs = (asked.fields ?? []).map((field) => {
      const input = make(field.options ? "select" : "input", "");
      if (field.options) input.append(...["", ...field.options].map((o) => new Option(o, o, false, o === field.value)));
      else input.value = field.value;
      const help = field.help ? ` (${field.help})` : "";
      return make("label", "", field.label + (field.required ? "*" : "") + help, input);
    });
    const why = make("input", "");
    const choices = make("div", "choices"), problem = make("p", "failed");
    const reply = async (decision) => {
      const reason = why.value;
      const values = inputs.map((label) => label.lastChild.value);
      try {
        await ask(turnPath(this.id, "resume"), { id: asked.id, hash: asked.hash ?? "", decision, reason, values });
      } catch (refused) {
        problem.textContent = refused.message;
      }
    };
    const buttons = asked.choices.map((choice, i) => {
      const button = make("button", i === 0 ? "first" : "", choice.label);
      button.onclick = () => reply(choice.decision);
      button.disabled = true;
      return choices.appendChild(button);
    });
    const hint = choices.appendChild(make("p", "hint"));
    const card = make("div", "ask", make("h2", "", asked.title), preview, ...inputs, choices, problem);
    if (asked.hash) {
      const more = choices.insertBefore(make("button", "", "Deny and say why…"), hint);
      more.onclick = () => {
        if (why.isConnected) return reply("no");
        more.textContent = "Deny";
        choices.before(make("label", "", "Why not? The model reads it.", why));
        why.focus();
      };
    }
    this.asks.set(asked.id, card);
    atEnd(() => this.root.append(card));
    status("");
    // A tap meant for something else answers nothing, and nothing is allowed before it was seen to its end.
    const arm = () => {
      const unread = preview.scrollHeight - preview.scrollTop - preview.clientHeight > 4;
      hint.textContent = unread ? "Scroll the text to its end to allow it." : "";
      asked.choices.forEach((choice, i) => { buttons[i].disabled = unread && choice.decision !== "no"; });
    };
    preview.onscroll = () => { if (armed) arm(); };
    let armed = false;
    setTimeout(() => { armed = true; arm(); }, 600);
  }
}

// atEnd changes the page, and keeps its end in view if it was.
function atEnd(change) {
  const there = main.scrollHeight - main.scrollTop - main.clientHeight < 80;
  change();
  if (there) main.scrollTop = main.scrollHeight;
}

const kept = new Map(); // turns that were followed to their end
let conversation = "";

// draw shows the saved turns of the conversation.
function draw(state) {
  if (state.conversation !== conversation) kept.clear();
  conversation = state.conversation;
  main.replaceChildren(...state.turns.map((saved) => {
    if (kept.has(saved.turn)) return kept.get(saved.turn).root;
    const turn = new Turn(saved.turn);
    turn.show(saved, true);
    if (saved.resume) {
      const button = make("button", "", "Continue this answer");
      button.onclick = () => post(turnPath(saved.turn, "resume"), {});
      turn.parts.after.append(button);
    }
    return turn.root;
  }));
  if (!state.turns.length && !state.running) main.append(make("p", "empty", "Nothing was said yet."));
  main.scrollTop = main.scrollHeight;
}

// follow shows a turn while it runs, and reads on where it was if the connection breaks.
async function follow(id) {
  const turn = new Turn(id);
  main.append(turn.root);
  main.scrollTop = main.scrollHeight;
  for (let last = "", over = false; !over;) {
    try {
      const stream = await ask(turnPath(id, "events"), undefined, last ? { "Last-Event-ID": last } : {});
      const reader = stream.body.pipeThrough(new TextDecoderStream()).getReader();
      status(turn.asks.size ? "" : "answering…");
      for (let held = ""; !over;) {
        const { value, done } = await reader.read();
        if (done) break;
        held += value;
        const blocks = held.split("\n\n");
        held = blocks.pop();
        for (const block of blocks) {
          const of = (name) => block.split("\n").find((line) => line.startsWith(name + ": "))?.slice(name.length + 2);
          over ||= of("event") === "over";
          last = of("id") ?? last;
          const event = JSON.parse(of("data") ?? "{}");
          const ended = event.type === "end" || event.type === "error";
          if (event.shown) turn.show(event.shown, ended);
          if (event.type === "end" && !event.interrupted) kept.set(id, turn);
        }
      }
    } catch (lost) {
      if (lost.status) throw lost; // the turn is over, or the page is shut out
      status("not reachable; trying again");
      await pause(2000);
    }
  }
}

async function run() {
  await enter();
  for (let seen = -1; ;) {
    try {
      const state = await (await ask(`/api/conversation?seen=${seen}`)).json();
      if (state.version !== seen) draw(state);
      seen = state.version;
      find("stop").hidden = !state.running;
      status("");
      if (state.running) status("answering…");
      if (state.running) await follow(state.running);
    } catch (lost) {
      if (lost.status === 401) throw lost;
      status(lost.status ? lost.message : "not reachable; trying again");
      seen = -1;
      await pause(2000);
    }
  }
}

// post sends something and says what the server refuses. It reports whether it was taken.
async function post(path, body) {
  try {
    await ask(path, body);
    return true;
  } catch (refused) {
    status(refused.status ? refused.message : "not reachable; it was not sent");
    return false;
  }
}

let pastes = [];

function drawPastes() {
  find("pastes").replaceChildren(...pastes.map((pasted, i) => {
    const lines = pasted.split("\n").length;
    const button = make("button", "", `paste ${i + 1} · ${lines} lines ×`);
    button.type = "button";
    button.setAttribute("aria-label", `remove paste ${i + 1}`);
    button.onclick = () => { pastes.splice(i, 1); drawPastes(); };
    return make("li", "", button);
  }));
}

function grow() {
  text.style.height = "auto";
  text.style.height = text.scrollHeight + 2 + "px";
}

text.oninput = grow;
// Several lines that are pasted are an attachment, for somebody else may have written them.
text.onpaste = (event) => {
  const pasted = event.clipboardData.getData("text").replace(/\r\n?/g, "\n").trimEnd();
  if (!pasted.includes("\n")) return;
  event.preventDefault();
  pastes.push(pasted);
  drawPastes();
};
text.onkeydown = (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || matchMedia("(pointer: coarse)").matches) return;
  event.preventDefault();
  find("composer").requestSubmit();
};
find("composer").onsubmit = async (event) => {
  event.preventDefault();
  const said = text.value, attached = pastes;
  if (!said.trim() && !attached.length) return;
  find("send").disabled = true;
  if (await post("/api/chat", { text: said, pasted: attached })) {
    text.value = "";
    pastes = [];
    drawPastes();
    grow();
    if (!find("stop").hidden) status("sent; it is answered next");
  }
  find("send").disabled = false;
};
find("stop").onclick = () => post(turnPath("running", "stop"), {});

addEventListener("hashchange", () => location.reload()); // another link was opened here

run().catch((shut) => {
  status("");
  main.replaceChildren(make("p", "empty", shut.message || "This page could not be opened."));
});
