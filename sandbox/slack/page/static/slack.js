// Keeps the page fresh and sends what a person does. The server draws everything; nothing here makes HTML of a text.
"use strict";
const page = document.body.dataset;
const byId = (id) => document.getElementById(id);

// -- what is done ------------------------------------------------------------------------------------------------

function toast(message) {
  const note = document.createElement("p");
  note.textContent = message;
  byId("toasts").append(note);
  setTimeout(() => note.remove(), 6000);
}

async function deed(asked) {
  try {
    const response = await fetch(`${page.base}/do`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked),
    });
    const answer = await response.json();
    if (!answer.ok) toast(answer.message);
    return answer;
  } catch {
    toast("The workspace does not answer. Is it still running?");
    return { ok: false };
  }
}

function confirmed(element) {
  if (!element.dataset.confirm) return Promise.resolve(true);
  const asked = JSON.parse(element.dataset.confirm);
  const dialog = byId("confirm");
  dialog.querySelector("h2").textContent = asked.title.text;
  dialog.querySelector("p").textContent = asked.text.text;
  const [no, yes] = dialog.querySelectorAll("button");
  no.textContent = asked.deny.text;
  yes.textContent = asked.confirm.text;
  yes.className = `button ${asked.style || "primary"}`;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true }));
}

const placeOf = (element) => ({
  view: element.dataset.view || element.closest("[data-view]")?.dataset.view,
  message: element.closest("article")?.dataset.ts,
  action_id: element.dataset.action_id,
  block_id: element.dataset.block_id,
});

async function busy(element, work) {
  element.classList.add("busy");
  try {
    return await work();
  } finally {
    element.classList.remove("busy");
  }
}

document.addEventListener("click", async (event) => {
  for (const menu of document.querySelectorAll(".more[open], .you[open]")) if (!menu.contains(event.target) || event.target.closest(".menu button")) menu.open = false;
  const thread = event.target.closest("a[data-thread]");
  if (thread && !event.metaKey && !event.ctrlKey) {
    event.preventDefault();
    return openThread(thread.dataset.thread);
  }
  const command = event.target.closest("[data-command]");
  if (command) {
    const area = command.closest("form").elements.text;
    area.value = `${command.dataset.command} `;
    area.focus();
    return written(area);
  }
  const element = event.target.closest("[data-do]");
  if (!element) return;
  const { do: what, ...more } = element.dataset;
  if (what !== "press") return busy(element, () => deed({ do: what, ...more })).then(refresh);
  if (element.tagName === "A" && element.getAttribute("href") === "#") event.preventDefault();
  if (await confirmed(element)) busy(element, () => deed({ do: "press", ...placeOf(element) }));
});

// A long press on a phone is what the three dots are on a desktop.
document.addEventListener("contextmenu", (event) => {
  const menu = event.pointerType === "touch" && event.target.closest(".message")?.querySelector(".more");
  if (!menu) return;
  event.preventDefault();
  menu.open = true;
});

document.addEventListener("toggle", (event) => {
  if (!event.target.matches(".more[open]")) return;
  event.target.querySelector(".menu").scrollIntoView({ block: "nearest" });
}, true);

document.addEventListener("change", async (event) => {
  const field = event.target.closest("[data-field][data-live]");
  if (!field || field.classList.contains("external")) return;
  if (await confirmed(field)) busy(field, () => deed({ do: "select", ...placeOf(field), value: valueOf(field) }));
});

function valueOf(field) {
  if (field.classList.contains("external")) return field.dataset.value || null;
  if (field.classList.contains("ticks")) {
    const ticked = [...field.querySelectorAll("input:checked")].map((one) => one.value);
    return field.querySelector("[type=radio]") ? ticked[0] || null : ticked;
  }
  if (field.multiple) return [...field.selectedOptions].map((one) => one.value);
  return field.value || null;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  event.preventDefault();
  if (form.classList.contains("composer")) return send(form);
  const values = {};
  for (const field of form.querySelectorAll(".input [data-field]")) {
    (values[field.dataset.block_id] ||= {})[field.dataset.action_id] = valueOf(field);
  }
  busy(form, () => deed({ do: "submit", values })).then(refresh);
});

// -- the composer ------------------------------------------------------------------------------------------------

async function send(form) {
  const area = form.elements.text;
  const text = area.value.trim();
  if (!text) return;
  area.value = "";
  written(area);
  const asked = { do: "send", text, channel: page.channel };
  if (form.dataset.where === "thread") asked.thread_ts = page.thread;
  const answer = await deed(asked);
  if (!answer.ok && !area.value) {
    area.value = text;
    written(area);
  }
}

function written(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
  const form = area.form;
  form.querySelector(".send").disabled = !area.value.trim();
  const commands = form.querySelector(".commands");
  if (!commands) return;
  let any = false;
  for (const item of commands.children) {
    const word = item.firstElementChild.dataset.command;
    item.hidden = !(area.value && word.startsWith(area.value));
    any ||= !item.hidden;
  }
  commands.hidden = !any || area.value === "";
}

document.addEventListener("input", (event) => {
  if (event.target.closest(".composer")) return written(event.target);
  const external = event.target.closest(".external");
  if (external) suggest(external);
});

document.addEventListener("keydown", (event) => {
  const area = event.target.closest(".composer textarea");
  if (area && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    return area.form.requestSubmit();
  }
  const external = event.target.closest(".external");
  if (external) return walk(external, event);
  if (event.key === "Escape") {
    const menu = document.querySelector(".more[open]");
    if (menu) {
      menu.open = false;
      return menu.querySelector("summary").focus();
    }
    if (byId("veil")) return deed({ do: "close" }).then(refresh);
    if (page.thread && !area?.value) openThread("");
  }
});

// -- external menus ----------------------------------------------------------------------------------------------

let asking = 0;

async function suggest(external) {
  const input = external.querySelector("input");
  const list = external.querySelector("ul");
  const query = input.value;
  if (query.length < Number(external.dataset.least)) {
    list.hidden = true;
    return;
  }
  const turn = ++asking;
  const answer = await deed({ do: "suggest", ...placeOf(external), query });
  if (turn !== asking) return;
  const options = answer.options || [];
  list.replaceChildren(...options.map((one) => option(one)), ...(options.length ? [] : [nothing(answer.ok)]));
  list.hidden = false;
  input.setAttribute("aria-expanded", "true");
}

function option(one) {
  const item = document.createElement("li");
  item.setAttribute("role", "option");
  item.dataset.value = one.value;
  item.textContent = one.text;
  return item;
}

function nothing(ok) {
  const item = document.createElement("li");
  item.className = "none";
  item.textContent = ok ? "No results" : "Result failed to load";
  return item;
}

async function pick(external, item) {
  external.querySelector("input").value = item.textContent;
  external.querySelector("ul").hidden = true;
  external.dataset.value = item.dataset.value;
  if ("live" in external.dataset && (await confirmed(external))) {
    busy(external, () => deed({ do: "select", ...placeOf(external), value: item.dataset.value }));
  }
}

function walk(external, event) {
  const items = [...external.querySelectorAll("li[data-value]")];
  const at = items.findIndex((one) => one.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    items[at]?.removeAttribute("aria-selected");
    items[(at + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length]?.setAttribute("aria-selected", "true");
  } else if (event.key === "Enter") {
    event.preventDefault();
    const item = items[at] || (items.length === 1 ? items[0] : null);
    if (item) pick(external, item);
  } else if (event.key === "Escape") {
    event.stopPropagation();
    external.querySelector("ul").hidden = true;
  }
}

document.addEventListener("focusin", (event) => {
  const external = event.target.closest(".external");
  if (external) suggest(external);
  for (const list of document.querySelectorAll(".external ul")) if (list.parentElement !== external) list.hidden = true;
});

document.addEventListener("mousedown", (event) => {
  const item = event.target.closest(".external li[data-value]");
  if (item) {
    event.preventDefault();
    pick(item.closest(".external"), item);
  }
});

// -- fresh parts -------------------------------------------------------------------------------------------------

function inert(html) {
  // A template's content runs nothing and loads nothing before it is put into the page.
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// What has an id and a version is replaced when the version changed; the rest stays as it is, and so does what was typed in it.
function patch(region, fresh) {
  const wanted = [...fresh.children];
  const keep = new Set(wanted.map((one) => one.id));
  for (const old of [...region.children]) if (!old.id || !keep.has(old.id)) old.remove();
  let before = null;
  for (const one of wanted) {
    const old = one.id && [...region.children].find((child) => child.id === one.id);
    if (old && old.dataset.version === one.dataset.version && old.dataset.version !== undefined) {
      before = old;
      continue;
    }
    if (old) old.replaceWith(one);
    else if (before) before.after(one);
    else region.prepend(one);
    before = one;
  }
}

function refill(region) {
  const kept = new Map();
  for (const field of region.querySelectorAll("[data-field]")) kept.set(`${field.dataset.block_id}/${field.dataset.action_id}`, field);
  return () => {
    for (const field of region.querySelectorAll("[data-field]")) {
      const old = kept.get(`${field.dataset.block_id}/${field.dataset.action_id}`);
      if (!old || old === field || old.tagName !== field.tagName) continue;
      if ("value" in field && !field.multiple && old.value) field.value = old.value;
      if (field.classList.contains("external")) {
        field.dataset.value = old.dataset.value;
        field.querySelector("input").value = old.querySelector("input").value;
      }
    }
  };
}

const shown = {};

function replace(id, html) {
  if (shown[id] !== html) byId(id).replaceChildren(inert(html));
  shown[id] = html;
}

const atEnd = (region) => region.scrollHeight - region.scrollTop - region.clientHeight < 80;
let running = false;
let again = false;

async function refresh() {
  if (running) {
    again = true;
    return;
  }
  running = true;
  try {
    const query = new URLSearchParams();
    if (page.channel) query.set("channel", page.channel);
    if (page.home) query.set("home", "1");
    if (page.thread) query.set("thread", page.thread);
    if (document.visibilityState === "visible") query.set("seen", "1");
    // While the server is away nothing is fresh; the stream of changes comes back with it, and this is tried again.
    const response = await fetch(`${page.base}/parts?${query}`).catch(() => null);
    if (!response?.ok) return;
    const parts = await response.json();
    for (const id of ["main", "thread"]) {
      const region = byId(id);
      const stick = atEnd(region);
      patch(region, inert(parts[id]));
      if (stick && !page.home) region.scrollTop = region.scrollHeight;
    }
    const modal = byId("modal");
    const put = refill(modal);
    const was = byId("veil")?.dataset.version;
    patch(modal, inert(parts.modal));
    put();
    const form = modal.querySelector("form");
    if (form && byId("veil").dataset.version !== was) (form.querySelector(".wrong .field") ?? form.querySelector(".field, button[type=submit]"))?.focus();
    if (!document.querySelector(".you[open]")) replace("side", parts.side);
    replace("head", parts.head);
  } finally {
    running = false;
    if (again) {
      again = false;
      refresh();
    }
  }
}

async function openThread(ts) {
  page.thread = ts;
  document.body.classList.toggle("in-thread", Boolean(ts));
  history.replaceState(null, "", ts ? `${page.place}?thread=${ts}` : page.place);
  byId("thread").replaceChildren();
  await refresh();
  if (ts) document.querySelector('.composer[data-where="thread"] textarea')?.focus();
}

// -- beginning ---------------------------------------------------------------------------------------------------

const theme = localStorage.getItem("theme");
if (theme && !new URLSearchParams(location.search).has("theme")) document.documentElement.dataset.theme = theme;
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});
for (const id of ["main", "thread"]) if (!page.home) byId(id).scrollTop = byId(id).scrollHeight;
document.addEventListener("visibilitychange", refresh);
new EventSource(`${page.base}/changes`).onmessage = refresh;
if (matchMedia("(min-width: 761px)").matches) document.querySelector(".composer textarea")?.focus();
